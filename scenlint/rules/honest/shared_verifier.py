"""The verifier runs where the agent has worked, with everything that the agent left there."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile
from scenlint.task.model import Isolation, Place


@rule(
    "shared-verifier",
    "SL415",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the harness starts the verifier in a container of its own whatever the task says",
)
def shared_verifier(task: Task) -> Iterator[Finding]:
    if task.verifier is None or task.verifier.isolation is not Isolation.SHARED:
        return
    root = _agent_is_root(task)
    who = "who is root there" if root else "whose user can still leave files behind"
    script = next((g.script or g.span for g in task.verifier.graders if g.script or g.span), None)
    where = script.source.lines(1) if script is not None else task.folder
    at = task.metadata.data.key_span("verifier") if task.metadata and task.metadata.data.get("verifier") else where
    yield Finding.at(
        at,
        f"the verifier runs in the agent's container after the agent, {who}",
        help="run it in a container of its own that gets the agent's artefacts only, where the format can",
        related=[related(where, "this runs there")] if at is not where and script is not None else [],
    )


def _agent_is_root(task: Task) -> bool:
    environment = task.environment
    if environment is None:
        return True
    if environment.user is not None and environment.user.value is not None:
        return str(environment.user.value) in ("root", "0")
    builds = [b for b in environment.builds if b.place is Place.AGENT]
    finals = [dockerfile.parse(b.fragment, b.arguments).final(b.target) for b in builds]
    return all(stage is None or (stage.user or "root") in ("root", "0") for stage in finals)

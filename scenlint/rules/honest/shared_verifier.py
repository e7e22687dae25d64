"""The verifier runs where the agent has worked, with everything that the agent left there."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.model import Isolation
from scenlint.task.users import agent_is_root


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
    root = agent_is_root(task)
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

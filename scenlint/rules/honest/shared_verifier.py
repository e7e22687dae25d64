"""The verifier runs where the agent has worked, with everything that the agent left there."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.text import Span
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
    place = task.environment
    if place is not None and not (place.builds or place.images or place.compose):
        said = "the verifier runs in the agent's working directory after the agent, which can leave files behind"
        help = "let nothing there decide: isolated interpreters (`python3 -I`), tools by absolute path, no links"
    else:
        who = "who is root there" if agent_is_root(task) else "whose user can still leave files behind"
        said = f"the verifier runs in the agent's container after the agent, {who}"
        help = "run it in a container of its own that gets the agent's artefacts only, where the format can"
    places = (g.script.first_line() if g.script else g.span for g in task.verifier.graders)
    where = next((place for place in places if place), task.folder)
    at = task.metadata.data.key_span("verifier") if task.metadata and task.metadata.data.get("verifier") else where
    runs = [related(where, "this runs there")] if at is not where and isinstance(where, Span) else []
    yield Finding.at(at, said, help=help, related=runs)

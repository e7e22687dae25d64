"""Two graders or checks that share a name, so that one hides the other."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.same_names import same_names


@rule(
    "duplicate-grader",
    "SL120",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="only one of the two is meant to count, or they never run in the same trial",
)
def duplicate_grader(task: Task) -> Iterator[Finding]:
    for same in same_names(task):
        yield Finding.at(
            same.second,
            f"`{same.name}` is there twice: {same.effect}",
            help="give each a name of its own, or remove the one that is too many",
            related=[related(same.first, "the first one")],
        )

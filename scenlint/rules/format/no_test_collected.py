"""A test file, class or function that the runner does not collect."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.checks.uncollected import uncollected


@rule(
    "no-test-collected",
    "SL119",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the runner's own `--collect-only` lists the test",
)
def no_test_collected(task: Task) -> Iterator[Finding]:
    for missed in uncollected(task):
        yield Finding.at(missed.span, missed.message, help=missed.help)

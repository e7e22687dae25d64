"""A suppression with no reason text."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule


@rule(
    "suppression-without-reason",
    "SL002",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="a reason stands behind the closing bracket",
    late=True,
)
def suppression_without_reason(task: Task) -> Iterator[Finding]:
    for suppression in task.suppressions:
        if not suppression.rules:
            yield Finding.at(
                suppression.span,
                "the suppression names no rule, so it suppresses nothing",
                help="write `scenlint: ignore[rule-name] reason`",
            )
        elif not suppression.reason:
            yield Finding.at(
                suppression.span,
                "the suppression gives no reason, so it suppresses nothing",
                help="say behind the bracket why the finding does not hold here",
            )

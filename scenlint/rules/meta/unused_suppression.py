"""A suppression that suppressed nothing."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule


@rule(
    "unused-suppression",
    "SL001",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="the suppressed rule reports something there when `--no-ignores` is given",
    late=True,
)
def unused_suppression(task: Task) -> Iterator[Finding]:
    for suppression in task.suppressions:
        if not suppression.reason:  # suppresses nothing by itself; suppression-without-reason says so
            continue
        for name, span in suppression.rules:
            # Nothing can be said of a rule that did not run.
            if name in task.judged_names and name not in suppression.used:
                yield Finding.at(
                    span,
                    f"nothing here is suppressed by `{name}`",
                    help=f"remove `{name}` from the comment, or the comment",
                )

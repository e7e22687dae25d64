"""A verdict that hinges on how long something took on the machine at hand."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, related, rule
from scenlint.task.durations import short_limits


@rule(
    "timing-assertion",
    "SL603",
    severity=Severity.WARNING,
    needs={Role.VERIFIER},
    refute="right work takes a small fraction of the bound on a busy machine too",
)
def timing_assertion(task: Task) -> Iterator[Finding]:
    for limit in short_limits(task):
        yield Finding.at(
            limit.span,
            f"the verdict hinges on a measured time below {limit.seconds:g} s: a busy machine fails right work",
            help="compare with a baseline measured in the same run, count operations instead, or leave a wide margin",
            related=[related(limit.measured, "the time is taken here")],
        )

"""A task's stated category that differs from the name of the folder above it."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source.edit import respelled


@rule(
    "category-mismatch",
    "SL105",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.METADATA},
    refute="the suite groups its tasks by something else than the folder they lie in",
    fix="unsafe",
)
def category_mismatch(task: Task) -> Iterator[Finding]:
    for claim in task.claims:
        if claim.name == "category" and claim.value != claim.expected:
            yield Finding.at(
                claim.span or task.folder,
                f"the category is `{claim.value}`, but the folder above the task is called `{claim.expected}`",
                help="move the task to its category's folder, or state the category that it lies in",
                fix=Fix.of(f"state `{claim.expected}`", respelled(claim.span, claim.value, claim.expected), safe=False),
            )

"""A task's stated id that differs from the name of its folder."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source.edit import respelled


@rule(
    "task-id-mismatch",
    "SL104",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.METADATA},
    refute="the harness files results under the folder's name, whatever the metadata state",
    fix="unsafe",
)
def task_id_mismatch(task: Task) -> Iterator[Finding]:
    for claim in task.claims:
        if claim.name == "id" and claim.value != claim.expected:
            yield Finding.at(
                claim.span or task.folder,
                f"the id is `{claim.value}`, but the folder is `{claim.expected}`; results are filed under the id",
                severity=None if claim.binding else Severity.WARNING,
                help="make the two equal; if the folder was copied from another task, check that all of it was changed",
                fix=Fix.of(f"state `{claim.expected}`", respelled(claim.span, claim.value, claim.expected), safe=False),
            )

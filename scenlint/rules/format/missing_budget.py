"""No time limit for the agent or the verifier, or one that the harness does not grant."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.text import Span
from scenlint.task.model import Limit


@rule(
    "missing-budget",
    "SL117",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BUDGET},
    refute="every run of the task is started with the same limit from elsewhere",
)
def missing_budget(task: Task) -> Iterator[Finding]:
    assert task.budget is not None
    unset = [limit for limit in task.budget.limits if limit.value.value is None]
    places = dict.fromkeys(limit.value.span for limit in unset)
    for place in places:
        yield _unset(task, place, [limit for limit in unset if limit.value.span == place])
    for limit in task.budget.limits:
        value = limit.value.value
        if limit.cap is not None and isinstance(value, int | float) and value > limit.cap:
            yield Finding.at(
                limit.value.span or task.folder,
                f"the {limit.name} is given {value:g} s, but the harness stops it after {limit.cap:g} s",
                help=f"set {limit.where} to {limit.cap:g} s or less, and make the {limit.name} meet it",
            )


def _unset(task: Task, place: Span | None, limits: list[Limit]) -> Finding:
    who = " and ".join(f"the {limit.name}" for limit in limits)
    where = " and ".join(limit.where for limit in limits)
    return Finding.at(
        place or (task.metadata.fragment.source if task.metadata else task.folder),
        f"nothing limits {who}, so every runner decides for itself and results cannot be compared",
        help=f"set {where}",
    )

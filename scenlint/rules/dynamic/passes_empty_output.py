"""Empty or meaningless results earn a reward."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.attacks import advice, broken, gained, told
from scenlint.task.record import TrialRecord


@trial_rule(
    "passes-empty-output",
    "SL707",
    refute="an empty result is what the brief asks for",
    deep=True,
)
def passes_empty_output(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    through = broken(task, records, "passes-empty-output")
    if not through:
        return
    first = through[0]
    others = [a.experiment.name for a in through[1:] if a.full == first.full]
    also = f"; so did {', '.join(f'`{name}`' for name in others)}" if others else ""
    yield Finding.at(
        trials.place(task, gained(records, first)),
        f"`{first.experiment.name}` earned {first.reward:g}: {told(first)}{also}",
        help=advice(first, "check what a result says, not that it is there, and let a result that cannot be read fail"),
        severity=Severity.ERROR if first.full else Severity.WARNING,
    )

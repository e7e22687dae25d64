"""Doing nothing earns the full reward."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "nop-passes",
    "SL702",
    refute="a trial of `nop` below 1.0 from the same image, untouched by any other trial",
)
def nop_passes(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    passing = [r for r in trials.graded(task, records, "nop") if r.reward == 1.0]
    if passing:
        first = passing[0]
        checks = [c for c in first.checks if c.passed]
        which = f": {trials.listed(checks)} passed" if checks else ""
        yield Finding.at(
            trials.entry(task),
            f"an agent that does nothing earns 1.0 ({trials.named(passing)}){which}",
            help="grade what only the asked-for work can bring about, and start from a state that does not meet it; "
            + trials.look(first),
        )

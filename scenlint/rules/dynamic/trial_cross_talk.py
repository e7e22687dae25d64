"""Two trials at the same time disturb each other."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, trial_rule
from scenlint.task import trials, worlds
from scenlint.task.record import TrialRecord


@trial_rule(
    "trial-cross-talk",
    "SL717",
    deep=True,
    refute="two trials at the same time that both get the usual verdict, on a machine with room for both",
)
def trial_cross_talk(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    usual = worlds.oracle(records)
    found = worlds.moved(task, records, "two-at-once")
    if found:
        first = found[0]
        yield Finding.at(
            trials.place(task, worlds.differing(usual, first)),
            f"beside a second trial of the task the oracle gets {worlds.told(first, usual)} ({trials.named(found)})",
            help="let each trial have its own names, ports, files and services; " + trials.look(first),
        )

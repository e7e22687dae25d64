"""What the agent was given, copied to the place of the result, earns a reward."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.attacks import advice, broken, gained, told
from scenlint.task.record import TrialRecord


@trial_rule(
    "passes-copied-input",
    "SL708",
    refute="a copy of the input is what the brief asks for",
    deep=True,
)
def passes_copied_input(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    for attack in broken(task, records, "passes-copied-input")[:1]:
        yield Finding.at(
            trials.place(task, gained(records, attack)),
            f"`{attack.experiment.name}` earned {attack.reward:g}: {told(attack)}",
            help=advice(attack, "compare the whole result with the expected one, and grade on inputs not shown before"),
            severity=Severity.ERROR if attack.full else Severity.WARNING,
        )

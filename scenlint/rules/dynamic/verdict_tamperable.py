"""The verdict can be changed without the work: planted files, forged lines, shims, or code that runs in the judge."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.attacks import advice, attacks, broken, told
from scenlint.task.record import ProbeOutcome, TrialRecord


@trial_rule(
    "verdict-tamperable",
    "SL709",
    refute="the brief allows what was done, or the agent cannot do it where the task is really run",
    deep=True,
)
def verdict_tamperable(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    name = "verdict-tamperable"
    for attack in broken(task, records, name):
        yield Finding.at(
            trials.entry(task),
            f"`{attack.experiment.name}` earned {attack.reward:g}: {told(attack)}",
            help=advice(attack, "grade in a container or process of its own that takes the agent's files as data"),
            severity=Severity.ERROR if attack.full else Severity.WARNING,
        )
    lost = [a for a in attacks(task, records, name) if a.experiment.outcome == ProbeOutcome.LAUNDERED]
    # Nobody leaves a named pipe by mistake, and who wants no verdict has simpler ways: the trial alone tells of it.
    lost = [a for a in lost if a.experiment.target != "pipe"]
    if lost:
        first = lost[0]
        others = list(dict.fromkeys(a.experiment.name for a in lost if a.experiment.name != first.experiment.name))
        also = f"; so did {', '.join(f'`{other}`' for other in others)}" if others else ""
        yield Finding.at(
            trials.entry(task),
            f"`{first.experiment.name}` turned a failure into no verdict: {first.experiment.did} "
            f"(trial `{first.record.id}`): {first.experiment.evidence}{also}",
            help=advice(first, "let whatever cannot be read, or takes too long, be a failed check"),
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )

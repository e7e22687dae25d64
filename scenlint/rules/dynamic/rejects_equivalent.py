"""Right work fails: a change that the brief leaves free costs the reward."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.task import mutation, trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "rejects-equivalent",
    "SL711",
    severity=Severity.WARNING,
    refute="the brief, or a standard that it names, settles what was changed",
    deep=True,
)
def rejects_equivalent(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    score = mutation.score(trials.experiments(task, records, "mutant"))
    seen = set()
    for record in score.rejected:
        made = record.experiment
        if made is None or (made.name, made.target) in seen:
            continue
        seen.add((made.name, made.target))
        failed = trials.wrong(record)
        earned = f"{record.reward:g}" if record.reward is not None else "nothing"
        yield Finding.at(
            trials.place(task, failed),
            f"a change that the brief leaves free earned {earned}: {made.did} ({made.reason}){trials.quote(record)}",
            help="state the rule in the brief, or compare what the file says and not how; " + trials.look(record),
        )

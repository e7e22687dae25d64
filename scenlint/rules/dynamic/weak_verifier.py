"""Wrong work passes: changes of the oracle's result that break the brief earn full marks."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.stats.intervals import wilson
from scenlint.task import mutation, trials
from scenlint.task.finding import At
from scenlint.task.mutation import BAR, CRUDE, Score
from scenlint.task.record import Experiment, TrialRecord

_SHOWN = 4  # survivors that a finding names


@trial_rule(
    "weak-verifier",
    "SL710",
    severity=Severity.WARNING,
    refute="the change leaves the work right: the brief does not ask for what was changed",
    deep=True,
)
def weak_verifier(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    score = mutation.score(trials.experiments(task, records, "mutant"))
    crude = [(r, made) for r, made in _made(score.survived) if made.name in CRUDE]
    for record, made in crude:
        yield Finding.at(
            _check(task, made),
            f"full marks for no work: {made.did}, and trial `{record.id}` still {_how(record)}",
            help="check what the file must hold, not that the solution once made it; " + trials.look(record),
            severity=Severity.ERROR,
        )
    files: dict[str, list[tuple[TrialRecord, Experiment]]] = {}
    for record, made in _made(score.survived):
        if made.name not in CRUDE:
            files.setdefault(made.target, []).append((record, made))
    for survivors in files.values():
        first, made = survivors[0]
        told = "; ".join(m.did for _, m in survivors[:_SHOWN])
        more = f" and {len(survivors) - _SHOWN} more" if len(survivors) > _SHOWN else ""
        yield Finding.at(
            _check(task, made),
            f"wrong work {_how(first)} ({told}{more}); {_rate(score)}",
            help=f"let a check fail on it ({made.reason}); " + trials.look(first),
        )


def _how(record: TrialRecord) -> str:
    if record.reward == 1.0:
        return "earned 1.0"
    return "counts as a pass in the format's own harness" + (f" with {record.reward:g}" if record.reward else "")


def _made(records: Sequence[TrialRecord]) -> list[tuple[TrialRecord, Experiment]]:
    return [(r, r.experiment) for r in records if r.experiment is not None]


def _check(task: Task, made: Experiment) -> At:
    """The check that should have seen it: the first that reads the file; the verifier's entry where none does."""
    name = PurePosixPath(made.target).name
    reading = [c for c in task.checks if any(PurePosixPath(a.path).name == name for a in c.accesses)]
    return trials.first_line(reading[0].span) if reading else trials.entry(task)


def _rate(score: Score) -> str:
    killed, tried = len(score.killed), len(score.killed) + len(score.survived)
    low, high = wilson(killed, tried)
    under = f", under the bar of {BAR:.0%}" if killed / tried < BAR else ""
    return f"noticed were {killed} of {tried} changes ({low:.0%} to {high:.0%} at 95 %){under}"

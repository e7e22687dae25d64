"""Points are earned while every service is dead, empty or answers with noise."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import TrialRecord

_NOISE = 0.5  # of the points: below that, a count that happens to be 7 may be meant


@trial_rule(
    "passes-dead-environment",
    "SL718",
    refute="the check is about something other than the services, and the agent's work brings it about",
    deep=True,
)
def passes_dead_environment(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    found = [r for r in trials.experiments(task, records, "environment") if _counts(r)]
    worst = next(iter(sorted(found, key=lambda r: not _passes(r))), None)
    if worst is None or worst.experiment is None:
        return
    whole = _passes(worst)
    earned = [c for c in worst.checks if c.passed]
    which = f": {trials.listed(earned)} passed" if earned else ""
    others = [r.experiment.name for r in found if r is not worst and r.experiment]
    also = f"; likewise where it was {' or '.join(others)}" if others else ""
    what = "passes" if whole else f"earns {_reward(worst):.2g} of 1.0"
    yield Finding.at(
        trials.place(task, earned),
        f"nothing was done and {worst.experiment.did}, and the task {what}{which} (trial `{worst.id}`){also}",
        help="let a check pass only on an answer that holds what the work brings about, and let it fail where "
        "there is no answer; " + trials.look(worst),
        severity=Severity.ERROR if whole else Severity.WARNING,
        confidence=Confidence.MEDIUM if worst.experiment.name == "noise" and not whole else Confidence.HIGH,
    )


def _counts(record: TrialRecord) -> bool:
    made = record.experiment
    return made is not None and made.outcome == "broken" and (made.name != "noise" or _reward(record) >= _NOISE)


def _reward(record: TrialRecord) -> float:
    return max(record.reward or 0.0, (record.harness and record.harness.reward) or 0.0)


def _passes(record: TrialRecord) -> bool:
    return _reward(record) == 1.0 or (record.harness is not None and record.harness.passed)

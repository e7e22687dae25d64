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
    shown = False
    for record in trials.experiments(task, records, "environment"):
        made = record.experiment
        assert made is not None
        reward = max(record.reward or 0.0, (record.harness and record.harness.reward) or 0.0)
        whole = reward == 1.0 or (record.harness is not None and record.harness.passed)
        if made.outcome != "broken" or (made.name == "noise" and reward < _NOISE and not whole):
            continue
        if shown and not whole:
            continue  # points that a dead environment earns already, once more
        shown = True
        earned = [c for c in record.checks if c.passed]
        which = f": {trials.listed(earned)} passed" if earned else ""
        what = "passes" if whole else f"earns {reward:.2g} of 1.0"
        yield Finding.at(
            trials.place(task, earned),
            f"nothing was done and {made.did}, and the task {what}{which} (trial `{record.id}`)",
            help="let a check pass only on an answer that holds what the work brings about, and let it fail where "
            "there is no answer; " + trials.look(record),
            severity=Severity.ERROR if whole else Severity.WARNING,
            confidence=Confidence.MEDIUM if made.name == "noise" and not whole else Confidence.HIGH,
        )

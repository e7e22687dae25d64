"""Nobody but the oracle ever solved the scenario: it is broken or beyond reach, and not calibrated."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.rulings.calibrations import decided
from scenlint.rulings.decision import Decided
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "never-solved",
    "SL803",
    severity=Severity.WARNING,
    refute="a trial of any agent, or of a person, that passes the task as it stands",
    calibration=True,
)
def never_solved(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    for one in decided(records):
        if one.decision.decided is Decided.NEVER_SOLVED:
            failures = [r.record for r in one.decision.rulings if r.outcome]
            yield Finding.at(
                trials.asked(task),
                f"nobody but the oracle ever solved it ({len(failures)} genuine failures of `{one.agent}`, no pass)",
                help="have a stronger agent or a person solve it once (`scenlint run`), or look for what cannot be "
                "known from the brief; " + trials.look(failures[-1]),
            )

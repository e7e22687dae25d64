"""Too many trials were excluded or cut off for a calibration to decide anything."""

from collections import Counter
from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.rulings.calibrations import decided
from scenlint.rulings.decision import Decided
from scenlint.task import trials
from scenlint.task.record import TrialRecord

_HELP = {
    Decided.INCONCLUSIVE: "put right what keeps trials from being valid, and calibrate once more with --force",
    Decided.BUDGET_BOUND: "raise the limits of time, cost or context, or shorten the task: now the budget is measured",
}


@trial_rule(
    "inconclusive",
    "SL805",
    severity=Severity.WARNING,
    refute="a calibration of this digest with the same agent that comes to a decision",
    calibration=True,
)
def inconclusive(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    for one in decided(records):
        if help_ := _HELP.get(one.decision.decided):
            left_out = [r for r in one.decision.rulings if r.outcome is None]
            classes = Counter(r.failure_class.value for r in left_out if r.failure_class)
            told = ", ".join(f"{n} {name}" for name, n in classes.most_common())
            yield Finding.at(
                trials.asked(task),
                f"the calibration with `{one.agent}` decides nothing: {one.decision.reason} (excluded: {told})",
                help=f"{help_}; {trials.look(left_out[-1].record)}",
            )

"""Stronger agents do worse on this scenario than weaker ones."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, NotAssessableError, Severity, Task, trial_rule
from scenlint.rulings.inversion import inversion
from scenlint.stats import NotEnoughError
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "inverse-discrimination",
    "SL804",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    refute="the agents rank otherwise on scenarios like this one, or more trials show no such difference",
    calibration=True,
)
def inverse_discrimination(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    try:
        found = inversion(records)
    except NotEnoughError as exc:
        raise NotAssessableError(str(exc)) from None
    if found is not None:
        yield Finding.at(
            trials.entry(task),
            f"stronger agents do worse: {found.told}; {found.strong}; {found.weak}",
            help="look at what the stronger agent does that the verifier does not expect: often it reads the brief "
            "more closely than the verifier does",
        )

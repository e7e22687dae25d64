"""The trials of one agent differ by more than the chance that its pass rate explains."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, NotAssessableError, Severity, Task, trial_rule
from scenlint.rulings.calibrations import rulings
from scenlint.rulings.consistency import irregular
from scenlint.stats import NotEnoughError
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "inconsistent-outcome",
    "SL806",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    refute="the agent, its model or its settings changed between the trials: then it is not one agent",
    calibration=True,
)
def inconsistent_outcome(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    short: list[str] = []
    ruled = rulings(records)
    for agent, own in ruled.items():
        try:
            told = irregular(own)
        except NotEnoughError as exc:
            short.append(str(exc))
            continue
        if told:
            yield Finding.at(
                trials.entry(task),
                f"the trials of `{agent}` are not independent of each other: {told}",
                help="look for what one trial leaves to the next (caches, shared services, one provider at one hour), "
                "and spread the trials over hosts and days; as they are, they count for fewer",
            )
    if len(short) == len(ruled):
        raise NotAssessableError(short[0] if short else "no trial of an agent was run")

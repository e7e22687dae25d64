"""2,000 synthetic tasks from recorded trials to a decision: they are accepted as often as the curve says."""

import random
from collections import Counter

import pytest

from scenlint.rulings.calibrations import KIND, attempts, decision_of
from scenlint.rulings.decision import Decided, wanted
from scenlint.stats.twostage import acceptance, expected_trials
from scenlint.task.record import CheckResult, Experiment, FailureClass, Phase, Status, TrialRecord

RATES = [n / 20 for n in range(21)]
TASKS = 96  # for each rate, so 2,016 in all
EXCLUDED = 0.05


def trial(number: int, stage: str, rate: float, chance: random.Random) -> TrialRecord:
    """One trial's record as the harness would leave it."""
    made = Experiment(KIND, stage, "1")
    if chance.random() < EXCLUDED:
        return TrialRecord(
            f"t-{number}", "task", "harbor", "agent", None, Status.NO_VERDICT, FailureClass.INFRASTRUCTURE,
            "build: infrastructure: no space", phases=[Phase("build")], attempt=number, experiment=made,
        )  # fmt: skip
    failed = chance.random() < rate
    return TrialRecord(
        f"t-{number}", "task", "harbor", "agent", 0.0 if failed else 1.0,
        Status.FAILED if failed else Status.PASSED, FailureClass.WRONG_ANSWER if failed else None,
        phases=[Phase("build"), Phase("agent"), Phase("verify")], checks=[CheckResult("total", not failed)],
        attempt=number, experiment=made,
    )  # fmt: skip


SOLVED = TrialRecord("w-1", "task", "harbor", "person", 1.0, Status.PASSED)  # it can be solved


def calibrated(rate: float, chance: random.Random, curtail: bool) -> tuple[Decided, int]:
    """What the calibration of a synthetic task comes to, and its valid trials."""
    records = [SOLVED]
    while True:
        own = attempts(records)
        decision = decision_of(own, records, curtail=curtail)
        launched = Counter(r.experiment.name for r in own)
        stage, number = wanted(decision, launched["one"], launched["two"])
        if decision.final:
            return decision.decided, sum(r.outcome is not None for r in decision.rulings)
        assert number > 0
        # They end in another order than they were launched in, which must not matter.
        number = 1 if curtail else number
        fresh = [trial(len(own) + n, stage, rate, chance) for n in range(1, number + 1)]
        records += [TrialRecord.from_json(r.to_json()) for r in reversed(fresh)]


@pytest.mark.parametrize("curtail", [False, True])
def test_synthetic_tasks_are_accepted_as_often_as_the_curve_says(curtail):
    chance = random.Random(20261130)
    spread = trials = expected = 0.0
    for rate in RATES:
        found = [calibrated(rate, chance, curtail) for _ in range(TASKS)]
        accepted = sum(decided is Decided.ADMISSIBLE for decided, _ in found)
        trials += sum(number for _, number in found)
        expected += TASKS * expected_trials(rate, curtailed=curtail)
        curve = acceptance(rate)
        error = (TASKS * curve * (1 - curve)) ** 0.5
        assert abs(accepted - TASKS * curve) <= 4 * error + 1, rate
        spread += (accepted - TASKS * curve) ** 2 / error**2 if error > 1e-9 else 0.0
        assert {decided for decided, _ in found} <= {Decided.ADMISSIBLE, Decided.RETIRED, Decided.REJECTED}
    assert spread < 46.8  # of 21 rates together: chi-squared, 21 degrees of freedom, p = 0.001
    assert trials == pytest.approx(expected, rel=0.02)

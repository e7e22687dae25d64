"""The two-stage rule on ruled trials; and on many synthetic tasks through the same code."""

import random

import pytest

from scenlint.calibration.classes import Ruling, rule_on
from scenlint.calibration.decision import Decided, decide, wanted
from scenlint.stats.twostage import acceptance
from scenlint.task.record import CheckResult, FailureClass, Phase, Status, TrialRecord

KINDS = {
    "P": (Status.PASSED, None, 1.0),
    "F": (Status.FAILED, FailureClass.WRONG_ANSWER, 0.0),
    "T": (Status.FAILED, FailureClass.AGENT_TIMEOUT, 0.0),
    "X": (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE, None),
    "C": (Status.NO_VERDICT, FailureClass.CONFIGURATION, None),
}


def rulings(letters: str) -> list[Ruling]:
    records = []
    for n, letter in enumerate(letters):
        status, failure_class, reward = KINDS[letter]
        phases = [Phase("build")] if letter in "XC" else [Phase("build"), Phase("agent"), Phase("verify")]
        records.append(
            TrialRecord(f"t{n}", "task", "harbor", "solver", reward, status, failure_class, letter, phases=phases,
                        checks=[CheckResult("a", letter == "P")])
        )  # fmt: skip
    return rule_on(records)


@pytest.mark.parametrize(
    ("one", "two", "decided"),
    [
        ("", "", Decided.OPEN),
        ("P", "", Decided.OPEN),
        ("PP", "", Decided.RETIRED),
        ("PXP", "", Decided.RETIRED),
        ("XXXX", "", Decided.INCONCLUSIVE),
        ("TTXP", "", Decided.BUDGET_BOUND),
        ("PF", "", Decided.OPEN),
        ("PF", "FFFFPPPP", Decided.ADMISSIBLE),
        ("PF", "FFFPPPPP", Decided.REJECTED),
        ("PF", "FFFF", Decided.OPEN),
        ("FF", "FFFFFFFF", Decided.NEVER_SOLVED),
        ("PF", "FFFFXXXXXXXXXXXX", Decided.ADMISSIBLE),
        ("PF", "FFFXXXXXXXXXXXXX", Decided.INCONCLUSIVE),
        ("PF", "FFFFTTTTPPPP", Decided.BUDGET_BOUND),
        ("PF", "FFFFTPPPP", Decided.ADMISSIBLE),
        ("C", "", Decided.STOPPED),
    ],
)
def test_decisions(one, two, decided):
    assert decide(rulings(one), rulings(two)).decided is decided


def test_a_settled_stage_ends_early_only_on_request():
    assert decide(rulings("PF"), rulings("FFFF"), curtail=True).decided is Decided.ADMISSIBLE
    assert decide(rulings("PF"), rulings("PPPPP"), curtail=True).decided is Decided.REJECTED
    assert decide(rulings("PF"), rulings("PPPPP")).decided is Decided.OPEN


def test_launch_order_decides_and_not_the_order_of_finishing():
    assert decide(rulings("PF"), rulings("PPPPPFFFF"), curtail=True).decided is Decided.REJECTED


def test_a_witness_elsewhere_proves_that_it_can_be_solved():
    assert decide(rulings("FF"), rulings("FFFFFFFF"), witness=True).decided is Decided.ADMISSIBLE


def test_confirmed_misalignment_voids_everything():
    found = decide(rulings("PF"), rulings("FFFFPPPP"), blocked="the brief asks for kilometres")
    assert found.decided is Decided.BLOCKED
    assert "kilometres" in found.reason


def test_timeouts_widen_the_rate():
    found = decide(rulings("F"), rulings("FFFTPP"))
    assert found.bounds == (4 / 7, 5 / 7)


def test_a_stopped_stage_gets_the_unbiased_estimate():
    assert decide(rulings("PF"), rulings("FPFPFF"), curtail=True).rate == pytest.approx(3 / 5)
    assert decide(rulings("PF"), rulings("FFFFPPPP")).rate == 0.5


@pytest.mark.parametrize(
    ("one", "two", "stage", "number"),
    [
        ("", "", "one", 2),
        ("F", "", "one", 1),
        ("FX", "", "one", 1),
        ("XXXP", "", "", 0),
        ("PF", "", "two", 8),
        ("PF", "FFX", "two", 6),
        ("PF", "X" * 12 + "FF", "two", 2),
        ("PP", "", "", 0),
        ("PF", "FFFFPPPP", "", 0),
    ],
)
def test_the_trials_that_are_still_wanted(one, two, stage, number):
    assert wanted(decide(rulings(one), rulings(two)), len(one), len(two)) == (stage, number)


def run(p: float, excluded: float, rng: random.Random, *, curtail: bool) -> Decided:
    """A calibration of a synthetic task through the same functions as a real one."""
    attempts = {"one": "", "two": ""}
    while True:
        decision = decide(rulings(attempts["one"]), rulings(attempts["two"]), witness=True, curtail=curtail)
        stage, number = wanted(decision, len(attempts["one"]), len(attempts["two"]))
        if decision.final:
            return decision.decided
        assert number > 0
        attempts[stage] += "".join(
            "X" if rng.random() < excluded else "F" if rng.random() < p else "P" for _ in range(number)
        )


@pytest.mark.parametrize("curtail", [False, True])
@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_synthetic_tasks_are_accepted_as_often_as_the_curve_says(p, curtail):
    rng, tasks = random.Random(f"{p}"), 400
    accepted = sum(run(p, 0.05, rng, curtail=curtail) is Decided.ADMISSIBLE for _ in range(tasks)) / tasks
    expected = acceptance(p)
    assert abs(accepted - expected) < 4 * (expected * (1 - expected) / tasks) ** 0.5 + 0.002

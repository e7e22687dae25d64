"""The two-stage rule on ruled trials."""

import pytest

from scenlint.rulings.classes import Ruling, rule_on
from scenlint.rulings.decision import Decided, decide, wanted
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
        ("XFXX", "", "two", 8),
        ("PF", "", "two", 8),
        ("PF", "FFX", "two", 6),
        ("PF", "X" * 12 + "FF", "two", 2),
        ("PP", "", "", 0),
        ("PF", "FFFFPPPP", "", 0),
    ],
)
def test_the_trials_that_are_still_wanted(one, two, stage, number):
    assert wanted(decide(rulings(one), rulings(two)), len(one), len(two)) == (stage, number)

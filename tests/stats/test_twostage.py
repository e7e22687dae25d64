"""The two-stage rule against exact values and against every sequence of outcomes."""

from fractions import Fraction
from itertools import product

import pytest

from scenlint.stats.twostage import (
    ONE,
    TWO,
    Verdict,
    acceptance,
    estimate,
    expected_trials,
    judge,
    passing,
    rate_accepted_with,
)

F, P, X = True, False, None


@pytest.mark.parametrize(
    ("p", "accepted"),
    [
        (Fraction(1, 2), Fraction(489, 1024)),
        (Fraction(1, 4), Fraction(52213, 1048576)),
        (Fraction(3, 10), Fraction(197986437, 2000000000)),
        (Fraction(7, 10), Fraction(1714498877, 2000000000)),
        (Fraction(0), Fraction(0)),
        (Fraction(1), Fraction(1)),
    ],
)
def test_the_acceptance_curve_is_exact(p, accepted):
    assert passing(ONE, p) * passing(TWO, p) == accepted
    assert acceptance(float(p)) == pytest.approx(float(accepted), abs=1e-12)


@pytest.mark.parametrize(
    ("p", "full", "curtailed"),
    [
        (0.0, 2.0, 2.0),
        (0.25, 5.5, 4.775791),
        (0.5, 8.0, 6.904297),
        (0.75, 9.5, 6.942760),
        (1.0, 10.0, 6.0),
    ],
)
def test_trials_that_a_calibration_takes(p, full, curtailed):
    assert expected_trials(p) == pytest.approx(full, abs=1e-6)
    assert expected_trials(p, curtailed=True) == pytest.approx(curtailed, abs=1e-6)


@pytest.mark.parametrize(
    ("probability", "p"), [(0.05, 0.250265), (0.10, 0.300838), (0.50, 0.509871), (0.90, 0.737606), (0.95, 0.799984)]
)
def test_the_rate_at_which_a_scenario_is_accepted_so_often(probability, p):
    assert rate_accepted_with(probability) == pytest.approx(p, abs=1e-6)


def test_calibrating_until_it_passes_raises_the_risk():
    assert acceptance(0.25, attempts=5) == pytest.approx(0.225381, abs=1e-6)
    assert acceptance(0.3, attempts=3) == pytest.approx(0.268551, abs=1e-6)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([P, P], Verdict.REJECT),
        ([P, F], Verdict.ACCEPT),
        ([F], Verdict.ACCEPT),
        ([P], Verdict.OPEN),
        ([X, X, X, P], Verdict.INCONCLUSIVE),
        ([X, X, P, P], Verdict.REJECT),
        ([X, X, X, P, F], Verdict.INCONCLUSIVE),
        ([P, P, F], Verdict.REJECT),
    ],
)
def test_stage_one(outcomes, verdict):
    assert judge(ONE, outcomes).verdict is verdict


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([F] * 4, Verdict.ACCEPT),
        ([P] * 5, Verdict.REJECT),
        ([F, F, F, P, P, P, P], Verdict.OPEN),
        ([F, F, F] + [X] * 13, Verdict.INCONCLUSIVE),
        ([F, F, F, P, P, P, P, P], Verdict.REJECT),
        ([F, F, F, P, P, P, P, P, F], Verdict.REJECT),
        ([X] * 12 + [F] * 4, Verdict.ACCEPT),
        ([X] * 13 + [F] * 4, Verdict.INCONCLUSIVE),
    ],
)
def test_stage_two(outcomes, verdict):
    assert judge(TWO, outcomes).verdict is verdict


def test_stopping_when_settled_never_changes_the_verdict():
    for outcomes in product([F, P], repeat=8):
        final = judge(TWO, outcomes).verdict
        assert final is (Verdict.ACCEPT if sum(outcomes) >= 4 else Verdict.REJECT)
        for n in range(8):
            assert judge(TWO, outcomes[:n]).verdict in (Verdict.OPEN, final)


def test_a_count_says_what_is_missing():
    count = judge(TWO, [F, X, P, F])
    assert (count.failures, count.passes, count.excluded, count.missing, count.complete) == (2, 1, 1, 5, False)


@pytest.mark.parametrize("p", [Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)])
def test_the_estimate_of_a_stopped_stage_is_unbiased(p):
    expected = Fraction(0)
    for outcomes in product([F, P], repeat=8):
        stop = next(n for n in range(1, 9) if judge(TWO, outcomes[:n]).verdict is not Verdict.OPEN)
        failures = sum(outcomes[:stop])
        chance = Fraction(1)
        for outcome in outcomes:
            chance *= p if outcome else 1 - p
        # As if eight valid trials had not been completed: a stage stopped by its eighth is stopped all the same.
        share = Fraction(failures - (failures == 4), stop - 1)
        if stop < 8:
            assert estimate(TWO, failures, stop - failures) == pytest.approx(float(share))
        expected += chance * share
    assert expected == p


def test_no_trials_no_estimate():
    assert estimate(TWO, 0, 0) is None
    assert estimate(TWO, 5, 3) == 0.625

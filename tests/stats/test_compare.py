import math

import pytest

from scenlint.stats import NotEnoughError
from scenlint.stats.compare import boschloo, clustered, false_discovery, fisher, paired


@pytest.mark.parametrize(
    ("first", "second", "unconditional", "conditional"),
    [
        (8, 3, 0.008055, 0.025641),
        (8, 4, 0.027894, 0.076923),
        (7, 3, 0.053413, 0.118881),
        (7, 2, 0.021271, 0.040559),
        (6, 2, 0.076813, 0.131935),
        (8, 5, 0.082243, 0.200000),
    ],
)
def test_two_rates_of_eight(first, second, unconditional, conditional):
    assert boschloo(first, 8, second, 8) == pytest.approx(unconditional, abs=1e-5)
    assert fisher(first, 8, second, 8) == pytest.approx(conditional, abs=1e-6)


@pytest.mark.parametrize(("before", "after", "p"), [(5, 0, 0.004028), (5, 1, 0.026707), (6, 2, 0.038406)])
def test_failures_that_vanish_once_the_rule_is_stated(before, after, p):
    assert boschloo(before, 8, after, 8, "greater") == pytest.approx(p, abs=1e-5)


def test_sides_without_trials_or_without_spread_prove_nothing():
    assert boschloo(0, 0, 3, 8) == 1
    assert boschloo(8, 8, 8, 8) == 1
    assert boschloo(0, 8, 0, 8) == 1


def test_many_tests_at_once():
    ps = [0.001, 0.008, 0.039, 0.041, 0.042, 0.060, 0.074, 0.205, 0.212, 0.216]
    expected = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.105714, 0.216, 0.216, 0.216]
    assert false_discovery(ps) == pytest.approx(expected, abs=1e-6)
    assert false_discovery(ps, dependence="any")[0] == pytest.approx(0.029290, abs=1e-6)
    assert false_discovery([]) == []


def test_two_runs_of_a_suite_scenario_by_scenario():
    before, after = [8, 6, 4, 1, 0, 4], [8, 7, 6, 3, 1, 4]
    changed = paired([b / 8 for b in before], [a / 8 for a in after])
    assert changed.difference == pytest.approx(0.125)
    # Flipping the signs of the four changes: only all four alike are as extreme, in 2 of 16 ways.
    assert changed.p == pytest.approx(2 / 16)
    assert paired(before, before) == (0, 0, 1)


def test_five_scenarios_are_too_few_to_test():
    with pytest.raises(NotEnoughError, match="5 scenarios"):
        paired([1, 0, 1, 0, 1], [0, 0, 0, 0, 0])


def test_the_error_of_a_suite_is_that_of_its_scenarios():
    passes = [8, 6, 4, 1, 0]
    rewards = [float(n < passed) for passed in passes for n in range(8)]
    scenario = [s for s in range(5) for _ in range(8)]
    mean = clustered(rewards, scenario)
    assert mean.value == pytest.approx(19 / 40)
    assert mean.error == pytest.approx(0.187083, abs=1e-6)
    assert clustered([1.0, 0.0], ["only", "only"]).error is None
    naive = math.sqrt(19 / 40 * 21 / 40 / 40)
    assert naive == pytest.approx(0.078958, abs=1e-6)


def test_no_rewards_no_mean():
    with pytest.raises(NotEnoughError):
        clustered([], [])


def test_many_scenarios_are_flipped_as_scipy_does_it():
    from scipy.stats import permutation_test

    before = [(n % 9) / 8 for n in range(40)]
    after = [max(0.0, b - (0.25 if n % 3 else -0.125)) for n, b in enumerate(before)]
    changes = [a - b for a, b in zip(after, before, strict=True)]
    for shown in (40, 15):
        expected = permutation_test(
            (changes[:shown],),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=30_000,
            random_state=1,
        ).pvalue
        assert paired(before[:shown], after[:shown]).p == pytest.approx(expected, abs=0.01)

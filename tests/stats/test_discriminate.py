import random
from statistics import stdev

import pytest

from scenlint.stats import NotEnoughError
from scenlint.stats.discriminate import Curve, abilities, alpha, arms, fit, item_rest

# Passes of 8: agents from weak to strong; scenarios: good, good, ceiling, noise, floor.
REF = [[0, 2, 7, 4, 0], [1, 3, 8, 3, 0], [3, 4, 7, 5, 0], [5, 5, 8, 4, 0], [7, 6, 8, 3, 0], [8, 7, 8, 5, 0]]


def strong_and_weak(scenario: int):
    return arms((REF[4][scenario] + REF[5][scenario], 16), (REF[0][scenario] + REF[1][scenario], 16))


def test_arms_of_a_scenario_that_discriminates_and_of_one_that_does_not():
    good, ceiling = strong_and_weak(0), strong_and_weak(2)
    assert (good.difference, good.auc) == (0.875, 0.9375)
    assert good.interval == pytest.approx((0.562759, 0.947663), abs=1e-6)
    assert good.label() == "discriminates"
    assert ceiling.difference == 0.0625
    assert ceiling.label() == "none"
    assert arms((1, 16), (15, 16)).label() == "inverted"
    assert arms((12, 16), (8, 16)).label() == "weak"


def test_too_few_trials_are_said():
    with pytest.raises(NotEnoughError, match="7 and 8"):
        arms((3, 7), (2, 8))
    with pytest.raises(NotEnoughError, match="4 agents"):
        item_rest(REF[:4], 0)


@pytest.mark.parametrize(
    ("scenario", "pearson", "spearman", "kendall"),
    [
        (0, 0.949012, 0.985611, 0.966092),
        (1, 0.990610, 1, 1),
        (2, 0.506061, 0.621059, 0.547723),
        (3, 0.165051, 0.239046, 0.149071),
    ],
)
def test_a_scenario_against_the_rest(scenario, pearson, spearman, kendall):
    assert item_rest(REF, scenario) == pytest.approx((pearson, spearman, kendall), abs=1e-6)


def test_a_scenario_that_nobody_solves_correlates_with_nothing():
    assert item_rest(REF, 4) == (None, None, None)


def test_alpha_of_the_scenarios_that_vary():
    assert alpha([row[:4] for row in REF]) == pytest.approx(0.705142, abs=1e-6)


@pytest.mark.parametrize(
    ("scenario", "a", "b", "error"),
    [(0, 2.441060, 0, 0.650732), (1, 0.959805, -0.322424, 0.343433), (3, 0.095369, 0, 0.282300)],
)
def test_the_two_parameter_curve_by_maximum_likelihood(scenario, a, b, error):
    theta = [-1.5, -0.9, -0.3, 0.3, 0.9, 1.5]
    curve = fit([row[scenario] for row in REF], [8] * 6, theta, prior=False)
    assert curve.a == pytest.approx(a, abs=1e-4)
    assert curve.b == pytest.approx(b, abs=1e-3)
    assert curve.error == pytest.approx(error, abs=1e-4)
    assert curve.information(curve.b) == pytest.approx(a * a / 4, abs=1e-4)


def test_the_error_of_a_difficulty_is_that_of_repeated_fits():
    theta = [-1.5, -0.9, -0.3, 0.3, 0.9, 1.5]
    curve = fit([0, 1, 3, 5, 7, 8], [8] * 6, theta, prior=False)
    chance = random.Random(7)
    found = []
    for _ in range(300):
        passes = [sum(chance.random() < curve.passing(t) for _ in range(8)) for t in theta]
        found.append(fit(passes, [8] * 6, theta).b)
    assert curve.error_b == pytest.approx(stdev(found), rel=0.2)


def test_probability_and_information_of_a_curve():
    curve = Curve(1.5, 0.2, None, exploratory=False)
    assert curve.passing(0.5) == pytest.approx(0.610639, abs=1e-6)
    assert curve.information(0.5) == pytest.approx(0.534958, abs=1e-6)
    assert curve.passing(-1e6) == pytest.approx(0)


def test_priors_keep_a_separated_scenario_finite():
    curve = fit([0, 0, 8, 8], [8] * 4, [-1, -0.5, 0.5, 1])
    assert 1 < curve.a < 10
    assert curve.exploratory
    with pytest.raises(NotEnoughError):
        fit([8, 8], [8, 8], [0, 1], prior=False)


def test_abilities_leave_the_scenario_itself_out():
    assert abilities(REF, 8, 0) == pytest.approx(abilities([[9, *row[1:]] for row in REF], 8, 0))
    assert abilities(REF, 8, 0) == sorted(abilities(REF, 8, 0))

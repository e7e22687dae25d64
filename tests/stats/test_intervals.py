"""Reference values computed elsewhere, to six digits."""

import pytest
from scipy.stats import beta

from scenlint.stats.intervals import Posterior, bounded, chance_to_see, exact, newcombe, none_of, wilson


def near(*values: float):
    return pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize(
    ("passes", "trials", "score", "clopper"),
    [
        (4, 8, (0.215216, 0.784784), (0.157013, 0.842987)),
        (5, 8, (0.305742, 0.863156), (0.244863, 0.914767)),
        (0, 8, (0, 0.324408), (0, 0.369417)),
        (8, 8, (0.675592, 1), (0.630583, 1)),
        (17, 20, (0.639581, 0.947631), None),
        (0, 0, (0, 1), (0, 1)),
    ],
)
def test_intervals_of_a_rate(passes, trials, score, clopper):
    assert wilson(passes, trials) == near(*score)
    if clopper:
        assert exact(passes, trials) == near(*clopper)


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="9 passes of 8"):
        wilson(9, 8)
    with pytest.raises(ValueError, match="-1 passes"):
        Posterior.of(-1, 8)


def test_the_posterior_from_jeffreys_prior():
    known = Posterior.of(5, 8)
    assert known.mean == pytest.approx(0.611111, abs=1e-6)
    assert known.interval() == near(0.294823, 0.880961)
    assert known.above(0.5) == pytest.approx(0.758690, abs=1e-6)
    assert known.above(0.25) == pytest.approx(0.988603, abs=1e-6)
    assert known.at_least(4, 8) == pytest.approx(0.772751, abs=1e-6)
    assert Posterior.of(5, 8, prior=(1, 1)).interval() == near(0.299295, 0.863004)


def test_how_likely_one_rate_is_the_higher():
    strong, weak = Posterior(7.5, 1.5), Posterior(2.5, 6.5)
    assert strong.beats(weak) == pytest.approx(0.995353, abs=1e-6)
    assert strong.beats(weak) + weak.beats(strong) == pytest.approx(1)
    drawn = beta.rvs(7.5, 1.5, size=20_000, random_state=1) > beta.rvs(2.5, 6.5, size=20_000, random_state=2)
    assert strong.beats(weak) == pytest.approx(drawn.mean(), abs=0.002)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((15, 16, 1, 16), (0.562759, 0.947663)),
        ((13, 16, 5, 16), (0.156314, 0.709699)),
        ((7, 8, 3, 8), (0.029294, 0.759309)),
        ((8, 8, 4, 8), (0.068326, 0.784784)),
        ((1, 2, 0, 0), (-1, 1)),
    ],
)
def test_interval_of_a_difference(counts, expected):
    assert newcombe(*counts) == near(*expected)


@pytest.mark.parametrize(
    ("trials", "rate"), [(0, 1), (3, 0.631597), (5, 0.450720), (10, 0.258866), (20, 0.139108), (59, 0.049508)]
)
def test_what_trials_without_the_event_exclude(trials, rate):
    assert none_of(trials) == pytest.approx(rate, abs=1e-6)


def test_the_power_of_looking():
    assert chance_to_see(0.1, 10) == pytest.approx(0.651322, abs=1e-6)


def test_unknown_outcomes_widen_the_failure_rate():
    assert bounded(4, 2, 2) == (0.5, 0.75)
    assert bounded(0, 0, 0) == (0, 1)

import random

import pytest

from scenlint.stats import NotEnoughError
from scenlint.stats.series import FailureCusum, alarms, cusum, ewma, run_length, seasonal, shift, trend, window

COST = [1, 1.02, 0.99, 1.05, 1.08, 1.07, 1.12, 1.15]


def test_a_trend_in_costs():
    found = trend(COST)
    assert (found.tau, found.p) == pytest.approx((0.785714, 0.005506), abs=1e-6)
    assert (found.slope, found.low, found.high) == pytest.approx((0.020714, 0.014, 0.032), abs=1e-6)


def test_constant_costs_have_no_trend():
    assert trend([1.0] * 6) == (0, 1, 0, 0, 0)


def test_the_trend_of_several_scenarios_together():
    assert seasonal([COST]) == pytest.approx((2.598076, 0.009375), abs=1e-6)
    assert seasonal([COST, COST]) == pytest.approx((3.761716, 0.000169), abs=1e-6)


def test_costs_that_shifted():
    found = shift([1, 1.1, 0.9, 1.2, 1.05, 0.95, 1, 1.1], [1.3, 1.2, 1.5, 1.1, 1.4, 1.25, 1.35, 1.6])
    assert found == pytest.approx((1.279204, 0.001110), abs=1e-6)


def test_control_charts_signal_the_drift():
    assert ewma(COST, 1, 0.05) == 7
    assert ewma([1.0] * 20, 1, 0.05) is None
    assert cusum(COST, 1, 0.05) == pytest.approx([0, 0, 0, 0.5, 1.6, 2.5, 4.4, 6.9])


def test_outcomes_one_by_one():
    chart = FailureCusum(0.2, 0.5, threshold=99)
    assert (chart.failure, chart.success) == pytest.approx((0.916291, -0.470004), abs=1e-6)
    for outcome in "PPFPFFFPFF":
        chart.add(outcome == "F")
    assert chart.value == pytest.approx(4.557737, abs=1e-6)


def test_false_alarms_come_as_rarely_as_stated():
    rng = random.Random(7)
    looked = 200_000
    seen = sum(1 for _ in alarms([rng.random() < 0.2 for _ in range(looked)], FailureCusum(0.2, 0.5)))
    assert looked / seen == pytest.approx(446, rel=0.15)


@pytest.mark.parametrize(("usual", "raised"), [(0.2, 0.5), (0.01, 0.03), (0.1, 0.2), (0.5, 0.7), (0.9, 0.95)])
def test_a_chart_for_a_wanted_run_length_alarms_as_rarely(usual, raised):
    chart = FailureCusum.rare(usual, raised, 300)
    stated = run_length(int(chart.failure), -int(chart.success), int(chart.threshold), usual)
    assert stated >= 300
    assert run_length(int(chart.failure), -int(chart.success), int(chart.threshold) - 1, usual) < 300
    assert chart.failure / -chart.success == pytest.approx(
        FailureCusum(usual, raised).failure / -FailureCusum(usual, raised).success, rel=0.02
    )
    rng = random.Random(5)
    looked = 100_000
    seen = sum(1 for _ in alarms([rng.random() < usual for _ in range(looked)], chart))
    assert looked / seen == pytest.approx(stated, rel=0.15)


def test_run_lengths_that_can_be_reckoned_by_hand():
    assert run_length(1, 1, 1, 0.25) == pytest.approx(4)  # the first failure alarms
    assert run_length(5, 1, 3, 0.25) == pytest.approx(4)
    assert run_length(1, 9, 2, 0.5) == pytest.approx(6)  # two failures in a row


def test_a_window_of_outcomes():
    assert window(25, 40, 0.8)
    assert not window(26, 40, 0.8)


def test_too_short_a_series_is_said():
    for ask in (lambda: trend([1, 2, 3, 4]), lambda: shift([1] * 7, [2] * 9), lambda: window(1, 19, 0.8)):
        with pytest.raises(NotEnoughError):
            ask()

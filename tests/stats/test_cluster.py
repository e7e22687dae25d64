"""Intervals of a suite's mean, against scipy and against Wilson's where each scenario is one draw."""

import pytest
from scipy.stats import t

from scenlint.stats.cluster import interval, score
from scenlint.stats.compare import Mean, clustered
from scenlint.stats.intervals import wilson


def test_it_is_students_t_on_the_clustered_error():
    mean = clustered([1, 1, 0, 1, 0, 0, 1, 1], "aabbccdd")
    assert tuple(interval(mean)) == pytest.approx(
        tuple(max(0, min(1, edge)) for edge in t.interval(0.95, 3, mean.value, mean.error))
    )
    wide, narrow = interval(Mean(0.5, 0.1, 3)), interval(Mean(0.5, 0.1, 300))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


@pytest.mark.parametrize("passes", [0, 3, 8])
def test_the_score_interval_is_wilsons(passes):
    assert tuple(score(passes / 8, 8)) == pytest.approx(tuple(wilson(passes, 8)))


def test_an_error_of_nothing_is_no_certainty():
    low, high = interval(Mean(1.0, 0.0, 10))
    assert (low, high) == pytest.approx(tuple(wilson(10, 10)))


def test_one_cluster_has_no_interval():
    assert interval(clustered([1, 0, 1], "aaa")) is None

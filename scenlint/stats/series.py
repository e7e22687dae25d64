"""Signals in a series of runs: trends robust to outliers, shifts, and control charts with a stated false-alarm rate."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from scenlint.stats import NotEnoughError
from scenlint.stats.words import count as many


class Trend(NamedTuple):
    """A monotone trend: Kendall's tau with its exact p, and Theil and Sen's slope per run with its interval."""

    tau: float
    p: float
    slope: float
    low: float
    high: float


def trend(values: Sequence[float]) -> Trend:
    """Mann and Kendall's test and Theil and Sen's slope of values in the order of time; at least 5 of them."""
    if len(values) < 5:
        raise NotEnoughError(f"{many(len(values), 'run')}; a trend needs 5")
    from scipy.stats import kendalltau, theilslopes

    order = range(len(values))
    tau = kendalltau(order, values)
    slope = theilslopes(values, order)
    if math.isnan(tau.statistic):  # all values are the same
        return Trend(0.0, 1.0, 0.0, 0.0, 0.0)
    return Trend(float(tau.statistic), float(tau.pvalue), *(float(s) for s in (slope[0], slope[2], slope[3])))


def seasonal(series: Sequence[Sequence[float]]) -> tuple[float, float]:
    """z and two-sided p of one trend within several scenarios, so that a changed mix is no trend (Hirsch 1982)."""
    total, variance = 0, 0.0
    for values in series:
        before: list[float] = []  # sorted
        for value in values:
            total += bisect_left(before, value) + bisect_right(before, value) - len(before)
            insort(before, value)
        n, ties = len(values), Counter(values).values()
        variance += (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    if variance == 0:
        raise NotEnoughError("no scenario has values that differ")
    z = (total - (total > 0) + (total < 0)) / math.sqrt(variance)
    return z, math.erfc(abs(z) / math.sqrt(2))


class Shift(NamedTuple):
    """How many times as high new values are (Hodges and Lehmann's ratio), and the one-sided p that they are higher."""

    ratio: float
    p: float


def shift(before: Sequence[float], after: Sequence[float]) -> Shift:
    """Whether costs rose (Mann and Whitney on positive values); at least 8 on each side."""
    if min(len(before), len(after)) < 8:
        raise NotEnoughError(f"{len(before)} and {len(after)} runs; a shift needs 8 before and after")
    from statistics import median

    from scipy.stats import mannwhitneyu

    p = float(mannwhitneyu(after, before, alternative="greater").pvalue)
    return Shift(math.exp(median(math.log(b) - math.log(a) for a in before for b in after)), p)


def ewma(values: Sequence[float], mean: float, deviation: float, weight: float = 0.2, width: float = 3.0) -> int | None:
    """The first run (from 1) whose exponentially weighted mean leaves its limits; None if none does (Roberts 1959)."""
    z = mean
    for t, value in enumerate(values, 1):
        z = weight * value + (1 - weight) * z
        limit = width * deviation * math.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * t)))
        if abs(z - mean) > limit:
            return t
    return None


def cusum(values: Sequence[float], mean: float, deviation: float, slack: float = 0.5) -> list[float]:
    """The upper cumulative sum after each run, in standard deviations; an alarm is due above 4 (Page 1954)."""
    out, c = [], 0.0
    for value in values:
        c = max(0.0, c + (value - mean) / deviation - slack)
        out.append(c)
    return out


class FailureCusum:
    """Watches outcomes one by one for a failure rate that went from `usual` to `raised` (Bernoulli CUSUM).

    With threshold 4, usual 0.2 and raised 0.5 a false alarm comes once in 446 outcomes on average, and the raised rate
    is seen after 15.6 (simulated).
    """

    def __init__(self, usual: float, raised: float, threshold: float = 4.0) -> None:
        if not 0 < usual < raised < 1:
            raise ValueError("rates must be 0 < usual < raised < 1")
        self.failure = math.log(raised / usual)
        self.success = math.log((1 - raised) / (1 - usual))
        self.threshold, self.value = threshold, 0.0

    @classmethod
    def rare(cls, usual: float, raised: float, outcomes: float) -> FailureCusum:
        """The chart that alarms falsely once in at least so many outcomes on average, and as soon as that allows.

        Its two steps are in a ratio of small whole numbers (within 2% of the likelihoods'), and it counts in these, so
        that its run length is exact.
        """
        chart = cls(usual, raised)
        up, down, threshold = _counts(usual, raised, outcomes)
        chart.failure, chart.success, chart.threshold = up, -down, threshold
        return chart

    def add(self, failed: bool) -> bool:
        """Take in one outcome; whether an alarm is due."""
        self.value = max(0.0, self.value + (self.failure if failed else self.success))
        return self.value >= self.threshold


@lru_cache(maxsize=1000)
def _counts(usual: float, raised: float, outcomes: float) -> tuple[int, int, int]:
    """Steps up and down in whole numbers, and the lowest threshold that is reached so rarely."""
    exact = FailureCusum(usual, raised)
    ratio = -exact.failure / exact.success
    sizes = map(Fraction(ratio).limit_denominator, itertools.count(1))
    up, down = next(f for f in sizes if f and abs(f / ratio - 1) <= 0.02).as_integer_ratio()
    high = up
    while run_length(up, down, high, usual) < outcomes:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if run_length(up, down, middle, usual) < outcomes else (low, middle)
    return up, down, high


def run_length(up: int, down: int, threshold: int, rate: float) -> float:
    """Outcomes until a chart in whole steps alarms, on average, at a rate of failures (Brook and Evans 1972: exact)."""
    import numpy as np
    from scipy.linalg import solve_banded

    # L(s) = 1 + rate L(s + up) + (1 - rate) L(max(0, s - down)), with L = 0 from the threshold on.
    above, below = min(up, threshold - 1), min(down, threshold - 1)
    bands = np.zeros((above + below + 1, threshold))
    bands[above] = 1.0
    if up < threshold:
        bands[above - up, up:] -= rate
    for state in range(threshold):
        target = max(0, state - down)
        bands[above + state - target, target] -= 1 - rate
    lengths = solve_banded((below, above), bands, np.ones(threshold), check_finite=False)
    return float(lengths[0])


def window(passes: int, trials: int, usual: float, level: float = 0.01) -> bool:
    """Whether so few passes in a window of at least 20 are below the usual rate; repeated looks raise `level`."""
    if trials < 20:
        raise NotEnoughError(f"{many(trials, 'outcome')}; a window needs 20")
    from scipy.stats import binom

    return bool(binom.cdf(passes, trials, usual) < level)


def alarms(outcomes: Sequence[bool], chart: FailureCusum) -> Iterator[int]:
    """The outcomes (from 1; True a failure) at which the chart alarms; it starts anew after each."""
    for n, failed in enumerate(outcomes, 1):
        if chart.add(failed):
            chart.value = 0.0
            yield n

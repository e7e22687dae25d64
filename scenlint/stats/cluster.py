"""Intervals of a suite's mean, whose trials come in clusters: those of one scenario depend on each other."""

from __future__ import annotations

import math

from scenlint.stats.compare import Mean
from scenlint.stats.intervals import Interval


def interval(mean: Mean, level: float = 0.95) -> Interval | None:
    """The interval of a mean of values between 0 and 1; None for fewer than two clusters.

    Student's t on the clustered error (Miller 2024), with one degree of freedom less than clusters, cut to [0, 1].
    Where all scenarios came out alike the error is 0 and certainty would be false: then it is the score interval with
    each scenario as one draw.
    """
    if mean.error is None:
        return None
    if mean.error < 1e-12:
        return score(mean.value, mean.clusters, level)
    from scipy.stats import t

    half = float(t.ppf((1 + level) / 2, mean.clusters - 1)) * mean.error
    return Interval(max(0.0, mean.value - half), min(1.0, mean.value + half))


def score(value: float, draws: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of a mean of values between 0 and 1, of which none varies more than a yes or no."""
    from scipy.stats import norm

    z = float(norm.ppf((1 + level) / 2))
    middle = value + z * z / (2 * draws)
    half = z * math.sqrt(max(0.0, value * (1 - value) / draws) + z * z / (4 * draws * draws))
    scale = 1 + z * z / draws
    # At the ends rounding would leave an edge beside 0 or 1.
    low = 0.0 if value <= 0 else max(0.0, (middle - half) / scale)
    return Interval(low, 1.0 if value >= 1 else min(1.0, (middle + half) / scale))

"""Intervals for pass rates and their differences, honest at the few trials that a scenario gets."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    """A range of rates that the data leave possible."""

    low: float
    high: float


def wilson(passes: int, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a rate; [0, 1] without trials (Wilson 1927)."""
    _check(passes, trials)
    if trials == 0:
        return Interval(0.0, 1.0)
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    rate, whole = passes / trials, 1 + z2 / trials
    centre = (rate + z2 / (2 * trials)) / whole
    half = math.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * trials)) / trials) / whole
    return Interval(0.0 if passes == 0 else centre - half, 1.0 if passes == trials else centre + half)


def exact(passes: int, trials: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's exact interval of a rate; [0, 1] without trials (Clopper and Pearson 1934)."""
    _check(passes, trials)
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    return Interval(
        0.0 if passes == 0 else float(betaincinv(passes, trials - passes + 1, tail)),
        1.0 if passes == trials else float(betaincinv(passes + 1, trials - passes, 1 - tail)),
    )


def _check(passes: int, trials: int) -> None:
    if not 0 <= passes <= trials:
        raise ValueError(f"{passes} passes of {trials} trials")


class Posterior(NamedTuple):
    """What is known of a rate after some trials: a Beta distribution, by default from Jeffreys' prior Beta(½, ½)."""

    alpha: float
    beta: float

    @classmethod
    def of(cls, passes: int, trials: int, prior: tuple[float, float] = (0.5, 0.5)) -> Posterior:
        """The posterior after `passes` of `trials`."""
        if not 0 <= passes <= trials:
            raise ValueError(f"{passes} passes of {trials} trials")
        return cls(passes + prior[0], trials - passes + prior[1])

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    def interval(self, level: float = 0.95) -> Interval:
        """The central credible interval."""
        from scipy.stats import beta

        tail = (1 - level) / 2
        return Interval(*(float(beta.ppf(q, self.alpha, self.beta)) for q in (tail, 1 - tail)))

    def above(self, rate: float) -> float:
        """The probability that the rate is higher than this one."""
        from scipy.stats import beta

        return float(beta.sf(rate, self.alpha, self.beta))

    def at_least(self, passes: int, trials: int) -> float:
        """The predictive probability of at least so many passes in so many further trials."""
        from scipy.stats import betabinom

        return float(betabinom.sf(passes - 1, trials, self.alpha, self.beta))

    def beats(self, other: Posterior) -> float:
        """The probability that this rate is higher than another, of independent trials."""
        from scipy.integrate import quad
        from scipy.stats import beta

        def density(rate: float) -> float:
            return float(beta.pdf(rate, self.alpha, self.beta) * beta.cdf(rate, other.alpha, other.beta))

        return float(quad(density, 0.0, 1.0, limit=200)[0])


def newcombe(passes: int, trials: int, other_passes: int, other_trials: int, level: float = 0.95) -> Interval:
    """Interval of the difference of two independent rates, first minus second (Newcombe 1998, method 10)."""
    if not trials or not other_trials:
        return Interval(-1.0, 1.0)
    first, second = passes / trials, other_passes / other_trials
    a, b = wilson(passes, trials, level), wilson(other_passes, other_trials, level)
    difference = first - second
    return Interval(
        difference - math.hypot(first - a.low, b.high - second),
        difference + math.hypot(a.high - first, second - b.low),
    )


def none_of(trials: int, level: float = 0.95) -> float:
    """The highest rate of an event that was seen in none of so many trials (one-sided): what the trials can exclude."""
    return 1.0 if trials < 1 else 1.0 - (1.0 - level) ** (1.0 / trials)


def chance_to_see(rate: float, trials: int) -> float:
    """The probability that an event of this rate shows at least once in so many trials: the power of looking."""
    return 1.0 - (1.0 - rate) ** trials


def bounded(failures: int, passes: int, unknown: int) -> Interval:
    """The failure rate if all unknown outcomes were passes, and if all were failures (timeouts are not at random)."""
    everything = failures + passes + unknown
    if everything == 0:
        return Interval(0.0, 1.0)
    return Interval(failures / everything, (failures + unknown) / everything)

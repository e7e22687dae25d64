"""Tests of two groups of trials, of many at once, and of two runs of a suite."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

from scenlint.stats import NotEnoughError

Alternative = Literal["two-sided", "greater", "less"]


def boschloo(
    passes: int, trials: int, other_passes: int, other_trials: int, alternative: Alternative = "two-sided"
) -> float:
    """p of Boschloo's exact test that two rates are equal; "greater": the first is the higher (Boschloo 1970).

    Unconditional, so more powerful than Fisher's at eight trials a side. 1.0 where either side has no trials.
    """
    table = _table(passes, trials, other_passes, other_trials)
    if not trials or not other_trials or passes + other_passes in (0, trials + other_trials):
        return 1.0
    from scipy.stats import boschloo_exact

    return float(boschloo_exact(table, alternative=alternative).pvalue)


def fisher(
    passes: int, trials: int, other_passes: int, other_trials: int, alternative: Alternative = "two-sided"
) -> float:
    """p of Fisher's exact test that two rates are equal."""
    from scipy.stats import fisher_exact

    return float(fisher_exact(_table(passes, trials, other_passes, other_trials), alternative=alternative)[1])


def _table(passes: int, trials: int, other_passes: int, other_trials: int) -> list[list[int]]:
    if not (0 <= passes <= trials and 0 <= other_passes <= other_trials):
        raise ValueError(f"{passes} of {trials} against {other_passes} of {other_trials}")
    # scipy's Boschloo wants the groups in the columns.
    return [[passes, other_passes], [trials - passes, other_trials - other_passes]]


def false_discovery(
    p_values: Sequence[float], *, dependence: Literal["independent", "any"] = "independent"
) -> list[float]:
    """Each p as the false discovery rate at which it would be called: Benjamini–Hochberg, or –Yekutieli for "any"."""
    if not p_values:
        return []
    from scipy.stats import false_discovery_control

    return [float(q) for q in false_discovery_control(p_values, method="by" if dependence == "any" else "bh")]


class Paired(NamedTuple):
    """Two runs over the same scenarios: the mean change of the pass rate, its standard error, and a permutation's p."""

    difference: float
    error: float
    p: float


def paired(before: Sequence[float], after: Sequence[float]) -> Paired:
    """Whether a suite's mean rate changed, scenario by scenario; at least 6 scenarios, or no p below 0.05 exists."""
    if len(before) != len(after):
        raise ValueError("both runs must have a rate for each scenario")
    if len(before) < 6:
        raise NotEnoughError(f"{len(before)} scenarios; a paired test of a suite needs 6")
    from numpy import array
    from scipy.stats import permutation_test

    changes = array(after, dtype=float) - array(before, dtype=float)
    error = float(changes.std(ddof=1)) / math.sqrt(len(changes))

    def mean(sample: Any, axis: int) -> Any:
        return sample.mean(axis=axis)

    p = 1.0
    if changes.any():
        # The 'samples' permutation of one sample flips signs. Beyond 14 scenarios a sample of flips has to do.
        p = permutation_test(
            (changes,), mean, permutation_type="samples", vectorized=True, n_resamples=20_000, random_state=0
        ).pvalue
    return Paired(float(changes.mean()), error, float(p))


class Mean(NamedTuple):
    """A suite's mean with the standard error that belongs to it, and the scenarios it rests on."""

    value: float
    error: float | None
    clusters: int


def clustered(rewards: Sequence[float], scenario: Sequence[Hashable]) -> Mean:
    """The mean of all trials with its standard error clustered by scenario (Miller 2024, with the g/(g-1) correction).

    Trials of one scenario are not independent of each other; taken as if they were, the error comes out too small.
    """
    if len(rewards) != len(scenario):
        raise ValueError("each reward needs its scenario")
    if not rewards:
        raise NotEnoughError("no trial has a reward")
    mean = math.fsum(rewards) / len(rewards)
    sums: dict[Hashable, float] = {}
    for reward, which in zip(rewards, scenario, strict=True):
        sums[which] = sums.get(which, 0.0) + reward - mean
    g = len(sums)
    if g < 2:
        return Mean(mean, None, g)
    variance = math.fsum(s * s for s in sums.values()) / len(rewards) ** 2
    return Mean(mean, math.sqrt(variance * g / (g - 1)), g)

"""Tests of two groups of trials, of many at once, and of two runs of a suite."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

from scenlint.stats import NotEnoughError
from scenlint.stats.words import count

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


def ranked(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """One-sided p that values fell, and that they rose (Mann and Whitney); at least 8 on each side."""
    if min(len(before), len(after)) < 8:
        raise NotEnoughError(f"{len(before)} and {len(after)} values; a comparison of ranks needs 8 before and after")
    from scipy.stats import mannwhitneyu

    fell, rose = (float(mannwhitneyu(after, before, alternative=side).pvalue) for side in ("less", "greater"))
    return fell, rose


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
        raise NotEnoughError(f"{count(len(before), 'scenario')}; a paired test of a suite needs 6")
    from numpy import array

    changes = array(after, dtype=float) - array(before, dtype=float)
    error = float(changes.std(ddof=1)) / math.sqrt(len(changes))
    p = _flipped(changes) if changes.any() else 1.0
    return Paired(float(changes.mean()), error, p)


def _flipped(changes: Any) -> float:
    """Two-sided p of a mean of changes by flipping their signs: all ways up to 14 changes, beyond 20,000 of them."""
    if len(changes) <= 14:
        from scipy.stats import permutation_test

        def mean(sample: Any, axis: int) -> Any:
            return sample.mean(axis=axis)

        found = permutation_test((changes,), mean, permutation_type="samples", vectorized=True, n_resamples=20_000)
        return float(found.pvalue)
    from numpy.random import default_rng

    rng, tried, batch, as_far = default_rng(0), 20_000, 500, 0
    limit = abs(changes.sum()) * (1 - 1e-9)
    for _ in range(tried // batch):
        signs = 2.0 * rng.integers(0, 2, (batch, len(changes))) - 1.0
        as_far += int((abs(signs @ changes) >= limit).sum())
    return (as_far + 1) / (tried + 1)


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

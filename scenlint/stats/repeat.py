"""How repeated trials of one agent agree: pass@k, pass^k, consistency, over-dispersion, serial dependence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from math import comb
from typing import NamedTuple

from scenlint.stats import NotEnoughError
from scenlint.stats.words import count


def pass_at(k: int, passes: int, trials: int) -> float | None:
    """pass@k, unbiased: the probability that one of k trials passes; None where k > trials (Chen et al. 2021)."""
    return None if k > trials or k < 1 else 1 - comb(trials - passes, k) / comb(trials, k)


def pass_all(k: int, passes: int, trials: int) -> float | None:
    """pass^k, unbiased: the probability that k trials all pass; None where k > trials (Yao et al. 2024)."""
    return None if k > trials or k < 1 else comb(passes, k) / comb(trials, k)


def consistency(passes: int, trials: int) -> float | None:
    """The share of pairs of trials that ended alike; None for fewer than 2. Its expected value depends on the rate."""
    if trials < 2:
        return None
    failures = trials - passes
    return (passes * (passes - 1) + failures * (failures - 1)) / (trials * (trials - 1))


class Dispersion(NamedTuple):
    """Tarone's Z for more spread between blocks than one pass rate gives, and its one-sided p."""

    z: float
    p: float


def tarone(passes: Sequence[int], trials: Sequence[int]) -> Dispersion:
    """Whether blocks of trials differ by more than chance (Tarone 1979); needs 4 blocks, and outcomes that differ."""
    total = sum(trials)
    if len(trials) < 4:
        raise NotEnoughError(f"{count(len(trials), 'block')} of trials; over-dispersion needs 4")
    if max(trials) < 2:
        raise NotEnoughError("no block has 2 trials, and over-dispersion is about trials within blocks")
    p = sum(passes) / total if total else 0.0
    if not 0 < p < 1:
        raise NotEnoughError("all trials ended alike: there is no spread to test")
    from scipy.stats import norm

    spread = sum((y - n * p) ** 2 for y, n in zip(passes, trials, strict=True)) / (p * (1 - p))
    z = (spread - total) / math.sqrt(2 * sum(n * (n - 1) for n in trials))
    return Dispersion(z, float(norm.sf(z)))


def intraclass(passes: Sequence[int], trials: int) -> float:
    """Intraclass correlation of blocks of `trials` each (ANOVA, binary); may be below 0."""
    blocks = len(passes)
    if blocks < 2 or trials < 2:
        raise NotEnoughError("an intraclass correlation needs 2 blocks of 2 trials")
    rates = [y / trials for y in passes]
    mean = sum(rates) / blocks
    between = trials * sum((r - mean) ** 2 for r in rates) / (blocks - 1)
    within = sum(trials * r * (1 - r) for r in rates) / (blocks * (trials - 1))
    if between + (trials - 1) * within == 0:
        raise NotEnoughError("all trials ended alike: there is no spread to share out")
    return (between - within) / (between + (trials - 1) * within)


def fleiss_kappa(passes: Sequence[int], trials: int) -> float:
    """Agreement of `trials` repeats over scenarios beyond what chance gives (Fleiss 1971)."""
    if not passes or trials < 2:
        raise NotEnoughError("agreement needs a scenario with 2 trials")
    seen = sum((y * (y - 1) + (trials - y) * (trials - y - 1)) / (trials * (trials - 1)) for y in passes) / len(passes)
    rate = sum(passes) / (len(passes) * trials)
    chance = rate**2 + (1 - rate) ** 2
    if chance == 1:
        raise NotEnoughError("all trials ended alike: agreement beyond chance is not defined")
    return (seen - chance) / (1 - chance)


def runs(outcomes: Sequence[bool], *, more: bool = False) -> float:
    """Exact p that trials in this order have so few runs of equal outcomes, or so many (Wald and Wolfowitz 1940)."""
    n, m = sum(outcomes), len(outcomes) - sum(outcomes)
    if not n or not m:
        return 1.0
    seen = 1 + sum(a != b for a, b in pairwise(outcomes))
    counted = range(seen, n + m + 1) if more else range(2, seen + 1)
    return sum(_orders(r, n, m) for r in counted) / comb(n + m, n)


def _orders(runs: int, n: int, m: int) -> int:
    """In how many orders n and m outcomes of two kinds have so many runs."""
    k = runs // 2
    if runs % 2 == 0:
        return 2 * comb(n - 1, k - 1) * comb(m - 1, k - 1)
    return comb(n - 1, k) * comb(m - 1, k - 1) + comb(n - 1, k - 1) * comb(m - 1, k)

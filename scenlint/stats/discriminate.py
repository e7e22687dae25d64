"""Whether a scenario tells strong agents from weak ones: D, AUC, item-rest correlation, the 2PL model.

`passes[agent][scenario]` are counts of passes, each of the same number of trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scenlint.stats import NotEnoughError
from scenlint.stats.compare import boschloo
from scenlint.stats.intervals import Interval, newcombe
from scenlint.stats.words import count

LEAST_TRIALS = 8  # of each arm
LEAST_AGENTS = 5  # with 4 the smallest two-sided exact p is 0.083


class Arms(NamedTuple):
    """A strong arm against a weak one: D = difference of their pass rates, Newcombe's interval, AUC, one-sided p."""

    difference: float
    interval: Interval
    auc: float
    p: float  # Boschloo, strong > weak

    def label(self, q: float | None = None) -> str:
        """ "discriminates", "weak", "none" or "inverted"; `q` is the p adjusted for all scenarios looked at."""
        if self.interval.high < 0:
            return "inverted"
        if (self.p if q is None else q) <= 0.10 and self.difference >= 0.30:
            return "discriminates"
        return "none" if abs(self.difference) < 0.10 else "weak"


def arms(strong: tuple[int, int], weak: tuple[int, int]) -> Arms:
    """Compare (passes, trials) of a strong arm with those of a weak one."""
    if min(strong[1], weak[1]) < LEAST_TRIALS:
        raise NotEnoughError(f"{strong[1]} and {weak[1]} trials; comparing two arms needs {LEAST_TRIALS} of each")
    difference = strong[0] / strong[1] - weak[0] / weak[1]
    return Arms(
        difference, newcombe(*strong, *weak), (1 + difference) / 2, boschloo(*strong, *weak, alternative="greater")
    )


class ItemRest(NamedTuple):
    """How an agent's rate on a scenario goes with its rate on all others; None where there is no spread."""

    pearson: float | None
    spearman: float | None
    kendall: float | None


def item_rest(passes: Sequence[Sequence[int]], scenario: int) -> ItemRest:
    """The corrected item-rest correlations: the scenario itself is no part of the rest."""
    if len(passes) < LEAST_AGENTS:
        raise NotEnoughError(f"{count(len(passes), 'agent')}; a correlation over agents needs {LEAST_AGENTS}")
    own = [row[scenario] for row in passes]
    rest = [sum(row) - row[scenario] for row in passes]
    if len(set(own)) < 2 or len(set(rest)) < 2:
        return ItemRest(None, None, None)
    from scipy.stats import kendalltau, pearsonr, spearmanr

    return ItemRest(
        float(pearsonr(own, rest).statistic),
        float(spearmanr(own, rest).statistic),
        float(kendalltau(own, rest).statistic),
    )


def alpha(passes: Sequence[Sequence[int]]) -> float:
    """Cronbach's alpha of a suite: how far its scenarios measure one thing."""
    from numpy import array

    rates = array(passes, dtype=float)
    items = rates.shape[1]
    total = rates.sum(axis=1).var(ddof=1)
    if items < 2 or total == 0:
        raise NotEnoughError("alpha needs 2 scenarios and agents that differ")
    return float(items / (items - 1) * (1 - rates.var(axis=0, ddof=1).sum() / total))


class Curve(NamedTuple):
    """A scenario under the two-parameter logistic model: discrimination a, difficulty b, their standard errors."""

    a: float
    b: float
    error: float | None
    exploratory: bool  # fewer than 30 agents: abilities taken as given, priors on a and b
    error_b: float | None = None

    def passing(self, ability: float) -> float:
        """The probability that an agent of this ability passes."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.a * (ability - self.b)))))

    def information(self, ability: float) -> float:
        """Fisher information about the ability; its maximum, at b, is a²/4."""
        p = self.passing(ability)
        return self.a**2 * p * (1 - p)


def fit(passes: Sequence[int], trials: Sequence[int], abilities: Sequence[float], *, prior: bool = True) -> Curve:
    """Fit a scenario's curve to given abilities by maximum likelihood or MAP, a ~ LogNormal(0, ½) and b ~ N(0, 1)."""
    if len(set(abilities)) < 2:
        raise NotEnoughError("a curve needs agents of different abilities")
    if not prior and sum(passes) in (0, sum(trials)):
        raise NotEnoughError("all trials ended alike: without priors the curve is not identified")
    from numpy import array, exp, logaddexp
    from scipy.optimize import minimize

    y, n, theta = array(passes, dtype=float), array(trials, dtype=float), array(abilities, dtype=float)

    def loss(at: Sequence[float]) -> float:
        a, b = (exp(at[0]), at[1]) if prior else at
        eta = a * (theta - b)
        out = -(y * -logaddexp(0, -eta) + (n - y) * -logaddexp(0, eta)).sum()
        if prior:
            out += at[0] ** 2 / (2 * 0.5**2) + b**2 / 2
        return float(out)

    found = minimize(loss, [0.0, 0.0] if prior else [1.0, 0.0], method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})  # fmt: skip
    a, b = (float(exp(found.x[0])), float(found.x[1])) if prior else (float(found.x[0]), float(found.x[1]))
    p = 1 / (1 + exp(-a * (theta - b)))
    weight = n * p * (1 - p)
    # Expected information of (slope, intercept), whose slope is a.
    spread = weight.sum() * (weight * theta**2).sum() - (weight * theta).sum() ** 2
    error = float((weight.sum() / spread) ** 0.5) if spread > 0 else None
    if prior and error is not None:
        error = float((1 / error**2 + 1 / (0.5 * a) ** 2) ** -0.5)
    # Information of (a, b), with that of their priors; the difficulty's share of its inverse.
    slope = (weight * (theta - b) ** 2).sum() + (1 / (0.5 * a) ** 2 if prior else 0.0)
    cross, place = -a * (weight * (theta - b)).sum(), a**2 * weight.sum() + (1.0 if prior else 0.0)
    determinant = slope * place - cross**2
    error_b = float((slope / determinant) ** 0.5) if determinant > 0 else None
    return Curve(a, b, error, exploratory=len(passes) < 30, error_b=error_b)


def abilities(passes: Sequence[Sequence[int]], trials: int, scenario: int) -> list[float]:
    """Each agent's ability from the other scenarios only: the log-odds of its rate, half a trial added each way."""
    out = []
    for row in passes:
        others = len(row) - 1
        if others < 1:
            raise NotEnoughError("abilities come from other scenarios, and there are none")
        won, all_of = sum(row) - row[scenario] + 0.5, others * trials + 1
        out.append(math.log(won / (all_of - won)))
    return out

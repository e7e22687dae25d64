"""A run in figures: of each scenario (`Result`) and of the suite (`Summary`), as `summary.summarise` makes them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scenlint.grading.model import Run, Scenario
from scenlint.stats.compare import Mean
from scenlint.stats.intervals import Interval, Posterior, exact, wilson
from scenlint.stats.repeat import consistency, pass_all, pass_at


@dataclass(frozen=True)
class Spread:
    """Costs in USD or durations in seconds of trials. `known` of `trials` had a figure; the others' is not known."""

    trials: int
    known: int
    total: float | None = None
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        known = sorted(v for v in values if v is not None)
        if not known:
            return cls(len(values), 0)
        total = math.fsum(known)
        return cls(
            len(values), len(known), total, total / len(known), statistics.median(known), known[0], known[-1]
        )  # fmt: skip


@dataclass(frozen=True)
class Result:
    """One scenario of a run. Sequences are of its graded trials, in launch order."""

    scenario: Scenario
    passes: int
    trials: int  # graded
    excluded: int
    missing: int  # wanted, and not there
    outcomes: tuple[bool, ...] = ()
    rewards: tuple[float | None, ...] = ()  # None: ruled a failure without a verdict; cheating earns 0
    costs: tuple[float | None, ...] = ()  # USD
    durations: tuple[float, ...] = ()  # seconds, of the whole trial
    acting: tuple[float | None, ...] = ()  # seconds that the agent itself took
    ids: tuple[str, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)  # failure class -> graded trials
    exclusions: Mapping[str, int] = field(default_factory=dict)  # failure class -> excluded trials
    left_out: tuple[tuple[str, str, str], ...] = ()  # excluded trials: id, failure class, evidence
    spent: Spread = field(default_factory=lambda: Spread(0, 0))  # cost of all trials, excluded ones as well
    images: tuple[str, ...] = ()  # digests of the images that it ran in
    digests: tuple[str, ...] = ()  # of the tasks that it was; more than one where it changed meanwhile
    persons: tuple[tuple[str, str], ...] = ()  # trial, and why a person should look at it
    void: str = ""  # why none of its trials counts: misalignment, confirmed

    @property
    def rate(self) -> float | None:
        """Pass rate; None without a graded trial."""
        return self.passes / self.trials if self.trials else None

    @property
    def interval(self) -> Interval:
        """Wilson's, of the pass rate, 95 %."""
        return wilson(self.passes, self.trials)

    @property
    def exact(self) -> Interval:
        """Clopper and Pearson's."""
        return exact(self.passes, self.trials)

    @property
    def posterior(self) -> Posterior:
        """From Jeffreys' prior."""
        return Posterior.of(self.passes, self.trials)

    @property
    def consistency(self) -> float | None:
        """The share of pairs of trials that ended alike; None for fewer than 2."""
        return consistency(self.passes, self.trials)

    @property
    def reward(self) -> float | None:
        """Mean reward of the graded trials that have one."""
        known = [r for r in self.rewards if r is not None]
        return math.fsum(known) / len(known) if known else None

    @property
    def without_verdict(self) -> int:
        """Failures that rest on the table alone: a fault after the agent began that no control runs into."""
        return self.rewards.count(None)

    def pass_at(self, k: int) -> float | None:
        """The probability that one of k trials passes, unbiased; None where k is more than were graded."""
        return pass_at(k, self.passes, self.trials)

    def pass_all(self, k: int) -> float | None:
        """The probability that k trials all pass, unbiased."""
        return pass_all(k, self.passes, self.trials)


@dataclass(frozen=True)
class Total:
    """A mean over all graded trials of a suite, its standard error clustered by scenario, and its 95 % interval."""

    mean: Mean
    interval: Interval | None  # None: one scenario, or none


@dataclass(frozen=True)
class Summary:
    """A run in figures."""

    run: Run
    results: tuple[Result, ...]  # in the order of the run's scenarios
    rate: Total | None  # None: no trial was graded
    reward: Total | None
    notes: tuple[str, ...] = ()  # what a person should look at
    models: tuple[str, ...] = ()  # that the trials say they used

    @property
    def complete(self) -> bool:
        """Whether every scenario has the trials that were wanted."""
        return all(not r.missing for r in self.results)

    @property
    def partial(self) -> bool:
        """Whether some trial earned part of the reward: then its mean says more than the pass rate."""
        return any(r is not None and 0 < r < 1 for result in self.results for r in result.rewards)

    @property
    def consistency(self) -> float | None:
        """The mean of the scenarios' consistency."""
        return _mean(r.consistency for r in self.results)

    def pass_at(self, k: int) -> float | None:
        """The mean of the scenarios' pass@k; None unless each graded one has k trials."""
        return _mean([r.pass_at(k) for r in self.results if r.trials], whole=True)

    def pass_all(self, k: int) -> float | None:
        """The mean of the scenarios' pass^k; None unless each graded one has k trials."""
        return _mean([r.pass_all(k) for r in self.results if r.trials], whole=True)

    @property
    def cost(self) -> Spread:
        """What the graded trials cost."""
        return Spread.of([c for r in self.results for c in r.costs])

    @property
    def duration(self) -> Spread:
        """How long the graded trials took."""
        return Spread.of([d for r in self.results for d in r.durations])

    @property
    def spent(self) -> float | None:
        """What all trials cost, the excluded ones as well, as far as it is known."""
        known = [r.spent.total for r in self.results if r.spent.total is not None]
        return math.fsum(known) if known else None

    def classes(self, which: str = "failures") -> Counter[str]:
        """Failure classes of all graded trials, or ("exclusions") of the excluded ones."""
        return sum((Counter(getattr(r, which)) for r in self.results), Counter[str]())


def _mean(values: Iterable[float | None], *, whole: bool = False) -> float | None:
    values = list(values)
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) if known and not (whole and len(known) < len(values)) else None

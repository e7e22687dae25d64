"""The signals of one type of task: control charts for shares of outcomes, and a trend test for costs.

Each alarms falsely at most once in `WatchSettings.every` outcomes on average, if outcomes are independent:
a chart by its exact run length, with a usual rate that is stated, or that is the upper 95% limit of what was learnt;
the costs because of N looks at level p, N p come out below it, however they overlap.
An alert stays open until its signal is back where it was, and is counted once.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from scenlint.grading.watch.model import Change
from scenlint.grading.watch.settings import Expected
from scenlint.stats.intervals import exact
from scenlint.stats.series import FailureCusum, seasonal

RECENT = 100  # outcomes whose rate is shown
ODDS = 2.0  # times the usual odds: the rate that is looked for where none is stated
LOWEST, HIGHEST = 0.001, 0.999  # usual rates that a chart can be made for
COSTS, LOOK, ENDED = 400, 100, 0.1  # costs in a trend; costs between two looks; p above which a trend is none any more


class RateSignal:
    """Watches in which share of outcomes something happens: a count above `level`, which is 0 unless that is usual."""

    def __init__(self, expected: Expected, every: int, learn: int, state: dict[str, Any] | None = None) -> None:
        self.expected, self.every, self.learn = expected, every, learn
        state = state or {}
        self.seen: int = state.get("seen", 0)
        self.recent: str = state.get("recent", "")  # of the last outcomes, 1 where it happened
        self.learning: list[int] = state.get("learning", [])  # counts, until there are enough
        self.learnt: list[int] | None = state.get("learnt")  # of the outcomes learnt from: in which, of how many
        self.level: int = state.get("level", 0)
        if self.level and (expected.usual, expected.alert) != (None, None):  # these are about outcomes with any
            self.level, self.learnt = 0, None
        self.open: bool = state.get("open", False)
        self.run, self.hits = state.get("run", 0), state.get("hits", 0)  # since the chart was last at 0, of the change
        self.chart: FailureCusum | None = None
        self.usual = self.raised = math.nan
        kept = state.get("chart")
        if kept and kept["for"] == self._made_for():
            self.usual, self.raised = kept["rates"]
            self.chart = FailureCusum(self.usual, self.raised)
            self.chart.failure, self.chart.success, self.chart.threshold, self.chart.value = kept["counts"]
        else:  # what was counted under other settings says nothing under these
            self.open, self.run, self.hits = False, 0, 0
            self._begin()

    def take(self, count: int) -> Change | None:
        """Take in an outcome in which it happened so many times."""
        self.seen += 1
        happened = count > self.level
        self.recent = (self.recent + "01"[happened])[-RECENT:]
        if self.chart is None:
            self._study(count)
            return None
        due = self.chart.add(happened)
        self.run, self.hits = self.run + 1, self.hits + happened
        if self.chart.value == 0:
            self.run = self.hits = 0
        if due:
            self.chart.value = self.chart.threshold  # so that it comes back when the rate does
        if due and not self.open:
            self.open = True
            return Change.RAISED
        if self.open and self.chart.value == 0:
            self.open = False
            return Change.ENDED
        return None

    def _study(self, count: int) -> None:
        self.learning.append(count)
        if len(self.learning) < self.learn:
            return
        # Where most outcomes have some, more than usual is what tells.
        self.level = next(k for k in sorted({0, *self.learning}) if self._above(k) <= len(self.learning) / 2)
        if self.expected.alert is not None or max(self.learning) <= 1:
            self.level = 0
        self.learnt = [self._above(self.level), len(self.learning)]
        self.learning = []
        self._begin()
        if self.chart is None:  # it happens nearly always, so that nothing can get worse: perhaps that changes
            self.learnt = None

    def _above(self, level: int) -> int:
        return sum(count > level for count in self.learning)

    def _begin(self) -> None:
        """Make the chart, if the usual rate is known."""
        usual, raised = self.expected.usual, self.expected.alert
        if usual is None and self.learnt is not None:
            # The upper limit: were the true rate above the one that the chart is made for, it would alarm too often.
            seen, of = self.learnt
            usual = exact(seen, of, level=0.9).high
            if raised is not None and raised <= usual:
                usual, raised = raised, None  # no alarm while the rate is on the right side of the threshold
        if usual is None or usual > HIGHEST:
            return
        self.usual = max(usual, LOWEST)
        odds = ODDS * self.usual / (1 - self.usual)
        self.raised = odds / (1 + odds) if raised is None else raised
        self.chart = FailureCusum.rare(self.usual, self.raised, self.every)

    def _made_for(self) -> list[Any]:
        return [self.expected.usual, self.expected.alert, self.every, self.learnt]

    def state(self) -> dict[str, Any]:
        """What `__init__` goes on from."""
        kept = ("seen", "recent", "learning", "learnt", "level", "open", "run", "hits")
        out = {k: getattr(self, k) for k in kept}
        if (chart := self.chart) is not None:
            counts = [chart.failure, chart.success, chart.threshold, chart.value]
            out["chart"] = {"for": self._made_for(), "rates": [self.usual, self.raised], "counts": counts}
        return out


class CostSignal:
    """Watches costs for a climb: every so many, Mann and Kendall's test on the last ones; outliers do not move it."""

    def __init__(self, every: int, rise: float, state: dict[str, Any] | None = None) -> None:
        self.level = min(0.05, LOOK / every)  # one look in LOOK outcomes: one false alarm in `every`
        self.rise = rise
        state = state or {}
        self.seen: int = state.get("seen", 0)
        self.costs: list[float] = state.get("costs", [])
        self.open: bool = state.get("open", False)
        self.climbed: float = state.get("climbed", 0.0)  # by which share, when the alert was raised

    def take(self, cost: float) -> Change | None:
        """Take in the cost of an outcome."""
        self.seen += 1
        self.costs.append(cost)
        if self.seen % LOOK:
            return None
        del self.costs[:-COSTS]
        p = self._climbs()
        if self.open:
            if p <= ENDED:
                return None
            self.open = False
            return Change.ENDED
        if p <= self.level and (climbed := _climb(self.costs)) >= self.rise:
            self.open, self.climbed = True, climbed
            return Change.RAISED
        return None

    def _climbs(self) -> float:
        """One-sided p that the costs climb."""
        if len(set(self.costs)) < 2:
            return 1.0
        z, p = seasonal([self.costs])
        return p / 2 if z > 0 else 1 - p / 2

    @property
    def typical(self) -> float | None:
        """The median of the last costs."""
        return median(self.costs) if self.costs else None

    def state(self) -> dict[str, Any]:
        """What `__init__` goes on from."""
        costs = [float(f"{cost:.6g}") for cost in self.costs]
        return {"costs": costs, **{k: getattr(self, k) for k in ("seen", "open", "climbed")}}


def _climb(costs: list[float]) -> float:
    """By which share of where they began the costs have climbed, by Theil and Sen's slope."""
    from scipy.stats import theilslopes

    slope, middle = float(theilslopes(costs)[0]), median(costs)
    begin = middle - slope * (len(costs) - 1) / 2
    return slope * (len(costs) - 1) / (begin if begin > 0 else middle or 1.0)

"""What a diff says: of every scenario what was compared, and the lines that changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from scenlint.grading.results import Result, Summary
from scenlint.stats.compare import Paired
from scenlint.stats.intervals import Interval

SUITE = "suite"  # what a line is about that is about no single scenario


class Kind(StrEnum):
    """What a changed line is about; docs/diff.md says from when on each is one."""

    ADDED = "added"
    REMOVED = "removed"
    ENVIRONMENT = "environment"
    UNGRADED = "ungraded"
    PASS_RATE = "pass-rate"
    REWARD = "reward"
    FAILURE_CLASS = "failure-class"
    COST = "cost"
    TIME = "time"


@dataclass(frozen=True)
class Line:
    """A change that somebody has to decide about."""

    scenario: str  # its key, or SUITE
    task: str
    kind: Kind
    text: str
    facts: Mapping[str, Any]  # what a decision is about, as JSON
    worse: bool | None = None  # None: neither better nor worse by itself

    @property
    def name(self) -> str:
        return f"{self.scenario}:{self.kind}"

    @property
    def digest(self) -> str:
        """Of what it says: a decision does not hold for a line that says something else by now."""
        text = json.dumps([self.name, self.facts], sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Moved(NamedTuple):
    """Costs or times: how many times as high they are, and by how much chance that is (false discovery controlled)."""

    ratio: float
    q: float
    trials: tuple[int, int]


class Rewards(NamedTuple):
    """Mean rewards where some are partial, and by how much chance they differ (false discovery controlled)."""

    before: float
    after: float
    q: float


@dataclass
class Compared:
    """One scenario in both runs. None: not compared, or not enough trials to say."""

    key: str
    task: str
    before: Result | None = None
    after: Result | None = None
    environment: tuple[str, ...] = ()  # what of it changed; then nothing else is compared
    interval: Interval | None = None  # of the change of the pass rate, 95 %
    fall: tuple[float, float] | None = None  # p that the rate fell, and the same with false discovery controlled
    rise: tuple[float, float] | None = None
    noticed: tuple[int | None, int | None] = (None, None)  # passes down to which a fall is noticed: alone, among all
    reward: Rewards | None = None  # where some are partial: then the pass rate does not say everything
    cost: Moved | None = None
    time: Moved | None = None

    @property
    def comparable(self) -> bool:
        """Whether its outcomes were compared."""
        return self.fall is not None

    @property
    def change(self) -> float | None:
        """Of the pass rate."""
        if not self.comparable or self.before is None or self.after is None:
            return None
        assert self.before.rate is not None
        assert self.after.rate is not None
        return self.after.rate - self.before.rate


@dataclass
class Diff:
    """A run against its baseline."""

    baseline: Summary
    run: Summary
    scenarios: list[Compared]  # in the order of their keys
    lines: list[Line]
    suite: Paired | None = None  # over the compared scenarios
    notes: list[str] = field(default_factory=list)

    @property
    def compared(self) -> list[Compared]:
        return [s for s in self.scenarios if s.comparable]

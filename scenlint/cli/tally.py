"""How far a run of trials has come: how many have ended, what they cost, and how long it may take yet."""

from __future__ import annotations

import time
from collections.abc import Callable

from scenlint.task.record import TrialRecord


class Tally:
    """Counts trials; not safe for threads by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        self.all = self.done = 0
        self._left_out = 0
        self.cost: float | None = None  # USD, as far as it is known

    def planned(self, trials: int) -> None:
        if self._began is None:
            self._began = self._clock()
        self.all += trials

    def ended(self, record: TrialRecord) -> None:
        self.done += 1
        if record.cost_usd is not None:
            self.cost = (self.cost or 0.0) + record.cost_usd

    def left_out(self, trials: int) -> None:
        self.done += trials
        self._left_out += trials

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes if it goes on as it went; None where that cannot be told yet."""
        ran = self.done - self._left_out
        if not ran or self._began is None or self.done >= self.all:
            return None
        return (self._clock() - self._began) / ran * (self.all - self.done)

    @property
    def more(self) -> str:
        """Cost and time left in words, each after a comma; "" where neither is known."""
        cost = "" if self.cost is None else f", {self.cost:.2f} USD"
        left = self.left
        return cost + ("" if left is None else f", {_about(left)} left")

    def __str__(self) -> str:
        return f"{self.done} of {self.all} trials{self.more}"


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"

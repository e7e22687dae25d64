"""Times several ways of doing one thing in turn, so that a slow minute hits all of them; prints figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Way = TypeVar("Way")


def in_turn(ways: Mapping[Way, Callable[[], object]], rounds: int = 1) -> dict[Way, list[float]]:
    """Seconds of wall time by way, one for each round."""
    times: dict[Way, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, do in ways.items():
            began = time.perf_counter()
            do()
            times[way].append(time.perf_counter() - began)
    return times


def figure(what: str, ours: str, other: str = "") -> None:
    """Print a figure of the table that table.py makes: what it is, ours, and what it is compared with."""
    print(f"= {what} | {ours} | {other}", flush=True)


def spread(times: list[float]) -> str:
    return f"{min(times):.2f}–{max(times):.2f}"

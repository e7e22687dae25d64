"""What is watched: an outcome of production, the signals in it, and an alert that one of them gave."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Signal(StrEnum):
    """What is watched of each type of task. Of all but the cost, the share of outcomes in which it happened."""

    SUCCESS = "success"  # watched for failures
    TOOL_ERRORS = "tool-errors"
    OVERRIDES = "overrides"  # a person took over, or put the result right
    RETRIES = "retries"
    COST = "cost"


RATES = tuple(s for s in Signal if s is not Signal.COST)


class Outcome(NamedTuple):
    """One piece of work that an agent has ended. None: it is not known, and counts for nothing."""

    task_type: str
    success: bool | None
    time: str = ""  # ISO 8601, UTC; "" where it is not known
    cost: float | None = None  # in US dollars, not below 0
    tool_errors: int | None = None
    overrides: int | None = None
    retries: int | None = None


class Change(StrEnum):
    RAISED = "raised"
    ENDED = "ended"


@dataclass(frozen=True)
class Alert:
    """An alert that a signal of one type of task raised, or the end of one."""

    change: Change
    signal: Signal
    task_type: str
    number: int  # of the outcome of this type at which it came, from 1
    at: str  # when that outcome was
    text: str  # what happened, in words

    @property
    def title(self) -> str:
        return f"{self.task_type}: {self.text}"

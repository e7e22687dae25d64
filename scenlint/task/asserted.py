"""The values that a verifier compares the agent's work with, as far as they stand in its code."""

from __future__ import annotations

import re

from scenlint.source.text import Span
from scenlint.task.model import Task


def asserted(task: Task) -> dict[str, Span]:
    """The values that checks compare what the agent made with, and where; those that a brief states are left out."""
    out: dict[str, Span] = {}
    for comparison in (c for check in task.checks for c in check.comparisons):
        value = comparison.constant
        decides = comparison.produced and comparison.has_constant and comparison.operator in ("==", "is", "in")
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        if decides and plain and len(str(value)) > 1 and not any(says(b.prose.text, str(value)) for b in task.briefs):
            out.setdefault(str(value), comparison.constant_span or comparison.span)
    return out


def says(text: str, value: str) -> bool:
    """Whether a value stands in a text as a word or number of its own."""
    return value in text and re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", text) is not None

"""The places of a document's keys and values, as offsets into its text; what the readers of each language hand over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_DEPTH = 200  # levels of nesting; deeper documents are refused, so that nobody who walks a value can overflow
MAX_NODES = 500_000  # values after expansion of aliases


@dataclass(slots=True)
class Node:
    """Where a value stands, [start, end), how a scalar is written, and the nodes below it with their keys' places."""

    start: int
    end: int
    style: str = "raw"  # how to undo it: raw json toml plain ' " | >
    items: dict[Any, Node] = field(default_factory=dict)  # by key or list position
    keys: dict[Any, tuple[int, int]] = field(default_factory=dict)


class Problem(NamedTuple):
    """Why a text is no document of its language, and the offsets of the place."""

    message: str
    start: int
    end: int


@dataclass
class Parsed:
    """A reader's result. The tree is made when a place is first asked for."""

    value: Any = None
    problem: Problem | None = None
    tree: Callable[[], Node] | None = None
    duplicates: Callable[[], list[tuple[int, int]]] | None = None


def at(message: str, text: str, offset: int, length: int = 1) -> Problem:
    """A problem at an offset: one character of the line, or nothing where the line or the text ends."""
    offset = max(0, min(offset, len(text)))
    end = min(offset + length, len(text))
    while end > offset and text[end - 1] in "\r\n":
        end -= 1
    return Problem(message, offset, end)


def too_deep(value: Any) -> bool:
    """Whether plain nested lists and dicts go deeper than MAX_DEPTH."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep, which is more than is read"

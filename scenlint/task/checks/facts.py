"""What is found out while a verifier is followed: facts by number, so that a value carries them as a bit mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scenlint.source.python import PyModule
from scenlint.source.pyvalue import Value
from scenlint.source.text import Span
from scenlint.task.checks.model import Access, Comparison, Key, Name


@dataclass(frozen=True)
class Source:
    """Where data come from other than a file: command, http, database, import, stdin, solution, context."""

    kind: str
    text: str
    span: Span


@dataclass(frozen=True)
class Asked:
    """A test that asks no more than whether something is there."""

    span: Span


@dataclass(frozen=True)
class Judged:
    """A test of produced data by means that cannot be seen through."""

    span: Span


Fact = Access | Key | Name | Comparison | Source | Asked | Judged


@dataclass(frozen=True)
class Place:
    """A node and the module it stands in."""

    module: PyModule
    node: ast.AST

    @property
    def span(self) -> Span:
        return self.module.span(self.node)


@dataclass(frozen=True)
class Step:
    """A call on the way to a place, and the function that it entered."""

    call: Place
    function: ast.AST | None
    module: PyModule  # of the function


@dataclass(frozen=True)
class Failure:
    """A way in which the followed code can fail: what fails, under which tests, and the exception that says so."""

    place: Place
    kind: str  # "assert", "raise", "exit", "fail" or "implicit" (an operation that raises by itself)
    exception: str
    why: int
    data: int
    value: Value | None = None
    stack: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Output:
    """Something written: "print", "write" to a file (its paths in `to`), or "exit" with a status."""

    kind: str
    value: Value
    place: Place
    why: int
    stack: tuple[Step, ...]  # the calls that led here, innermost first
    to: Value | None = None


@dataclass(frozen=True)
class Event:
    """Something that rules ask about and that is no fact of a check.

    "loads": the submission enters the verifier's process.
    "revives": data of the agent's making are read by means that run what they bring along (pickle and its like).
    "starts": it is started as a process (`note` says how it is kept apart, "" for not at all).
    "swallows": a handler catches failures that tell of the work (`note`: "assert", "data" or both).
    "idle": a script that compares, and whose end does not depend on what comes out.
    "endpoint": where a request or a `docker exec` goes (`note`: the URLs, or `container NAME`, a line each).
    "relative": a path that starts from whatever the working directory is (`note`).
    "moved": a path that starts from a folder that was changed to (`note`: as written, and as it then is, a line each).
    """

    kind: str
    span: Span
    note: str = ""
    place: Place | None = None  # the node behind it, in Python


class Facts:
    """Facts in the order found; the same fact of the same place is kept once."""

    def __init__(self) -> None:
        self.list: list[Fact] = []
        self._known: dict[Any, int] = {}
        self._basis: dict[int, int] = {}  # a test's bit -> the data that it looks at
        self.produced = 0  # mask: data of the agent's making
        self.accesses = 0
        self.comparisons = 0
        self.content = 0  # mask: tests that judge content
        self.presence = 0  # mask: tests that ask for presence
        self.touched = 0  # mask: what was found, or found again, since it was last set to 0

    def add(self, fact: Fact, *, produced: bool = False, basis: int = 0) -> int:
        """The fact's bit. `basis` is the data that a test looks at."""
        mark = (type(fact), fact.span.source.path, fact.span.start, fact.span.end, _detail(fact))
        bit = self._known.get(mark)
        if bit is None:
            bit = self._known[mark] = 1 << len(self.list)
            self.list.append(fact)
            if produced:
                self.produced |= bit
            if isinstance(fact, Access | Source):
                self.accesses |= bit
            elif isinstance(fact, Comparison):
                self.comparisons |= bit
                if fact.produced and (fact.presence or fact.selects):
                    self.presence |= bit
                elif fact.produced:
                    self.content |= bit
            elif isinstance(fact, Asked):
                self.presence |= bit
            elif isinstance(fact, Judged):
                self.content |= bit
        if basis:
            self._basis[bit] = self._basis.get(bit, 0) | basis
        self.touched |= bit
        return bit

    def of(self, mask: int) -> Iterator[Fact]:
        """The facts of a mask, in order."""
        while mask:
            low = mask & -mask
            yield self.list[low.bit_length() - 1]
            mask ^= low

    def whole(self, mask: int) -> int:
        """The mask with the data that its tests look at."""
        rest = mask
        while rest:
            low = rest & -rest
            mask |= self._basis.get(low, 0)
            rest ^= low
        return mask

    def paths(self, mask: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f.path for f in self.of(mask & self.accesses) if isinstance(f, Access)))

    def since(self, count: int) -> int:
        """The mask of all facts found after the first `count`."""
        return (1 << len(self.list)) - (1 << count)


def _detail(fact: Fact) -> Any:
    if isinstance(fact, Access):
        return fact.path, fact.how
    if isinstance(fact, Comparison):
        return fact.operator, repr(fact.constant)[:200], fact.produced, fact.selects, fact.presence
    if isinstance(fact, Key | Name):
        return fact.name
    return getattr(fact, "text", "")

"""What is known of one graded assertion: what it reads, what it compares, and which criterion it names."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from scenlint.source.text import Fragment, Span


class Dialect(StrEnum):
    """The way in which a verifier states its checks."""

    TEST = "test"  # pytest or unittest functions
    POINTS = "points"  # [PASS] (Npt) label
    CASE = "case"  # DeepGym cases
    GRADER = "grader"  # a Waza grader that is not run (text, file, json_schema …)
    COMMAND = "command"  # a packet's check, a shell test, a script whose exit status decides


class How(StrEnum):
    """What is done with a path."""

    READ = "read"
    EXISTS = "exists"
    LIST = "list"
    RUN = "run"
    WRITE = "write"


@dataclass(frozen=True)
class Access:
    """A path that a check touches, as far as names, joins and loops resolve it; `*` is an unknown part.

    The verifier's own files, temporary files and the verdict are left out. Relative paths stay as they are written,
    behind a `cd` joined to the folder that was changed to.
    """

    path: str
    how: How
    span: Span


@dataclass(frozen=True)
class Key:
    """A key, column, table or field that is read from data the verifier did not make itself."""

    name: str
    span: Span
    paths: tuple[str, ...] = ()  # the files it may be read from
    default: bool = False  # read with a default or only asked for, so that its absence is no failure in itself


@dataclass(frozen=True)
class Name:
    """A module, function, class or attribute of the agent's code that the verifier uses."""

    name: str
    kind: str  # "module", "attribute", "argument" (a keyword that a call gives)
    span: Span


@dataclass(frozen=True)
class Comparison:
    """One comparison that decides the check: operator as written, the constant side if one is, the span of it all.

    `produced` tells whether the other side comes from what the agent made (a read file, a command's output, a reply).
    """

    operator: str  # == != < <= > >= in "not in" is "is not" matches startswith endswith
    constant: Any
    has_constant: bool
    produced: bool
    span: Span
    constant_span: Span | None = None
    presence: bool = False  # it asks no more than whether something is there
    selects: bool = False  # it picks the record to look at; it does not judge it
    tolerance: float | None = None  # `==` within this distance
    key: str | None = None  # the key or column whose value is compared
    paths: tuple[str, ...] = ()  # the files that the compared value may come from
    sources: tuple[str, ...] = ()  # what else it may come from: "command", "http", "database", "import", "stdin" …
    against: tuple[str, ...] = ()  # the files outside the verifier that the other side comes from


@dataclass
class Check:
    """One graded assertion, whatever its dialect. `node` is the Python function or statement behind it, if any."""

    id: str
    label: str  # docstring, printed label or grader name: what a reader is told
    span: Span
    fragment: Fragment
    dialect: Dialect
    weight: float | None = None
    required: bool = True
    node: ast.AST | None = None
    accesses: list[Access] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    criteria: list[str] = field(default_factory=list)  # criteria it names outright: "3", "cwe"
    can_fail: bool = True  # False: no outcome of the agent's work makes it fail
    existence_only: bool = False  # it asserts no more than that something is there
    complete: bool = True  # False: it was too large to be followed to its end

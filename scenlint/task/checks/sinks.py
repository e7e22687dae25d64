"""What is kept of a place where a verdict is decided, and what its facts make of a check."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from scenlint.source.python import PyModule
from scenlint.source.text import Span
from scenlint.task.checks.criteria import named
from scenlint.task.checks.facts import Facts, Failure
from scenlint.task.checks.model import Access, Check, Comparison, Key, Name

# Exceptions of operations that say no more than that a file, module or parsable text is there.
NEUTRAL = frozenset(
    ["OSError", "ImportError", "ValueError", "SolutionError", "csvError", "YAMLError", "AttributeError"]
)


@dataclass
class Sink:
    """A place where the verdict is decided, before sinks of one check are put together."""

    label: str
    span: Span
    module: PyModule
    node: ast.AST | None
    mask: int = 0
    why: int = 0
    weight: float | None = None
    can_fail: bool = False
    can_pass: bool = False
    failures: list[Failure] = field(default_factory=list)


def fill(check: Check, facts: Facts, mask: int) -> None:
    """Hand the facts of a mask to a check."""
    for fact in facts.of(facts.whole(mask)):
        if isinstance(fact, Access):
            check.accesses.append(fact)
        elif isinstance(fact, Key):
            check.keys.append(fact)
        elif isinstance(fact, Name):
            check.names.append(fact)
        elif isinstance(fact, Comparison):
            check.comparisons.append(fact)
    check.criteria = named(f"{check.id}\n{check.label}")


def existence_only(facts: Facts, failures: list[Failure]) -> bool:
    """Whether all that can fail asks no more than whether something is there."""
    seen = False
    for failure in failures:
        mask = failure.why | (failure.value.all_why if failure.value else 0)
        if mask & facts.content:
            return False
        if failure.kind == "implicit":
            if failure.exception not in NEUTRAL:
                return False
            seen |= bool(failure.data & facts.produced)
        elif not mask & facts.presence:
            return False
        else:
            seen = True
    return seen

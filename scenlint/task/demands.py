"""What a verifier demands of the agent's work: each path, key, name, wording and threshold once, with the check behind it.

The rules about unstated and contradicted demands read these; what the agent can see is asked of `Task.visible`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scenlint.source.text import Span
from scenlint.task.checks.model import Access, Check, Comparison, How
from scenlint.task.model import Contract, Task

# Places that belong to the system, the harness or nobody in particular.
_FOREIGN = re.compile(
    r"^/(?:bin|boot|dev|etc|lib\w*|logs|oracle|proc|run|sbin|solution|sys|tests|tmp|usr|var/(?:cache|lib|log|run|tmp))(?:/|$)"
)
_READER_WORDS = re.compile(r"[A-Za-z_][\w-]{2,}")


@dataclass(frozen=True)
class Demand:
    """One demand: what (path, key, name, wording or number), where it stands in the verifier, and which check makes it."""

    what: Any
    span: Span
    check: Check
    kind: str = ""


def paths(task: Task) -> Iterator[Demand]:
    """Files of the agent's work that a check opens, runs or wants to exist; inputs and the system's own left out."""
    seen = set()
    for check in task.checks:
        read = {a.path for a in check.accesses if a.how in (How.READ, How.RUN)}
        for access in check.accesses:
            if access.path not in seen and _wanted(access, read, check):
                seen.add(access.path)
                if not task.visible.exists(access.path):
                    yield Demand(access.path, access.span, check)


def _wanted(access: Access, read: set[str], check: Check) -> bool:
    name = access.path.rstrip("/").rpartition("/")[2]
    if not name or "*" in access.path or access.how in (How.LIST, How.WRITE) or _FOREIGN.match(access.path):
        return False
    # "If this is there, look at it" is no demand; a check that opens the file or is about its existence is one.
    return access.path in read or check.existence_only


def keys(task: Task) -> Iterator[Demand]:
    """Keys, columns and fields that a check reads from files the agent made."""
    if task.verifier is None or task.verifier.contract is Contract.POINT_LINES:
        return  # what an application's own interface answers is no demand on the agent
    own = _own_keys(task)
    seen = set()
    for check in task.checks:
        for key in check.keys:
            made = [p for p in key.paths if not task.visible.exists(p)]
            if key.name in seen or key.default or not made or key.name in own or not _READER_WORDS.search(key.name):
                continue
            seen.add(key.name)
            yield Demand(key.name, key.span, check)
        for name in check.names:
            if name.kind == "argument" and name.name not in seen:
                seen.add(name.name)
                yield Demand(name.name, name.span, check, "argument")


def names(task: Task) -> Iterator[Demand]:
    """Modules, functions, classes and attributes of the agent's code that a check uses."""
    seen = set()
    for check in task.checks:
        for name in check.names:
            if name.kind != "argument" and name.name not in seen and not name.name.startswith("__"):
                seen.add(name.name)
                yield Demand(name.name, name.span, check, name.kind)


def _own_keys(task: Task) -> frozenset[str]:
    """Keys of tables that the verifier's own code makes (and may print for itself to read)."""
    import ast

    from scenlint.source.python import parse

    out = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        for node in ast.walk(parse(fragment).tree):
            if isinstance(node, ast.Dict):
                out |= {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    return frozenset(out)


def wordings(task: Task) -> Iterator[Demand]:
    """Literal text that a check wants in a certain place: markers, prefixes, endings, and the fixed parts of patterns.

    Whole values compared with `==` are left out: they are answers, which the agent has to find.
    """
    seen = set()
    for check in task.checks:
        for comparison in check.comparisons:
            if not comparison.produced or comparison.selects or not isinstance(comparison.constant, str):
                continue
            made = [p for p in comparison.paths if not task.visible.exists(p)]
            if comparison.operator == "matches" and (made or "fullmatch(" in comparison.span.text):
                found = fixed_parts(comparison.constant)
            elif comparison.operator in ("startswith", "endswith") and made:
                found = [comparison.constant]
            else:
                continue
            for part in found:
                text = part.strip()
                if len(re.findall(r"\w", text)) >= 2 and text not in seen:
                    seen.add(text)
                    yield Demand(text, comparison.constant_span or comparison.span, check, comparison.operator)


def fixed_parts(pattern: str) -> list[str]:
    """The runs of literal characters that every match of a pattern must hold; [] where it is no pattern."""
    import re._parser as parser  # the only reader of Python's patterns there is

    try:
        parsed = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return []
    runs, run, ignore_case = [], "", bool(parsed.state.flags & re.IGNORECASE)

    def walk(items: Any) -> None:
        nonlocal run
        for op, argument in items:
            name = str(op)
            if name == "LITERAL":
                run += chr(argument)
            elif name == "SUBPATTERN":
                walk(argument[3])
            elif name == "AT":
                continue
            elif name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] == argument[1] == 1:
                walk(argument[2])
            else:
                flush()

    def flush() -> None:
        nonlocal run
        if run:
            runs.append(run)
        run = ""

    walk(parsed)
    flush()
    return [r.lower() for r in runs] if ignore_case else runs


def thresholds(task: Task) -> Iterator[Demand]:
    """Numbers that bound what the agent made in an inequality; sanity bounds (0, 1, -1) left out."""
    seen = set()
    for check in task.checks:
        for comparison in check.comparisons:
            number = comparison.constant
            if (
                comparison.operator in ("<", "<=", ">", ">=")
                and comparison.produced
                and not comparison.presence
                and not comparison.selects
                and isinstance(number, int | float)
                and not isinstance(number, bool)
                and math.isfinite(number)
                and abs(number) not in (0, 1)
                and (number, comparison.operator[0]) not in seen
                and not _is_window(comparison, check)
            ):
                seen.add((number, comparison.operator[0]))
                yield Demand(number, comparison.constant_span or comparison.span, check, comparison.operator)


def _is_window(comparison: Comparison, check: Check) -> bool:
    """Whether the same line bounds from the other side too: then the two stand around the right answer."""
    return any(
        other.operator in ("<", "<=", ">", ">=")
        and other.operator[0] != comparison.operator[0]
        and other.span.line == comparison.span.line
        and other.has_constant
        for other in check.comparisons
    )


def oracle_writes(task: Task, text: str) -> bool:
    """Whether the reference solution holds a text, which shows that it is part of the work and not of the environment."""
    fragments = [task.oracle.entry, *task.oracle.files] if task.oracle else []
    return any(text in fragment.text for fragment in fragments)

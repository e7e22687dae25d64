"""Literal text that a check wants in a certain place: markers, prefixes, endings, and the fixed parts of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scenlint.task.checks.model import Check, Comparison, Dialect
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.model import Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

_MARKER = re.compile(r"[\[(<#=*-]*\s*[A-Za-z][\w ./-]{0,40}[\w\])]\s*(?::+|=+|->|=>|>+)\s*")
_STATUS = re.compile(r"[a-z]+(?:[_-][a-z]+)+|[A-Z]+(?:[_-][A-Z]+)*")


def wordings(task: Task) -> Iterator[Demand]:
    """Each text once. Whole values compared with `==` are answers, which the agent has to find; they are left out."""
    ground = Ground(task)
    seen: set[str] = set()
    for check, visible in ground.checks():
        places: dict[tuple[int, int], set[str]] = {}
        for c in check.comparisons:
            places.setdefault((c.span.start, c.span.end), set()).add(repr(c.constant))
        for comparison in check.comparisons:
            if not comparison.produced or comparison.selects or not isinstance(comparison.constant, str):
                continue
            several = len(places[comparison.span.start, comparison.span.end]) > 1
            for text in _texts(ground, comparison, visible):
                if text in seen or len(re.findall(r"\w", text)) < 2 or not _wanted(task, check, comparison, several):
                    continue
                seen.add(text)
                yield Demand(text, comparison.constant_span or comparison.span, visible, comparison.operator)


def _texts(ground: Ground, comparison: Comparison, visible: Visible) -> list[str]:
    """The literal texts that a comparison cannot do without and that are the agent's to write."""
    constant = comparison.constant
    if comparison.operator == "matches":
        if _shown(constant, visible):
            return []
        found = fixed_parts(constant)
    elif comparison.operator in ("startswith", "endswith"):
        found = [constant]
    elif comparison.operator == "in" and _MARKER.fullmatch(constant):
        found = [constant]
    else:
        return []
    found = [t.strip() for t in found]
    if ground.solution is not None:
        return [t for t in found if ground.solved(t)]
    # Without a solution to show whose text it is: a code that has to match as a whole, or a file the brief names.
    whole = comparison.operator == "matches" and "fullmatch(" in comparison.span.text
    stated = any(visible.in_brief(p.rpartition("/")[2]) for p in ground.made(comparison.paths, visible))
    return found if whole or stated else []


def _shown(pattern: str, visible: Visible) -> bool:
    """Whether the brief holds an example that matches."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except (re.error, RecursionError, OverflowError):
        return False
    bare = re.compile(pattern.strip("^$").removeprefix("\\A").removesuffix("\\Z"), re.MULTILINE)
    return any(len(pattern) < 200 and (compiled.search(b.text) or bare.search(b.text)) for b in visible.briefs)


def _wanted(task: Task, check: Check, comparison: Comparison, several: bool) -> bool:
    if check.dialect in (Dialect.GRADER, Dialect.COMMAND) and check.node is None:
        return True
    found = locate(task, check, comparison.span)
    if found is None or several:
        return False
    return stance(*found) is Stance.WANTED


def fixed_parts(pattern: str) -> list[str]:
    """The runs of literal characters that every match of a pattern must hold; [] where it is no pattern."""
    import re._parser as parser  # the only reader of Python's patterns there is

    try:
        parsed = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return []
    runs: list[str] = []
    run = ""

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
    return runs

"""Literal text that a check wants in a certain place: markers, prefixes, endings, and the fixed parts of patterns."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from scenlint.source.data import listed
from scenlint.source.python import walk
from scenlint.source.regex import regex
from scenlint.task.checks.model import Check, Comparison, Dialect, How
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.model import Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

_MARKER = regex(r"[\[(<#=*-]*\s*[A-Za-z][\w ./-]{0,40}[\w\])]\s*(?::+|=+|->|=>|>+)\s*")
_PHRASE = regex(r"(?s).*\w[\W_]+\w.*")  # more than one word
_CAPITALS = regex(r"\W*[A-Z][A-Z_ ]*\W{2,}|\W*[A-Z]{2}[A-Z_ ]*[:=]\W*")
# Of a report made of `name=value` lines.
_FIELD = regex(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\s*[=:]|[A-Z]{3,}\d*\s*[=:]")
_SETTINGS = regex(r".*\.(?:conf|cfg|cnf|ini|service|properties)|.*/(?:Dockerfile|Makefile|Caddyfile)", re.I)
_REPORT = regex(r".*\.(?:txt|md|log|out|rpt)|.*/[^./]+", re.I)
_CODE_WORD = regex(r"[A-Z]{3,}")


def wordings(task: Task) -> Iterator[Demand]:
    """Each text once; of whole values only those that the solution writes out rather than works out."""
    ground = Ground.of(task)
    seen: set[str] = set()
    for check, visible in ground.checks():
        places: dict[tuple[int, int], set[str]] = defaultdict(set)
        for comparison in check.comparisons:
            places[comparison.span.start, comparison.span.end].add(repr(comparison.constant))
        for comparison in check.comparisons:
            several = len(places[comparison.span.start, comparison.span.end]) > 1 and not _each(task, check, comparison)
            if check.dialect is Dialect.GRADER:
                several = comparison.constant in _any_of(task, check)
            if not isinstance(comparison.constant, str) or not comparison.produced or comparison.selects:
                continue
            if several or _tools(check, comparison, visible) or not _wanted(task, check, comparison):
                continue
            for text in _texts(ground, comparison, visible):
                if text not in seen and len(re.findall(r"\w", text)) > 1 and not fits(text, visible):
                    seen.add(text)
                    yield Demand(text, comparison.constant_span or comparison.span, visible, comparison.operator)


def _texts(ground: Ground, comparison: Comparison, visible: Visible) -> list[str]:
    """The literal texts that a comparison cannot do without and that are the agent's to write."""
    operator, constant = comparison.operator, comparison.constant.strip()
    if comparison.paths and all(_SETTINGS.fullmatch(p) for p in comparison.paths):
        return []  # the wording is that of the program whose settings they are
    anchored = True
    if operator == "matches":
        if _shown(constant, visible):
            return []
        found, anchored = fixed_parts(constant), _anchored(comparison)
    elif operator in ("startswith", "endswith") or (operator == "in" and _MARKER.fullmatch(constant)):
        found = [constant]
    elif operator in ("in", "==") and not visible.opaque and ground.solution is not None:
        found = [constant] if _PHRASE.fullmatch(constant) or (comparison.key and _CODE_WORD.fullmatch(constant)) else []
    else:
        return []
    # A bare word anywhere in a text is a name or an answer, not a form.
    found = [t for t in (t.strip() for t in found) if anchored or not re.fullmatch(r"[\w ]+", t)]
    if ground.solution is not None:
        return [t for t in found if ground.solved(t)]
    # Without a solution to show whose text it is, only the name of a field of a report, a marker in capitals, or a code
    # that has to match as a whole.
    if operator != "matches" and comparison.paths and not visible.opaque:
        made = ground.made(comparison.paths, visible)
        own = len(made) == len(comparison.paths) and all(_REPORT.fullmatch(p) for p in made)
        return [t for t in found if own and _FIELD.fullmatch(t)]
    marked = operator != "matches" and not comparison.paths
    return (
        [t for t in found if _CAPITALS.fullmatch(t)] if marked else found if anchored and not comparison.paths else []
    )


def _each(task: Task, check: Check, comparison: Comparison) -> bool:
    """Whether a loop wants every one of its texts: `for n in names: assert n in text`, `all(n in text for n in …)`."""
    module, node = locate(task, check, comparison.span) or (None, None)
    if module is None or node is None:
        return False
    used = {n.id for n in walk(node) if isinstance(n, ast.Name)}
    asserted = False
    for up in module.parents(node):
        asserted |= isinstance(up, ast.Assert)
        if isinstance(up, ast.GeneratorExp | ast.ListComp):
            call = module.parent(up)
            bound = {n.id for g in up.generators for n in walk(g.target) if isinstance(n, ast.Name)}
            return bool(used & bound) and isinstance(call, ast.Call) and module.dotted(call.func) == "all"
        if isinstance(up, ast.For):
            return asserted and bool(used & {n.id for n in walk(up.target) if isinstance(n, ast.Name)})
    return False


def _any_of(task: Task, check: Check) -> list[object]:
    """The texts of a declared grader of which one will do."""
    graders = task.verifier.graders if task.verifier else []
    configs = [g.config for g in graders if g.name == check.id and isinstance(g.config, dict)]
    return [text for config in configs for text in listed(config.get("contains_any"))]


def _anchored(comparison: Comparison) -> bool:
    """Whether a pattern is held against a value or a line from its beginning."""
    whole = re.search(r"\b(?:full)?match\(", comparison.span.text)
    return whole is not None or comparison.constant[:1] == "^"


def _tools(check: Check, comparison: Comparison, visible: Visible) -> bool:
    """Whether the text is what a tool prints about the agent's work, not the agent's own."""
    if "command" not in comparison.sources:
        return False
    ran = {a.path for a in check.accesses if a.how is How.RUN and not visible.exists(a.path)}
    return bool(comparison.paths) and not ran & set(comparison.paths)


def _shown(pattern: str, visible: Visible) -> bool:
    """Whether the brief holds an example that matches."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
        bare = re.compile(re.sub(r"^(?:\^|\\A)|(?<!\\)(?:\$|\\Z)$", "", pattern), re.MULTILINE)
    except (re.error, RecursionError, OverflowError):
        return False
    return len(pattern) < 200 and any(compiled.search(b.text) or bare.search(b.text) for b in visible.briefs)


def _wanted(task: Task, check: Check, comparison: Comparison) -> bool:
    if check.dialect in (Dialect.GRADER, Dialect.COMMAND) and check.node is None:
        return True
    found = locate(task, check, comparison.span)
    return found is not None and stance(*found) is Stance.WANTED


def fixed_parts(pattern: str) -> list[str]:
    """The runs of literal characters that every match of a pattern must hold; [] where it is no pattern."""
    from importlib import import_module

    parser = import_module("re._parser")  # the only reader of Python's patterns there is
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
            elif name == "ANY":
                run += "."  # "1.20" was hardly meant as a pattern
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

"""Names that a verifier uses twice so that one of the two hides the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scenlint.source.python import Function, PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.model import Contract, Task, Verifier

_TEST = regex(r"test(?:_|[A-Z0-9]|$)|(?:check|verify|step)_?\d|check_\w")
_CLASS = regex(r"Test")


@dataclass(frozen=True)
class SameName:
    """`second` shares its name with `first`; `effect` says what becomes of the two."""

    name: str
    first: Span
    second: Span
    effect: str


def same_names(task: Task) -> Iterator[SameName]:
    """Every such pair, each name once."""
    verifier = task.verifier
    if verifier is None:
        return
    yield from _graders(verifier)
    yield from _commands(verifier)
    for fragment in verifier.code("python"):
        module = parse(fragment)
        yield from _definitions(module, module.tree.body)
        if verifier.contract is Contract.POINT_LINES:
            yield from _labels(module)


def _graders(verifier: Verifier) -> Iterator[SameName]:
    named = ((g.name, g.span) for g in verifier.graders if g.span is not None)
    for name, first, second in _pairs(named):
        yield SameName(name, first, second, "results are kept by name, so one verdict overwrites the other")


def _commands(verifier: Verifier) -> Iterator[SameName]:
    """Checks that are shell lines of one file have no name of their own; the line stands for it."""
    lines = [
        (" ".join(g.script.text.split()), g.span)
        for g in verifier.graders
        if g.script is not None and g.span is not None and g.span.source is g.script.source and not g.argv
    ]
    for name, first, second in _pairs(lines):
        if first.source is second.source:
            shown = name if len(name) <= 60 else name[:57] + "…"
            yield SameName(shown, first, second, "the second run of the same command decides nothing new")


def _definitions(module: PyModule, body: list[ast.stmt]) -> Iterator[SameName]:
    """Test functions and classes that are defined twice in one block: only the last one is collected."""
    found: list[tuple[str, Span]] = []
    for node in body:
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and _TEST.match(node.name)
            and not _registered(node)
        ):
            found.append((node.name, module.head(node)))
        elif isinstance(node, ast.ClassDef):
            if _CLASS.match(node.name):
                found.append((node.name, module.head(node)))
            yield from _definitions(module, node.body)
    for name, first, second in _pairs(found):
        if not any(first.end < module.span(call).start < second.start for call in module.calls(name)):
            yield SameName(name, first, second, "the later definition replaces the earlier one, which never runs")


def _registered(node: Function) -> bool:
    """Whether a decorator may keep the function under another name."""
    return any(not ast.unparse(d).startswith(("pytest.", "unittest.", "staticmethod")) for d in node.decorator_list)


def _labels(module: PyModule) -> Iterator[SameName]:
    """Labels of point lines that two checks of one run print: a report keeps one entry for each label.

    A label that stands twice is mostly one check's, on its ways to pass and to fail; so only what surely runs one after
    the other counts: rows of a table, statements of a block, functions that one block or list names.
    """
    found: list[tuple[str, Span, Span]] = []
    by_function: dict[str, list[tuple[str, Span]]] = {}
    for name, function in module.functions.items():
        calls = [c for c in walk(function) if isinstance(c, ast.Call)]
        by_function[name] = [(x, module.span(c.args[0])) for c in calls if (x := _label(c.args)) is not None]
    for node in module.nodes:
        if isinstance(node, ast.List | ast.Tuple):
            rows = [e for e in node.elts if isinstance(e, ast.Tuple | ast.List)]
            found += _pairs((x, module.span(r.elts[0])) for r in rows if (x := _label(r.elts)) is not None)
            found += _pairs(_printed([e.id for e in node.elts if isinstance(e, ast.Name)], by_function))
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            calls = [c for s in block if (c := _call(s)) is not None] if isinstance(block, list) else []
            found += _pairs((x, module.span(c.args[0])) for c in calls if (x := _label(c.args)) is not None)
            found += _pairs(_printed([c.func.id for c in calls if isinstance(c.func, ast.Name)], by_function))
    effect = "a report keeps one entry for each label, so the two become one"
    for name, (first, second) in {name: (first, second) for name, first, second in found}.items():
        yield SameName(name, first, second, effect)


def _printed(functions: list[str], by_function: dict[str, list[tuple[str, Span]]]) -> Iterator[tuple[str, Span]]:
    """The labels of functions that run one after the other, each function's once."""
    for name in dict.fromkeys(functions):
        yield from dict(by_function.get(name, [])).items()


def _call(statement: ast.stmt) -> ast.Call | None:
    value = getattr(statement, "value", None)
    return (
        value if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign) and isinstance(value, ast.Call) else None
    )


def _label(elements: list[ast.expr]) -> str | None:
    """The label of `check("label", 2, …)` and of a row `("label", 2, …)`."""
    if len(elements) < 3 or not all(isinstance(e, ast.Constant) for e in elements[:2]):
        return None
    label, weight = (e.value for e in elements[:2] if isinstance(e, ast.Constant))
    return label if isinstance(label, str) and type(weight) is int and not re.fullmatch(r"\W*", label) else None


def _pairs(named: Iterable[tuple[str, Span]]) -> Iterator[tuple[str, Span, Span]]:
    """The second of every name with the first."""
    first: dict[str, Span] = {}
    reported: set[str] = set()
    for name, span in named:
        if name in first and name not in reported:
            reported.add(name)
            yield name, first[name], span
        first.setdefault(name, span)

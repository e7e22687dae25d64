"""Tables of the verifier whose rows say "must" or "must not", and whether its code ever reads which."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from scenlint.source import data
from scenlint.source.literals import literals
from scenlint.source.python import PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.model import Task

_FORBIDS = regex(
    r"must[_ -]?not|should[_ -]?not|not[_ -]contains?|not[_ -]in|forbid(?:den)?|prohibited|"
    r"absent|unwanted|excluded?|never|deny|denied",
    re.IGNORECASE,
)
_FLAGS = regex(
    r"forbidden|negated?|inverted?|absent|must_not|unwanted|present|wanted|allowed|expected|should_\w+", re.IGNORECASE
)
_NEGATIVE = frozenset(["forbidden", "negate", "negated", "invert", "inverted", "absent", "must_not", "unwanted"])


def unread_polarity(task: Task) -> Iterator[tuple[str, Span]]:
    """The first row of each table that forbids something, by a field that nothing in the verifier's code names."""
    if task.verifier is None:
        return
    modules = [parse(f) for f in task.verifier.code("python")]
    for fragment in _tables(task):
        parsed = data.parse(fragment)
        if parsed.error is not None or not any(fragment.path.name in m.fragment.text for m in modules):
            continue
        for place, rows in _lists(parsed.value, ()):
            for field, at in _polar(rows):
                if not any(_names(m, field) for m in modules):
                    yield field, parsed.span(*place, at, field)
        group = _forbidding_group(parsed.value)
        if group and any(_takes_all(m) for m in modules) and not any(_names(m, group) for m in modules):
            yield group, parsed.key_span(group)
    for module in modules:
        yield from _literal_tables(module, modules)
        yield from _unpacked_rows(module)


def _tables(task: Task) -> Iterator[Fragment]:
    """The verifier's data files in a format that can be read with places."""
    assert task.verifier is not None
    yield from task.verifier.code("json", "yaml")
    for path in task.verifier.truth:
        source = task.files.read(path) if path.endswith((".json", ".yaml", ".yml")) else None
        if source is not None and not source.binary and len(source.text) < 200_000:
            yield Fragment.of(source, "json" if path.endswith(".json") else "yaml")


def _literal_tables(module: PyModule, modules: list[PyModule]) -> Iterator[tuple[str, Span]]:
    """Lists of dicts, and dicts of lists, that are written out in the code."""
    for table in module.of(ast.Dict):
        keys = {k.value: k for k in table.keys if isinstance(k, ast.Constant)}
        held = dict(zip(keys, table.values, strict=False)) if len(keys) == len(table.keys) else {}
        group = _forbidding_group({k: [0] for k, v in held.items() if isinstance(v, ast.List | ast.Tuple | ast.Set)})
        inside = {id(n) for n in walk(table)}
        if group and _takes_all(module) and not any(_names(m, group, inside) for m in modules):
            yield group, module.span(keys[group])
    for node in module.of(ast.List, ast.Tuple):
        if len(node.elts) < 2 or not all(isinstance(e, ast.Dict) for e in node.elts):
            continue
        try:
            rows = ast.literal_eval(node)
        except (ValueError, TypeError):
            continue
        inside = {id(n) for n in walk(node)}
        for field, at in _polar(rows):
            if not any(_names(m, field, inside) for m in modules):
                yield field, module.span(node.elts[at])


def _unpacked_rows(module: PyModule) -> Iterator[tuple[str, Span]]:
    """`for kind, text in RULES:` where the kind is never looked at."""
    loops: list[tuple[ast.expr, ast.expr, ast.AST | None]] = [(n.target, n.iter, n) for n in module.of(ast.For)]
    loops += [(n.target, n.iter, module.parent(n)) for n in module.of(ast.comprehension)]
    for target, gone_through, scope in loops:
        rows = literals(module).elements(gone_through, 4) if isinstance(target, ast.Tuple) else None
        if not rows or not isinstance(target, ast.Tuple) or scope is None:
            continue
        loaded = {n.id for n in walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for column, name in enumerate(target.elts):
            cells = [r.elts[column] for r in rows if isinstance(r, ast.Tuple) and column < len(r.elts)]
            against = [isinstance(c, ast.Constant) and bool(_FORBIDS.fullmatch(str(c.value))) for c in cells]
            if isinstance(name, ast.Name) and name.id not in loaded and any(against) and not all(against):
                yield name.id, module.span(cells[against.index(True)])


def _forbidding_group(value: Any) -> str:
    """The key of a table of lists under which stands what must not be there."""
    if not isinstance(value, dict) or not value or not all(isinstance(v, list) for v in value.values()):
        return ""
    against = [k for k in value if isinstance(k, str) and _FORBIDS.fullmatch(k)]
    return against[0] if against and len(against) < len(value) else ""


def _takes_all(module: PyModule) -> bool:
    """Whether code goes through all lists of a table alike."""
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == "values" for c in module.of(ast.Call))


def _lists(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], list[dict[str, Any]]]]:
    if isinstance(value, list) and len(value) > 1 and all(isinstance(row, dict) for row in value):
        yield place, value
    elif isinstance(value, dict) and len(place) < 3:
        for key, inner in value.items():
            yield from _lists(inner, (*place, str(key)))


def _polar(rows: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """The fields that tell rows that forbid from rows that demand, and the first row that forbids."""
    for field in {f: None for row in rows for f in row}:
        values = [row.get(field) for row in rows]
        if all(isinstance(v, str) for v in values):
            against = [bool(_FORBIDS.fullmatch(str(v))) for v in values]
        elif _FLAGS.fullmatch(str(field)) and all(isinstance(v, bool) or v is None for v in values):
            against = [bool(v) is (str(field).lower() in _NEGATIVE) and v is not None for v in values]
        else:
            continue
        if any(against) and not all(against):
            yield str(field), against.index(True)


def _names(module: PyModule, field: str, aside: set[int] = frozenset()) -> bool:  # type: ignore[assignment]
    """Whether code names a field, or goes through all fields of a row."""
    loops = {
        n.id
        for node in module.nodes
        if isinstance(node, ast.For | ast.comprehension)
        for n in walk(node.target)
        if isinstance(n, ast.Name)
    }
    for node in module.nodes:
        if id(node) in aside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if field in re.findall(r"\w+", node.value) and not _is_docstring(module, node):
                return True
            continue
        if isinstance(node, ast.Attribute) and (
            node.attr == field or (node.attr in ("items", "values") and _last(node.value) in loops)
        ):
            return True
        if isinstance(node, ast.arg | ast.keyword) and (node.arg == field or node.arg is None):
            return True
    return False


def _is_docstring(module: PyModule, node: ast.Constant) -> bool:
    return isinstance(module.parent(node), ast.Expr)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""

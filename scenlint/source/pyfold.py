"""Operations on values that may be several things: operators, texts put together, paths joined, subscripts."""

from __future__ import annotations

import ast
import math
import operator
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from scenlint.source.pyvalue import (
    HOLE,
    LONGEST,
    MOST,
    Map,
    PathText,
    Seq,
    Value,
    is_scalar,
    join,
    known,
    plain,
    truth,
    unknown,
)


def combine(function: Callable[..., Any], *values: Value, shape: str = "") -> Value:
    """A function over every choice of scalar options; what it cannot do stays unknown."""
    sources = unknown(*values, shape=shape)
    if any(not v.options for v in values):
        return sources
    if math.prod(len(v.options) for v in values) > 64:
        return sources
    out: list[Value] = []
    out_open = any(v.open for v in values)
    for choice in product(*(v.options for v in values)):
        try:
            result = function(*choice)
        except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, UnicodeError, RecursionError):
            out_open = True
            continue
        if result is NotImplemented:
            out_open = True
        else:
            out.append(result if isinstance(result, Value) else known(result))
    if not out:
        return sources
    joined = join(out)
    return replace(
        joined,
        open=joined.open or out_open,
        data=joined.data | sources.data,
        why=joined.why | sources.why,
        shape=joined.shape or shape,
    )


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """`left op right`; `/` between paths joins them, `+` between lists concatenates."""
    if isinstance(op, ast.Div) and any(isinstance(o, PathText) for v in (left, right) for o in v.options):
        return join_paths([left, right])
    if isinstance(op, ast.Add) and not (left.options and right.options):
        side = left if left.options else right
        if side.options and all(isinstance(o, str) for o in side.options):
            return text_of([left, right])
    return combine(lambda a, b: _binary(op, a, b), left, right)


def _binary(op: ast.operator, a: Any, b: Any) -> Any:
    if isinstance(op, ast.Add) and isinstance(a, Seq) and isinstance(b, Seq):
        return known(
            Seq(a.kind, [*a.items, *b.items], a.more or b.more, a.data | b.data, a.why | b.why, a.maybe and b.maybe)
        )
    if isinstance(op, ast.Mult) and isinstance(a, Seq) and isinstance(b, int):
        return known(Seq(a.kind, a.items * min(max(b, 0), 8), b > 8 or a.more, a.data, a.why, a.maybe))
    if isinstance(op, ast.Mod) and isinstance(a, str):
        return percent(a, b)
    if not (is_scalar(a) and is_scalar(b)):
        return NotImplemented
    if isinstance(op, ast.Mult) and (isinstance(a, str | bytes) or isinstance(b, str | bytes)):
        count, text = (a, b) if isinstance(b, str | bytes) else (b, a)
        if not isinstance(count, int) or count * max(len(text), 1) > LONGEST:
            return NotImplemented
    if isinstance(op, ast.Pow | ast.LShift) and not (isinstance(b, int | float) and abs(b) < 64 and abs(a) < 2**64):
        return NotImplemented
    if isinstance(a, int) and abs(a) > 2**512:
        return NotImplemented
    result = _OPERATORS[type(op)](str(a) if isinstance(a, PathText) else a, b)
    return NotImplemented if isinstance(result, str | bytes) and len(result) > LONGEST else result


def unary(op: ast.unaryop, value: Value) -> Value:
    if isinstance(op, ast.Not):
        known_truth = truth(value)
        base = unknown(value, shape="judged" if value.shape in ("judged", "opaque") else "")
        return base if known_truth is None else replace(base, options=(not known_truth,), open=False)
    functions: dict[type[ast.unaryop], Callable[[Any], Any]] = {
        ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert
    }  # fmt: skip
    return combine(functions[type(op)], value)


def text_of(parts: Sequence[Value]) -> Value:
    """The concatenation of parts as text, a hole for each that is unknown (an f-string)."""
    return _pieces(parts, lambda pieces: "".join(pieces))


def _pieces(parts: Sequence[Value], build: Callable[[list[str]], str]) -> Value:
    sources = unknown(*parts)
    choices: list[list[str]] = []
    size = 1
    for part in parts:
        found = [_shown(o) for o in part.options]
        if part.open or not found:
            found.append(HOLE)
        found = list(dict.fromkeys(found))
        if size * len(found) > MOST:
            found = [HOLE]
        size *= len(found)
        choices.append(found)
    built = list(dict.fromkeys(build(list(choice))[:LONGEST] for choice in product(*choices)))
    return replace(sources, options=tuple(built), open=False)


def _shown(option: Any) -> str:
    try:
        return str(plain(option))
    except ValueError:
        return str(option) if isinstance(option, str) else HOLE


def percent(template: str, argument: Any) -> Any:
    """`template % argument`, holes where an argument is unknown."""
    if isinstance(argument, Seq) and argument.kind == "tuple":
        values = [_one(v) for v in argument.items]
        return template % tuple(values) if HOLE not in values else _holes(template, values)
    if isinstance(argument, Map):
        return template % {k: _one(v) for k, v in argument.items.items()}
    return template % (argument,) if is_scalar(argument) else NotImplemented


def _holes(template: str, values: list[Any]) -> str:
    rest = iter(values)
    return re.sub(r"%[-+ #0]*\d*(?:\.\d+)?[sdrifgxX]", lambda m: str(next(rest, HOLE)), template).replace("%%", "%")


def _one(value: Value) -> Any:
    scalars = [o for o in value.options if is_scalar(o)]
    return scalars[0] if len(value.options) == 1 and scalars and not value.open else HOLE


def join_paths(parts: Sequence[Value]) -> Value:
    """`os.path.join` and `Path / part`."""
    joined = _pieces(parts, lambda pieces: normal(posixpath.join(*(p or "." for p in pieces))))
    return replace(joined, options=tuple(PathText(o) for o in joined.options))


def normal(path: str) -> str:
    """A path without `.` and `//`; `..` is undone where what lies before it is known."""
    if not path:
        return path
    out = posixpath.normpath(path)
    return out[1:] if out.startswith("//") else out


def parent_path(path: str, levels: int = 1) -> str:
    for _ in range(levels):
        path = posixpath.dirname(path) or "."
    return path


def subscript(value: Value, key: Value) -> Value:
    """`value[key]` for literal containers and texts."""
    found: list[Value] = []
    missing = value.open or not value.options
    for option in value.options:
        if isinstance(option, Map):
            keys = [k for k in key.options if is_scalar(k)]
            hits = [option.items[k] for k in keys if k in option.items]
            if key.open or len(hits) < len(keys) or not keys:
                found += option.items.values() if key.open or not keys else hits
                missing |= option.more or key.open
            else:
                found += hits
        elif isinstance(option, Seq):
            indices = [k for k in key.options if isinstance(k, int)]
            if key.open or not indices or option.more:
                found += option.items
                missing |= option.more or not option.items
            else:
                found += [option.items[i] for i in indices if -len(option.items) <= i < len(option.items)]
        else:
            missing = True
    if not found:
        return unknown(value, key)
    certain = not missing and not key.open
    base = Value(data=value.data | key.data, why=value.why | key.why) if certain else unknown(value, key)
    joined = join(found)
    return replace(joined, open=joined.open or missing, data=joined.data | base.data, why=joined.why | base.why)

"""What a Python expression may be: a bounded set of values, texts with holes where a part is unknown, and what it came from."""

from __future__ import annotations

import ast
import math
import operator
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

HOLE = "\ue000"  # an unknown part of a text
MOST = 12  # values that are told apart; more become "unknown"
LONGEST = 20_000  # characters of a text that is built


class PathText(str):
    """A text that is known to be a path (`pathlib.Path`)."""

    __slots__ = ()


@dataclass(eq=False)
class Seq:
    """A list, tuple or set; `more` where further items may be in it, `maybe` where it may be empty all the same.

    Mutable, so that every alias sees what is added.
    """

    kind: str
    items: list[Value] = field(default_factory=list)
    more: bool = False
    data: int = 0
    why: int = 0
    maybe: bool = False


@dataclass(eq=False)
class Map:
    """A dict with constant keys; `more` where there may be others."""

    items: dict[Any, Value] = field(default_factory=dict)
    more: bool = False
    data: int = 0
    why: int = 0


@dataclass(frozen=True, slots=True)
class Ref:
    """Something of a module that is not ours, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression may be.

    `options` are the known values, `open` says that there may be others. `data` is the set (a bit mask over the facts of
    whoever evaluates) it was computed from, `why` the set of tests that decided which one it is. `shape` says what is
    known of values that are not. `origin` is the literal it stems from.
    """

    options: tuple[Any, ...] = ()
    open: bool = True
    data: int = 0
    why: int = 0
    shape: str = ""
    origin: Any = None

    @property
    def all_data(self) -> int:
        """`data`, and that of the containers it may be."""
        out = self.data
        for option in self.options:
            if isinstance(option, Seq | Map):
                out |= option.data
        return out

    @property
    def all_why(self) -> int:
        out = self.why
        for option in self.options:
            if isinstance(option, Seq | Map):
                out |= option.why
        return out

    def since(self, data: int = 0, why: int = 0) -> Value:
        """The same value, known to depend on more."""
        if data | self.data == self.data and why | self.why == self.why:
            return self
        return replace(self, data=self.data | data, why=self.why | why)


UNKNOWN = Value()


def known(*options: Any, data: int = 0, why: int = 0, shape: str = "", origin: Any = None) -> Value:
    return Value(options, False, data, why, shape, origin)


def unknown(*sources: Value, shape: str = "") -> Value:
    """A value of which only its sources are known."""
    data = why = 0
    for source in sources:
        data |= source.all_data
        why |= source.all_why
    return Value((), True, data, why, shape)


def join(values: Iterable[Value]) -> Value:
    """A value that is one of some values."""
    options: list[Any] = []
    seen: set[Any] = set()
    out_open, data, why = False, 0, 0
    shapes: set[str] = set()
    origin: Any = None
    for n, value in enumerate(values):
        origin = value.origin if n == 0 or origin is value.origin else None
        out_open |= value.open
        data |= value.data
        why |= value.why
        if value.shape or value.open:
            shapes.add(value.shape)
        for option in value.options:
            mark = _mark(option)
            if mark not in seen:
                seen.add(mark)
                options.append(option)
    if len(options) > MOST:
        for option in options:
            if isinstance(option, Seq | Map):
                data, why = data | option.data, why | option.why
        options, out_open = options[:MOST], True
    return Value(tuple(options), out_open, data, why, shapes.pop() if len(shapes) == 1 else _common(shapes), origin)


def _common(shapes: set[str]) -> str:
    return next((s for s in ("opaque", "judged") if s in shapes), "")


def _mark(option: Any) -> Any:
    scalar = isinstance(option, str | bytes | int | float | complex | type(None) | Ref)
    return (type(option), repr(option) if isinstance(option, float) else option) if scalar else id(option)


def is_scalar(option: Any) -> bool:
    return isinstance(option, str | bytes | int | float | complex | type(None))


def plain(option: Any, depth: int = 6) -> Any:
    """A known value as the Python object it stands for; raises ValueError where a part of it is unknown."""
    if isinstance(option, str) and HOLE in option:
        raise ValueError
    if is_scalar(option):
        return str(option) if isinstance(option, PathText) else option
    if depth and isinstance(option, Seq) and not option.more and not option.maybe:
        items = [single(item, depth - 1) for item in option.items]
        if option.kind == "set":
            return set(items) if all(is_scalar(i) for i in items) else items
        return tuple(items) if option.kind == "tuple" else items
    if depth and isinstance(option, Map) and not option.more:
        return {key: single(item, depth - 1) for key, item in option.items.items()}
    raise ValueError


def single(value: Value, depth: int = 6) -> Any:
    """The one Python object that a value is; raises ValueError otherwise."""
    if value.open or len(value.options) != 1:
        raise ValueError
    return plain(value.options[0], depth)


def constants(value: Value) -> list[Any]:
    """The wholly known Python objects among what a value may be."""
    out = []
    for option in value.options:
        try:
            out.append(plain(option))
        except ValueError:
            continue
    return out


def texts(value: Value) -> list[str]:
    """The texts that a value may be, holes and all; [HOLE] where it may be any."""
    out = [str(o) for o in value.options if isinstance(o, str)]
    return [*out, HOLE] if value.open and not out else out


def truth(value: Value) -> bool | None:
    """Whether a value is true, or None where that is open."""
    if value.open or not value.options:
        return None
    found = {_truth(o) for o in value.options}
    return found.pop() if len(found) == 1 else None


def _truth(option: Any) -> bool | None:
    if isinstance(option, PathText):
        return True
    if isinstance(option, str):
        return None if option.strip(HOLE) == "" and option else bool(option)
    if is_scalar(option):
        return bool(option)
    if isinstance(option, Seq | Map):
        if option.items:
            return None if isinstance(option, Seq) and option.maybe else True
        return None if option.more else False
    return True


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
    import re

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


def replace_shape(value: Value, shape: str) -> Value:
    """The value with another shape where it is not wholly known."""
    return replace(value, shape=shape) if value.open or not value.options else value

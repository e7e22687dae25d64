"""What a Python expression may be: a bounded set of values, texts with holes, and what they came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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

    `options` are the known values, `open` says that there may be others. `data` is the set (a bit mask over the facts
    of whoever evaluates) it was computed from, `why` the set of tests that decided which one it is. `shape` says what
    is known of values that are not. `origin` is the literal it stems from.
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


def replace_shape(value: Value, shape: str) -> Value:
    """The value with another shape where it is not wholly known."""
    return replace(value, shape=shape) if value.open or not value.options else value

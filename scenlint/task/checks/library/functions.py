"""Python's own functions: sizes, truths, collections, loops' helpers, conversions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scenlint.source.pyfold import combine, text_of
from scenlint.source.pyvalue import (
    HOLE,
    UNKNOWN,
    Map,
    Ref,
    Seq,
    Value,
    join,
    known,
    plain,
    replace_shape,
    truth,
    unknown,
)
from scenlint.task.checks.facts import Asked, Judged, Place
from scenlint.task.checks.iteration import maybe
from scenlint.task.checks.library.base import MEANINGS, Call, Meaning, means
from scenlint.task.checks.model import Key, Name
from scenlint.task.checks.scope import Func


@means("len")
def _len(call: Call) -> Value:
    value = call.first
    sizes: list[int] = []
    for option in value.options:
        if isinstance(option, Seq | Map) and not option.more and not getattr(option, "maybe", False):
            sizes.append(len(option.items))
        elif isinstance(option, str | bytes) and HOLE not in str(option):
            sizes.append(len(option))
    base = unknown(value, shape="extent" if value.shape == "text" else "size")
    if value.open or len(sizes) < len(value.options) or not sizes:
        return base
    return replace(base, options=tuple(dict.fromkeys(sizes)), open=False)


def _collection(kind: str) -> Meaning:
    def make(call: Call) -> Value:
        if kind == "dict":
            given = call.args[0] if call.args else known(Map(dict(call.kwargs)))
            return given if given.options else unknown(given, shape=given.shape)
        if not call.args:
            return known(Seq(kind))
        value = call.args[0]
        if not any(isinstance(o, Seq | Map) for o in value.options):
            return unknown(value, shape=value.shape)
        items, more = call.flow.elements(value)
        return known(Seq(kind, items, more, value.all_data, value.all_why, maybe(value)))

    return make


def _truths(every: bool) -> Meaning:
    def judge(call: Call) -> Value:
        value = call.first
        items, more = call.flow.elements(value)
        asked = items or ([call.flow.element_of(value)] if more else [])
        decided = [call.flow.decide(item, call.node, call.env) for item in asked]
        out = replace(unknown(value, *decided), shape="judged")
        found = [truth(d) for d in decided]
        if maybe(value) and not every:
            presence = call.flow.produced(out) and not out.why
            return out.since(0, call.fact(Asked(call.span), basis=out.data) if presence else 0)
        if every is False and True in found and not out.why:
            return replace(out, options=(True,), open=False)
        if not more and None not in found and not out.why:
            return replace(out, options=(all(found) if every else any(found),), open=False)
        return out

    return judge


@means("bool")
def _bool(call: Call) -> Value:
    value = call.flow.decide(call.args[0], call.node, call.env) if call.args else known(False)
    decided = truth(value)
    return unknown(value, shape="judged") if decided is None else replace(value, options=(decided,), open=False)


@means("isinstance")
def _isinstance(call: Call) -> Value:
    out = unknown(*call.args[:1], shape="judged")
    if call.args and call.flow.produced(call.args[0]):
        kinds = {o.name for o in call.arg(1).options if isinstance(o, Ref)}
        if kinds <= {"dict", "list", "str", "bytes"} and not any(
            isinstance(f, Key) for f in call.flow.facts.of(call.args[0].all_data)
        ):
            return out.since(0, call.fact(Asked(call.span), basis=out.data))
        return out.since(0, call.fact(Judged(call.span), basis=out.data))
    return out


@means("hasattr", "callable")
def _hasattr(call: Call) -> Value:
    out = unknown(*call.args, shape="judged")
    if not call.args or not call.flow.produced(call.args[0]):
        return out
    if len(call.args) > 1 and call.args[0].shape == "agent":
        for option in call.args[1].options:
            if isinstance(option, str):
                at = call.args[1].origin.span if isinstance(call.args[1].origin, Place) else call.span
                call.flow.facts.add(Name(option, "attribute", at))
    return out.since(0, call.fact(Asked(call.span), basis=out.data))


@means("getattr")
def _getattr(call: Call) -> Value:
    found = [
        call.flow.attribute(call.args[0], option, call.node, call.env)
        for option in (call.args[1].options if len(call.args) > 1 else ())
        if isinstance(option, str) and HOLE not in option
    ]
    out = join(found) if found else unknown(*call.args, shape=call.args[0].shape if call.args else "")
    return join([out, call.args[2]]) if len(call.args) > 2 else out


@means("enumerate")
def _enumerate(call: Call) -> Value:
    value = call.first
    items, more = call.flow.elements(value)
    begin = (call.args[1:] or [call.kwargs.get("start", known(0))])[0].options
    first = begin[0] if begin and isinstance(begin[0], int) else 0
    pairs = [known(Seq("tuple", [known(first + n), item])) for n, item in enumerate(items)]
    if not pairs and more:
        pairs = [known(Seq("tuple", [UNKNOWN, call.flow.element_of(value)]))]
    return known(Seq("list", pairs, more, value.all_data, value.all_why, maybe(value)))


@means("zip")
def _zip(call: Call) -> Value:
    columns = [call.flow.elements(a) for a in call.args]
    sizes = [len(items) for items, more in columns if items or not more]
    count = min(sizes, default=1)

    def cell(n: int, items: list[Value], column: Value) -> Value:
        return items[n] if n < len(items) else call.flow.element_of(column)

    rows = [
        known(Seq("tuple", [cell(n, items, a) for (items, _), a in zip(columns, call.args, strict=True)]))
        for n in range(count)
    ]
    out = unknown(*call.args)
    return known(Seq("list", rows, any(more for _, more in columns), out.data, out.why, any(map(maybe, call.args))))


@means("range")
def _range(call: Call) -> Value:
    bounds = [
        a.options[0] if len(a.options) == 1 and not a.open and isinstance(a.options[0], int) else None
        for a in call.args
    ]
    if bounds and None not in bounds and len(range(*bounds)) <= 40:  # type: ignore[arg-type]
        return known(Seq("list", [known(n) for n in range(*bounds)]))  # type: ignore[arg-type]
    return unknown(*call.args)


@means("sorted")
def _sorted(call: Call) -> Value:
    value = call.first
    key = call.kwargs.get("key")
    if value.options and all(isinstance(o, Seq) and not o.more for o in value.options) and key is None:
        try:
            seqs = [replace(o, kind="list", items=sorted(o.items, key=lambda v: v.options[0])) for o in value.options]
            return replace(value, options=tuple(seqs))
        except (TypeError, IndexError):
            pass
    items, more = call.flow.elements(value)
    if key is not None and (items or more):
        call.flow.apply(key, [items[0] if items else call.flow.element_of(value)], {}, call.node, call.env)
    if not items:
        return unknown(value, shape=value.shape)
    return known(Seq("list", items, more, value.all_data, value.all_why, maybe(value)))


@means("map")
def _map(call: Call) -> Value:
    if len(call.args) < 2:
        return UNKNOWN
    items, more = call.flow.elements(call.args[1])
    out = [
        call.flow.apply(call.args[0], [i], {}, call.node, call.env)
        for i in items or ([call.flow.element_of(call.args[1])] if more else [])
    ]
    base = unknown(call.args[1], *out)
    return known(Seq("list", out, more, base.data, base.why, maybe(call.args[1])))


@means("sum")
def _sum(call: Call) -> Value:
    return unknown(*call.args, shape="count")


@means("next")
def _first(call: Call) -> Value:
    """`next(...)`, `min(...)`, `max(...)` over an iterable."""
    if not call.args:
        return UNKNOWN
    items, more = call.flow.elements(call.args[0])
    out = [
        *items,
        *([call.flow.element_of(call.args[0])] if more and not items else []),
        *call.args[1:],
        *filter(None, [call.kwargs.get("default")]),
    ]
    return join(out).since(call.args[0].all_data, call.args[0].all_why)


@means("min", "max")
def _extreme(call: Call) -> Value:
    return _first(call) if len(call.args) == 1 else unknown(*call.args, shape="")


@means("int", "float")
def _number(call: Call) -> Value:
    value = call.args[0] if call.args else known(0)
    function: Callable[[Any], Any] = float if call.name == "float" else int
    out = combine(lambda o: function(plain(o)), value)
    if call.flow.produced(value):
        call.may_raise("ValueError", value)
    return replace_shape(out, value.shape if value.shape in ("size", "count") else "")


@means("str", "os.fspath")
def _str(call: Call) -> Value:
    if not call.args:
        return known("")
    value = call.args[0]
    out = text_of([value]) if value.options and not value.open else unknown(value, shape="text")
    return replace(out, origin=value.origin)


@means("iter", "reversed", "io.StringIO", "io.BytesIO", "io.TextIOWrapper", "copy.deepcopy", "copy.copy")
def _itself(call: Call) -> Value:
    return call.first


@means("typing.cast", "cast")
def _cast(call: Call) -> Value:
    return call.arg(1)


@means("functools.partial")
def _partial(call: Call) -> Value:
    out: list[Value] = []
    for option in call.args[0].options if call.args else ():
        if isinstance(option, Func) and option.bound is None and len(call.args) == 2:
            out.append(known(replace(option, bound=call.args[1])))
    return join(out) if out else (call.first)


MEANINGS.update(
    {
        "all": _truths(True),
        "any": _truths(False),
        **{name: _collection(name) for name in ("list", "tuple", "set", "dict")},
        "frozenset": _collection("set"),
        "collections.OrderedDict": _collection("dict"),
        "collections.deque": _collection("list"),
    }
)

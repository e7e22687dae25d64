"""Methods of the verifier's own lists, dicts and texts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from scenlint.source.pyfold import combine, text_of
from scenlint.source.pyvalue import HOLE, UNKNOWN, Map, Seq, Value, is_scalar, join, known, plain, unknown
from scenlint.task.checks.library.base import Call

TEXT = frozenset(["strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold", "replace", "split",
    "rsplit", "splitlines", "join", "format", "zfill", "encode", "decode", "removeprefix", "removesuffix", "partition",
    "rpartition", "expandtabs", "ljust", "rjust", "center", "translate", "swapcase", "hex"])  # fmt: skip
TESTS = frozenset(["startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isnumeric",
    "isidentifier", "isspace"])  # fmt: skip
WITHIN = frozenset(["find", "rfind", "index", "rindex", "count"])


def of_seq(this: Call, value: Value, option: Seq) -> Value | None:
    flow, name, args = this.flow, this.name, this.args
    if name in ("append", "add", "insert", "appendleft") and args:
        for each in value.options:
            if isinstance(each, Seq):
                each.maybe = (each.maybe or not each.items) and bool(flow.uncertain)
                item = args[-1].since(0, flow.ctx)
                if len(each.items) < 300:
                    each.items.append(item)
                each.more |= flow.repeats > 0
                each.data |= item.all_data
                each.why |= item.all_why | flow.why()
        return known(None)
    if name in ("extend", "update") and args:
        items, more = flow.elements(args[0])
        for each in value.options:
            if isinstance(each, Seq):
                each.maybe = (each.maybe or not each.items) and (bool(flow.uncertain) or more)
                each.items += [i.since(0, flow.ctx) for i in items][: 300 - len(each.items)]
                each.more |= more
                each.data |= args[0].all_data
                each.why |= args[0].all_why | flow.why()
        return known(None)
    if name in ("pop", "popleft"):
        return join(option.items).since(option.data, option.why) if option.items else UNKNOWN
    if name in ("copy", "difference", "union", "intersection", "symmetric_difference", "issubset", "issuperset"):
        if name == "copy":
            return known(replace(option, items=list(option.items)))
        return unknown(value, *args, shape="")
    if name in ("index", "count"):
        return unknown(value, *args, shape="size" if name == "count" else "")
    if name in ("sort", "reverse", "clear", "remove", "discard"):
        option.maybe |= name in ("clear", "remove", "discard")
        return known(None)
    return None


def of_map(this: Call, value: Value, option: Map) -> Value | None:
    flow, name, args, kwargs = this.flow, this.name, this.args, this.kwargs
    if name in ("get", "pop", "setdefault") and args:
        found = [
            each.items[k]
            for each in value.options
            if isinstance(each, Map)
            for k in args[0].options
            if is_scalar(k) and k in each.items
        ]
        default = args[1] if len(args) > 1 else known(None)
        certain = found and not option.more and not args[0].open and len(found) >= len(args[0].options)
        if option.more and flow.produced(value):
            found.append(flow.item(unknown(value, shape=value.shape), args[0], this.node, this.env, default=True))
        elif option.more or (args[0].open and not found):
            found += option.items.values() if args[0].open else [UNKNOWN]
        out = join(found if certain else [*found, default])
        return out.since(value.data | args[0].data, value.why | args[0].why)
    if name == "items":
        pairs = [known(Seq("tuple", [known(k), v])) for k, v in option.items.items()]
        return known(Seq("list", pairs, option.more, option.data, option.why))
    if name == "keys":
        return known(Seq("list", [known(k) for k in option.items], option.more, option.data, option.why))
    if name == "values":
        return known(Seq("list", list(option.items.values()), option.more, option.data, option.why))
    if name == "update":
        given = [*args, *([known(Map(dict(kwargs)))] if kwargs else [])]
        for other in given:
            for each in other.options:
                if isinstance(each, Map):
                    option.items.update(each.items)
                    option.more |= each.more
            option.more |= other.open
            option.data |= other.all_data
            option.why |= other.all_why | flow.ctx
        return known(None)
    if name == "copy":
        return known(Map(dict(option.items), option.more, option.data, option.why))
    return None


# -- texts
def of_text(this: Call, value: Value) -> Value | None:
    flow, name, args, kwargs = this.flow, this.name, this.args, this.kwargs
    if any(flow.produced(a) for a in args) and name not in ("join", "format"):
        return None
    if name == "join" and args:
        items, more = flow.elements(args[0])
        parts: list[Value] = []
        for n, item in enumerate(items):
            parts += [value, item] if n else [item]
        if more and not items:
            return unknown(value, args[0], shape="text")
        out = text_of(parts) if not more else unknown(value, args[0], shape="text")
        origins = tuple(i.origin for i in items if i.origin is not None)
        return replace(out.since(args[0].all_data, args[0].all_why), origin=origins)
    if name == "format":
        return combine(lambda o: _formatted(o, args, kwargs), value).since(unknown(*args, *kwargs.values()).data)
    if name in TEXT or name in TESTS or name in WITHIN:
        out = combine(lambda o, *rest: _plain_method(o, name, [plain(r) for r in rest]), value, *args)
        return replace(out, origin=value.origin)
    return None


def _plain_method(option: Any, name: str, args: list[Any]) -> Any:
    if HOLE in str(option) and name not in ("strip", "lower", "upper", "rstrip", "lstrip", "replace"):
        return NotImplemented
    result = getattr(option, name)(*args)
    if isinstance(result, list | tuple):
        return known(Seq("list", [known(r) for r in result[:100]], len(result) > 100))
    return result


def _formatted(template: Any, args: list[Value], kwargs: dict[str, Value]) -> Any:
    names = {str(n): v for n, v in enumerate(args)} | kwargs
    count = iter(range(len(args)))

    def fill(match: re.Match[str]) -> str:
        name = match[1] or str(next(count, ""))
        value = names.get(name, UNKNOWN)
        shown = [str(o) for o in value.options if is_scalar(o)]
        return shown[0] if len(shown) == 1 and not value.open else HOLE

    return re.sub(r"\{(\w*)(?:[:!][^{}]*)?\}", fill, str(template))

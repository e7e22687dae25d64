"""Mutants of JSON documents: keys, items, values, layout."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.numbers import changed
from scenlint.dynamic.mutants.tables import order

Route = tuple[str | int, ...]
_PLACES = 5  # values, and as many containers, that are changed
_DEEPEST = 40


def tree(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a JSON file that holds an object or a list."""
    text = result.text
    if text is None or text.lstrip()[:1] not in ("{", "["):
        return
    try:
        document = json.loads(text)
        routes = list(_routes(document))
    except (ValueError, RecursionError):
        return
    made = _Tree(result.path, text, document)
    inner = [r for r in routes if isinstance(_at(document, r), dict | list)]
    leaves = [r for r in routes if not isinstance(_at(document, r), dict | list)]
    for route in _some(inner, random):
        value = _at(document, route)
        yield from (
            _keys(made, route, value, form, random)
            if isinstance(value, dict)
            else _items(made, route, value, form, random)
        )
    for route in random.sample(leaves, min(_PLACES, len(leaves))):
        yield from _values(made, route, _at(document, route), form)
    yield from _layout(made, form)


def _some(routes: list[Route], random: Random) -> list[Route]:
    """The document itself first: it holds most."""
    rest = routes[1:]
    return routes[:1] + random.sample(rest, min(_PLACES - 1, len(rest)))


def _routes(value: Any, route: Route = ()) -> Iterator[Route]:
    yield route
    if len(route) < _DEEPEST:
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in children:
            yield from _routes(child, (*route, key))


def _at(document: Any, route: Route) -> Any:
    for key in route:
        document = document[key]
    return document


def _name(route: Route) -> str:
    return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in route).lstrip(".") or "the document"


class _Tree:
    def __init__(self, path: str, text: str, document: Any) -> None:
        self.path, self.document = path, document
        self.indent = 2 if "\n" in text.strip() else None
        self.end = "\n" if text.endswith("\n") else ""

    def mutant(
        self, operator: str, did: str, label: Label, reason: str, route: Route, change: Callable[[Any], Any]
    ) -> Mutant:
        """The document with what `change` makes of the value at `route`."""
        new = copy.deepcopy(self.document)
        if route:
            _at(new, route[:-1])[route[-1]] = change(_at(new, route))
        else:
            new = change(new)
        return self.written(operator, did, label, reason, new)

    def written(self, operator: str, did: str, label: Label, reason: str, new: Any, **layout: Any) -> Mutant:
        layout = {"indent": self.indent, "ensure_ascii": False, **layout}
        text = json.dumps(new, **layout) + self.end
        return Mutant(operator, self.path, text.encode(errors="surrogatepass"), did, label, reason)


def _keys(made: _Tree, route: Route, value: dict[str, Any], form: Form, random: Random) -> Iterator[Mutant]:
    where = _name(route)
    if value:
        key = random.choice(list(value))
        named = form.names_value(key)
        label = Label.DIE if named else Label.OPEN
        why = f"the brief names `{key}`" if named else f"the brief does not name `{key}`"
        rest = {k: v for k, v in value.items() if k != key}
        yield made.mutant("drop-key", f"`{key}` was left out of {where}", label, why, route, lambda _: rest)
        renamed = {(f"{k}_2" if k == key else k): v for k, v in value.items()}
        yield made.mutant("rename-key", f"`{key}` in {where} is called `{key}_2`", label, why, route, lambda _: renamed)
    closed = form.closed
    yield made.mutant(
        "add-key", f"a key `note` was added to {where}", Label.DIE if closed else Label.OPEN,
        str(closed or "the brief does not say that there may be no other keys"), route, lambda v: {**v, "note": ""},
    )  # fmt: skip


def _items(made: _Tree, route: Route, value: list[Any], form: Form, random: Random) -> Iterator[Mutant]:
    if not value:
        return
    where, at = _name(route), random.randrange(len(value))
    yield made.mutant(
        "drop-item", f"item {at + 1} of {len(value)} was left out of {where}", Label.DIE,
        "an item less is another list", route, lambda v: v[:at] + v[at + 1 :],
    )  # fmt: skip
    free = form.duplicates
    yield made.mutant(
        "duplicate-item", f"item {at + 1} of {len(value)} stands twice in {where}",
        Label.LIVE if free else Label.DIE, str(free or "an item more is another list"),
        route, lambda v: [*v[: at + 1], v[at], *v[at + 1 :]],
    )  # fmt: skip
    if value != value[::-1]:
        yield made.mutant("reverse-items", f"{where} is in reverse order", *order(form), route, lambda v: v[::-1])


def _values(made: _Tree, route: Route, value: Any, form: Form) -> Iterator[Mutant]:
    where = _name(route)
    key = next((str(k) for k in reversed(route) if isinstance(k, str)), "")
    of_run = form.is_of_the_run(key)
    why = f"`{key}` may differ from run to run" if of_run else "another value is another answer"
    label = Label.OPEN if of_run else Label.DIE

    def become(operator: str, new: Any, label: Label, reason: str) -> Mutant:
        shown = (json.dumps(v, ensure_ascii=False) for v in (value, new))
        return made.mutant(
            operator, f"{where}: {' became '.join(s if len(s) < 60 else s[:59] + '…' for s in shown)}", label, reason,
            route, lambda _: new,
        )  # fmt: skip

    if isinstance(value, bool):
        yield become("flip-boolean", not value, label, why)
    elif isinstance(value, int | float):
        for operator, new, number_label, reason in changed(value, key, form):
            yield become(operator, new, number_label, reason)
        yield become("number-as-text", str(value), Label.DIE if form.types else Label.OPEN,
                     str(form.types or "the brief does not say that it has to be a number"))  # fmt: skip
    elif isinstance(value, str) and value:
        yield become("other-text", value[::-1] if value != value[::-1] else value + "x", label, why)
        if value.swapcase() != value:
            yield become(
                "letter-case", value.swapcase(), Label.OPEN, "the brief does not say whether letter case counts"
            )
        yield become("space-around", f" {value} ", Label.OPEN, "the brief does not say whether white space counts")
    if value is not None:
        yield become("null", None, label, why)


def _layout(made: _Tree, form: Form) -> Iterator[Mutant]:
    exact = form.exact_bytes
    label = Label.OPEN if exact else Label.LIVE

    def layout(operator: str, did: str, new: Any, **options: Any) -> Mutant:
        return made.written(
            operator, did, label, str(exact or "to a reader of JSON it is the same document"), new, **options
        )

    document = made.document
    yield layout("other-indent", "it is indented otherwise", document, indent=4 if made.indent is None else None)
    yield layout("escape-unicode", "letters beyond ASCII are escaped", document, ensure_ascii=True)
    yield layout("reverse-keys", "the keys of every object stand in reverse order", _reversed(document))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _reversed(value[k]) for k in reversed(value)}
    return [_reversed(v) for v in value] if isinstance(value, list) else value

"""Mutants of documents in JSON and YAML: keys, items, values, layout."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from random import Random
from typing import Any

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import of_text
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.numbers import changed
from scenlint.dynamic.mutants.tables import neighbours, order

Route = tuple[str | int, ...]
_PLACES = 5  # values, and as many containers, that are changed
_DEEPEST = 40
_KEYS = 40  # of an object, that are looked at


def tree(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a JSON or YAML file that holds an object or a list."""
    text, yaml = result.text, PurePosixPath(result.path).suffix.lower() in (".yaml", ".yml")
    if text is None or (not yaml and text.lstrip()[:1] not in ("{", "[")):
        return
    try:
        document = read_yaml(text) if yaml else json.loads(text)
        routes = list(_routes(document))
    except (ValueError, RecursionError):
        return
    if not isinstance(document, dict | list):
        return
    made = _Tree(result.path, text, document, yaml)
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
    def __init__(self, path: str, text: str, document: Any, yaml: bool) -> None:
        self.path, self.document, self.yaml = path, document, yaml
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
        text = _yaml(new, **layout) if self.yaml else json.dumps(new, **layout) + self.end
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
    steady = [k for k in list(value)[:_KEYS] if not form.is_of_the_run(k)]
    pairs = [(a, b) for a in steady for b in steady if a < b and _alike(value[a], value[b])]
    if pairs:
        a, b = random.choice(pairs)
        exchanged = {**value, a: value[b], b: value[a]}
        yield made.mutant("swap-values", f"`{a}` and `{b}` in {where} have each other's value", Label.DIE,
                          "another value is another answer", route, lambda _: exchanged)  # fmt: skip
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
    n = neighbours(value, random)
    if n is None:
        return
    one, other = value[n], value[n + 1]
    if len(value) > 2:
        swapped = [*value[:n], other, one, *value[n + 2 :]]
        yield made.mutant("swap-items", f"items {n + 1} and {n + 2} of {where} changed places", *order(form), route,
                          lambda _: swapped)  # fmt: skip
    shared = [k for k in one if k in other and one[k] != other[k]] if _both(one, other, dict) else []
    shared = [k for k in shared if not form.is_of_the_run(k)]
    if len(shared) > 1 or (shared and len(one) > 1):
        key = random.choice(shared)
        exchanged = [*value[:n], {**one, key: other[key]}, {**other, key: one[key]}, *value[n + 2 :]]
        yield made.mutant("swap-values", f"items {n + 1} and {n + 2} of {where} have each other's `{key}`", Label.DIE,
                          "the values do not belong together any more", route, lambda _: exchanged)  # fmt: skip


def _alike(one: Any, other: Any) -> bool:
    """Two different values of one kind, so that a look at the form alone does not tell that they changed places."""
    return one != other and type(one) is type(other) and not isinstance(one, dict)


def _both(one: Any, other: Any, kind: type) -> bool:
    return isinstance(one, kind) and isinstance(other, kind)


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
        for operator, text, text_label, reason in of_text(value, key, form):
            yield become(operator, text, text_label, reason)
        yield become("space-around", f" {value} ", Label.OPEN, "the brief does not say whether white space counts")
    if value is not None:
        yield become("null", None, label, why)


def _layout(made: _Tree, form: Form) -> Iterator[Mutant]:
    exact = form.exact_bytes
    label = Label.OPEN if exact else Label.LIVE

    def layout(operator: str, did: str, new: Any, **options: Any) -> Mutant:
        return made.written(operator, did, label, str(exact or "read, it is the same document"), new, **options)

    document = made.document
    yield layout("other-indent", "it is indented otherwise", document, indent=4 if made.indent is None else None)
    yield layout("escape-unicode", "letters beyond ASCII are escaped", document, ensure_ascii=True)
    yield layout("reverse-keys", "the keys of every object stand in reverse order", _reversed(document))


def read_yaml(text: str) -> Any:
    """What JSON has too; ValueError for several documents, and for values such as dates that only YAML knows."""
    import yaml

    class Plain(yaml.SafeLoader):
        pass

    resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp"] for k, v in
                 yaml.SafeLoader.yaml_implicit_resolvers.items()}  # fmt: skip
    Plain.yaml_implicit_resolvers = resolvers
    try:
        document = yaml.load(text, Plain)
        plain = json.loads(json.dumps(document))
    except (yaml.YAMLError, TypeError) as exc:
        raise ValueError(str(exc)) from exc
    if plain != document:
        raise ValueError("a key that is no text")
    return document


def _yaml(document: Any, *, indent: int | None, ensure_ascii: bool) -> str:
    import yaml

    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=not ensure_ascii, indent=indent or 2))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _reversed(value[k]) for k in reversed(value)}
    return [_reversed(v) for v in value] if isinstance(value, list) else value

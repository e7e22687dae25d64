"""A metadata key that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source.data import Data
from scenlint.source.edit import respelled
from scenlint.task.suggest import closest

Schema = dict[str, Any]
Path = tuple[str | int, ...]
_BRANCHES = ("allOf", "anyOf", "oneOf")


@rule(
    "unknown-metadata-key",
    "SL103",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.METADATA},
    refute="the harness, or a tool of the suite's own, reads the key",
    fix="unsafe",
)
def unknown_metadata_key(task: Task) -> Iterator[Finding]:
    for document in task.documents:
        if document.schema is None or document.data.error is not None:
            continue
        homes = _homes(document.schema)
        for path, known in _unknown(document.schema, [document.schema], document.data.value, ()):
            key = str(path[-1])
            near = closest(key, known)
            elsewhere = {h for h in homes.get(key, []) if h != _table(path)}
            yield Finding.at(
                document.data.key_span(*path),
                f"nothing reads `{key}` in {_said(_table(path))}",
                help=f"did you mean `{near[0]}`?"
                if near
                else f"`{key}` is read in {_said(elsewhere.pop())}; move it there"
                if len(elsewhere) == 1
                else "remove it, or keep it in a table that is free for notes if there is one",
                fix=_renamed(document.data, path, near[0]) if near else None,
            )


def _renamed(data: Data, path: Path, name: str) -> Fix | None:
    taken = name in data.get(*path[:-1], default={})
    edit = respelled(data.key_span(*path), path[-1], name)
    return None if taken else Fix.of(f"call it `{name}`", edit, safe=False)


def _unknown(root: Schema, schemas: list[Schema], value: Any, path: Path) -> Iterator[tuple[Path, set[str]]]:
    """Keys that none of the schemas for a value lists, with the keys that stand there."""
    schemas = [part for schema in schemas for part in _parts(root, schema)]
    if isinstance(value, list):
        items = [s["items"] for s in schemas if isinstance(s.get("items"), dict)]
        for n, item in enumerate(value if items else ()):
            yield from _unknown(root, items, item, (*path, n))
    elif isinstance(value, dict):
        listed: dict[str, list[Schema]] = {}
        for schema in schemas:
            for name, below in schema.get("properties", {}).items():
                listed.setdefault(name, []).append(below)
        others = [s["additionalProperties"] for s in schemas if isinstance(s.get("additionalProperties"), dict)]
        free = not listed or any(
            s.get("x-free") or s.get("additionalProperties") is True or "patternProperties" in s for s in schemas
        )
        for key, below in value.items():
            if key in listed:
                yield from _unknown(root, [s for s in listed[key] if isinstance(s, dict)], below, (*path, key))
            elif others:
                yield from _unknown(root, others, below, (*path, key))
            elif not free:
                yield (*path, key), set(listed)


def _parts(root: Schema, schema: Schema) -> Iterator[Schema]:
    """A schema and all that it refers to or is put together from; alternatives count together."""
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part, {})
        yield from _parts(root, target)
    for word in _BRANCHES:
        for branch in schema.get(word, ()):
            yield from _parts(root, branch)
    for word in ("if", "then", "else"):
        if isinstance(schema.get(word), dict):
            yield from _parts(root, schema[word])


def _homes(root: Schema) -> dict[str, list[str]]:
    """For every key, the tables at the top of the document that have it; "" is the top level itself."""
    out: dict[str, list[str]] = {name: [""] for name in root.get("properties", {})}
    for table, schema in root.get("properties", {}).items():
        for part in _parts(root, schema):
            for name in part.get("properties", {}):
                out.setdefault(name, []).append(table)
    return out


def _table(path: Path) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path[:-1]).lstrip(".")


def _said(table: str) -> str:
    return f"`{table}`" if table else "the top level of the document"

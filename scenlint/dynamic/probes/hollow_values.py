"""Keeps the shape of the right JSON, CSV or database and takes out what is in it: NaN for numbers, no text, no rows."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground, put
from scenlint.task.paths import extension

_LARGEST = 200_000  # characters
_LARGEST_DATABASE = 1024 * 1024  # bytes
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@probe("hollow-values", EMPTY)
def hollow_values(ground: Ground) -> Iterator[Attack]:
    for variant, number in (("nan", float("nan")), ("infinity", float("inf"))):
        files = {p: text for p in ground.files if (text := _hollow(ground, p, number))}
        if files:
            script = "\n".join(put(path, text) for path, text in files.items())
            told = f"wrote files of the right shape with {variant} for every number and nothing for every text"
            yield ground.attack(script, told, variant)
    databases = {p: data for p in ground.files if (data := _no_rows(ground.content(p)))}
    if databases:
        encoded = {path: base64.b64encode(data).decode() for path, data in databases.items()}
        script = "\n".join(f"printf %s {text} | base64 -d | put {shlex.quote(p)}" for p, text in encoded.items())
        yield ground.attack(script, "wrote databases with the right tables and no row in them", "no rows")


def _hollow(ground: Ground, path: str, number: float) -> str | None:
    item = ground.made.get(path)
    if item is None or ground.snapshot is None or not item.stored or item.size > _LARGEST:
        return None
    text = ground.snapshot.read(item).decode("utf-8", "replace")
    try:
        if extension(path) == "json":
            return json.dumps(_emptied(json.loads(text), number))
        if extension(path) in ("csv", "tsv"):
            return _table(text, "\t" if extension(path) == "tsv" else ",", number)
    except (ValueError, RecursionError, csv.Error):
        return None
    return str(number) if _NUMBER.fullmatch(text.strip()) else None


def _emptied(value: Any, number: float) -> Any:
    if isinstance(value, dict):
        return {key: _emptied(inner, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [_emptied(inner, number) for inner in value]
    return value if isinstance(value, bool) or value is None else number if isinstance(value, int | float) else ""


def _table(text: str, delimiter: str, number: float) -> str:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    out = io.StringIO(newline="")
    hollow = ([str(number) if _NUMBER.fullmatch(cell) else "" for cell in row] for row in rows[1:])
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([*rows[:1], *hollow])
    return out.getvalue()


def _no_rows(content: bytes) -> bytes | None:
    """A SQLite file with every table of this one and no row; None where it is none, or too large."""
    if not content.startswith(b"SQLite format 3\0") or len(content) > _LARGEST_DATABASE:
        return None
    try:
        with closing(sqlite3.connect(":memory:")) as given, closing(sqlite3.connect(":memory:")) as made:
            given.deserialize(content)
            kinds = "type = 'view', type = 'trigger', type = 'index'"  # tables come first
            wanted = (
                f"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY {kinds}"
            )
            for (statement,) in given.execute(wanted).fetchall():
                made.execute(statement)
            made.commit()
            return made.serialize()
    except sqlite3.Error:
        return None

"""Keeps the shape of the right JSON or CSV and takes out the values: NaN for numbers, nothing for text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground, put
from scenlint.task.paths import extension

_LARGEST = 200_000  # characters
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@probe("hollow-values", EMPTY)
def hollow_values(ground: Ground) -> Iterator[Attack]:
    for variant, number in (("nan", float("nan")), ("infinity", float("inf"))):
        files = {p: text for p in ground.files if (text := _hollow(ground, p, number))}
        if files:
            script = "\n".join(put(path, text) for path, text in files.items())
            told = f"wrote files of the right shape with {variant} for every number and nothing for every text"
            yield ground.attack(script, told, variant)


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

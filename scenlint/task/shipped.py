"""Data files that a task ships, read as far as counting and naming goes: columns, keys, number of records and lines."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from scenlint.source.json_reader import loads
from scenlint.source.text import Source

SAMPLE = 200  # records whose keys are looked at


@dataclass(frozen=True)
class Shipped:
    """What a data file holds. `keys` are all names at any depth; a count is None where the file was not read whole."""

    columns: tuple[str, ...] = ()  # of the table, or of the records
    keys: frozenset[str] = field(default_factory=frozenset)
    records: int | None = None
    lines: int | None = None


def read_data(source: Source) -> Shipped | None:
    """The shape of a CSV, TSV, JSON or JSON Lines file; None for anything else."""
    if source.binary or source.error is not None:
        return None
    suffix = source.path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return _table(source, "\t" if suffix == ".tsv" else None)
    if suffix in (".jsonl", ".ndjson"):
        return _lines(source)
    if suffix == ".json" and not source.truncated:
        return _document(source)
    return None


def _table(source: Source, delimiter: str | None) -> Shipped | None:
    text = source.text
    if delimiter is None:
        first = text.split("\n", 1)[0]
        delimiter = max(",;\t|", key=first.count)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(c.strip() for c in row)
        ]
    except csv.Error:
        return None
    if not rows:
        return None
    columns = tuple(c.strip().strip("\ufeff") for c in rows[0])
    whole = not source.truncated
    return Shipped(
        columns=columns,
        keys=frozenset(columns),
        records=len(rows) - 1 if whole else None,
        lines=_line_count(text) if whole else None,
    )


def _lines(source: Source) -> Shipped | None:
    records = [line for line in source.text.splitlines() if line.strip()]
    keys: set[str] = set()
    columns: dict[str, None] = {}
    for line in records[:SAMPLE]:
        try:
            value = loads(line)
        except ValueError:
            return None
        _collect(value, keys)
        columns.update(dict.fromkeys(value) if isinstance(value, dict) else {})
    count = None if source.truncated else len(records)
    return Shipped(tuple(columns), frozenset(keys), count, count)


def _document(source: Source) -> Shipped | None:
    try:
        value = loads(source.text)
    except ValueError:
        return None
    keys: set[str] = set()
    _collect(value, keys)
    first = next((v for v in value if isinstance(v, dict)), {}) if isinstance(value, list) else value
    columns = tuple(first) if isinstance(first, dict) else ()
    lists = [v for v in value.values() if isinstance(v, list)] if isinstance(value, dict) else [value]
    records = len(lists[0]) if len(lists) == 1 and isinstance(lists[0], list) else None
    return Shipped(columns, frozenset(keys), records, _line_count(source.text))


def _collect(value: Any, keys: set[str], depth: int = 0) -> None:
    if depth > 20:
        return
    if isinstance(value, dict):
        keys.update(map(str, value))
    inner = value.values() if isinstance(value, dict) else value[:SAMPLE] if isinstance(value, list) else ()
    for item in inner:
        _collect(item, keys, depth + 1)


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0

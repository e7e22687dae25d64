"""Mutants of SQLite databases: rows, cells, tables."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import of_text
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.numbers import changed
from scenlint.dynamic.mutants.tables import neighbours

_MAGIC = b"SQLite format 3\0"
_LARGEST = 16 * 1024 * 1024  # bytes
_TABLES = 4


def database(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a SQLite file: of tables that the solution left as they were, nothing is changed."""
    if not result.content.startswith(_MAGIC) or len(result.content) > _LARGEST:
        return
    try:
        changes = list(_changes(result, form, random))
    except sqlite3.Error:
        return
    for operator, did, statement, values, label, reason in changes:
        try:
            content = _after(result.content, statement, values)
        except sqlite3.Error:
            continue  # a constraint stands against it
        yield Mutant(operator, result.path, content, did, label, reason)


_Change = tuple[str, str, str, tuple[object, ...], Label, str]


def _changes(result: Result, form: Form, random: Random) -> Iterator[_Change]:
    tables = _tables(result.content)
    # Of a database that was there before, it is not known which rows the solution touched.
    certain = Label.DIE if result.new else Label.OPEN
    why = "another state" if result.new else "the solution may have found it there"
    for name in random.sample(sorted(tables), min(_TABLES, len(tables))):
        columns, rows = tables[name]
        quoted = _quoted(name)
        yield "drop-table", f"table `{name}` was dropped", f"DROP TABLE {quoted}", (), certain, why
        if not rows:
            continue
        row = random.choice(rows)
        told = f"a row was deleted from table `{name}`"
        yield "drop-row", told, f"DELETE FROM {quoted} WHERE rowid = ?", (row[0],), certain, why
        listed = ", ".join(map(_quoted, columns))
        told = f"a row stands twice in table `{name}`"
        # Without the keys that the database gives: where one is asked for, the constraint stands against it.
        copied = f"INSERT INTO {quoted} ({listed}) SELECT {listed} FROM {quoted} WHERE rowid = ?"
        yield "duplicate-row", told, copied, (row[0],), certain, why
        at = random.randrange(len(columns))
        n = neighbours([r[at + 1] for r in rows], random)
        if n is not None and not form.is_of_the_run(columns[at]):
            one, other = rows[n], rows[n + 1]
            chosen, column = f"CASE rowid WHEN {one[0]} THEN ? ELSE ? END", _quoted(columns[at])
            yield (
                "swap-values", f"two rows of table `{name}` have each other's `{columns[at]}`",
                f"UPDATE {quoted} SET {column} = {chosen} WHERE rowid IN ({one[0]}, {other[0]})",
                (other[at + 1], one[at + 1]), certain, why,
            )  # fmt: skip
        column, value = columns[at], row[at + 1]
        for operator, new, label, reason in _values(value, column, form):
            yield (
                operator, f"`{column}` of a row of table `{name}`: `{value}` became `{new}`",
                f"UPDATE {quoted} SET {_quoted(column)} = ? WHERE rowid = ?", (new, row[0]),
                label if result.new else Label.OPEN, reason,
            )  # fmt: skip


def _values(value: object, column: str, form: Form) -> Iterator[tuple[str, object, Label, str]]:
    if isinstance(value, int | float):
        yield from changed(value, column, form)
    elif isinstance(value, str) and value:
        label = Label.OPEN if form.is_of_the_run(column) else Label.DIE
        yield "other-text", value[::-1] + "x", label, "another value is another answer"
        yield from of_text(value, column, form)


def _tables(content: bytes) -> dict[str, tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]]:
    """Each table's columns and its rows, rowid first; tables without rowid are left out."""
    out = {}
    with _opened(content) as (_, connection):
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if name.startswith("sqlite_"):
                continue
            try:
                cursor = connection.execute(f"SELECT rowid, * FROM {_quoted(name)} LIMIT 2000")
            except sqlite3.Error:
                continue
            out[name] = (tuple(d[0] for d in cursor.description[1:]), tuple(cursor.fetchall()))
    return out


def _after(content: bytes, statement: str, values: tuple[object, ...]) -> bytes:
    with _opened(content) as (path, connection):
        connection.execute(statement, values)
        connection.commit()
        connection.close()
        return path.read_bytes()


class _opened:  # noqa: N801
    """A private copy of a database, opened."""

    def __init__(self, content: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="scenlint-")
        self._path = Path(self._folder.name, "copy.db")
        self._path.write_bytes(content)

    def __enter__(self) -> tuple[Path, sqlite3.Connection]:
        self._connection = sqlite3.connect(self._path)
        self._connection.execute("PRAGMA journal_mode = DELETE")
        return self._path, self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._folder.cleanup()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""The ledger's tables, and how those of an older version become these.

Version 2 keeps the records in a table of their own, so that what lists and compares reads only the columns it asks for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

VERSION = 2
_TABLES = """
CREATE TABLE runs (id TEXT PRIMARY KEY, command TEXT, started TEXT, owner TEXT);
CREATE TABLE phases (trial TEXT, number INTEGER, phase TEXT, PRIMARY KEY (trial, number));
"""
_SECOND = """
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run TEXT, place TEXT, settings TEXT,
    task TEXT, format TEXT, agent TEXT, attempt INTEGER, started TEXT, finished INTEGER NOT NULL DEFAULT 0,
    status TEXT, reward REAL, failure_class TEXT, duration REAL, cost_usd REAL, input_tokens INTEGER,
    output_tokens INTEGER, model TEXT, suite TEXT, task_digest TEXT, kind TEXT, name TEXT, outcome TEXT
);
CREATE TABLE records (number INTEGER PRIMARY KEY, record TEXT);
CREATE TABLE chains (run TEXT PRIMARY KEY, lines INTEGER, hash TEXT, next TEXT);
CREATE INDEX trials_of_place ON trials (place, agent, attempt);
CREATE INDEX trials_of_task ON trials (task, agent, started);
CREATE INDEX trials_of_agent ON trials (agent, started);
CREATE INDEX trials_of_experiment ON trials (kind, name, started) WHERE kind <> '';
CREATE INDEX trials_of_run ON trials (run);
CREATE INDEX trials_by_start ON trials (started);
CREATE INDEX trials_under_way ON trials (number) WHERE finished = 0;
"""
# Of a record; what a trial is begun with (id, run, place, settings) is not in it, or must not change.
_OF_RECORD = (
    *("task", "format", "agent", "attempt", "started", "status", "reward", "duration"),
    *("cost_usd", "input_tokens", "output_tokens", "model", "suite", "task_digest"),
)
COLUMNS = (*_OF_RECORD, "failure_class", "kind", "name", "outcome")


def prepare(db: sqlite3.Connection) -> None:
    """Make the tables, or bring those of an older version up to this one: all of it, or nothing."""
    if version(db) == VERSION:
        return
    with db:
        db.execute("BEGIN IMMEDIATE")
        found = version(db)  # another process may have done it meanwhile
        if found < 1:
            _run(db, _TABLES + _SECOND)
        elif found < VERSION:
            _from_first(db)
        db.execute(f"PRAGMA user_version={max(found, VERSION)}")


def version(db: sqlite3.Connection) -> int:
    """The version of the tables; 0: there are none."""
    (found,) = db.execute("PRAGMA user_version").fetchone()
    return int(found)


def columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """What of a record (as JSON) has a column of its own."""
    made = record.get("experiment") or {}
    out = {name: record.get(name) for name in _OF_RECORD}
    out |= {name: out[name] or "" for name in ("status", "model", "suite", "task_digest")}
    out |= {name: made.get(name) or "" for name in ("kind", "name", "outcome")}
    return {**out, "failure_class": record.get("failure_class") or ""}


def insert(
    db: sqlite3.Connection,
    trial: tuple[str, str, str, str],
    record: Mapping[str, Any],
    *,
    finished: bool,
    text: str = "",
) -> None:
    """A new trial: its id, run, place and settings, and its record, which is also given as `text` if that is known."""
    told = columns(record)
    names = ("id", "run", "place", "settings", "finished", *COLUMNS)
    marks = ", ".join("?" * len(names))
    values = (*trial, int(finished), *(told[name] for name in COLUMNS))
    number = db.execute(f"INSERT INTO trials ({', '.join(names)}) VALUES ({marks})", values).lastrowid
    db.execute("INSERT INTO records VALUES (?, ?)", (number, text or json.dumps(record)))


def update(db: sqlite3.Connection, trial: str, record: Mapping[str, Any], *, finished: bool) -> None:
    """The record of a trial that is there."""
    told = columns(record)
    changes = ", ".join(f"{name} = ?" for name in COLUMNS)
    values = [*(told[name] for name in COLUMNS), int(finished), trial]
    db.execute(f"UPDATE trials SET {changes}, finished = ? WHERE id = ?", values)
    db.execute(
        "UPDATE records SET record = ? WHERE number = (SELECT number FROM trials WHERE id = ?)",
        (json.dumps(record), trial),
    )


def _from_first(db: sqlite3.Connection) -> None:
    """Version 1 kept the record beside the few columns that it had."""
    db.execute("ALTER TABLE trials RENAME TO first")
    db.execute("DROP INDEX IF EXISTS trials_of_task")
    _run(db, _SECOND)
    rows: Iterable[tuple[Any, ...]] = db.execute(
        "SELECT id, run, place, settings, finished, record FROM first ORDER BY rowid"
    )
    for *trial, finished, record in rows:
        id, run, place, settings = trial
        insert(db, (id, run, place, settings), json.loads(record), finished=bool(finished), text=record)
    db.execute("DROP TABLE first")


def _run(db: sqlite3.Connection, script: str) -> None:
    """Unlike `executescript`, within the transaction."""
    for statement in filter(None, map(str.strip, script.split(";"))):
        db.execute(statement)

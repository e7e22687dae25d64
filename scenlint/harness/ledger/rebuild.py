"""Makes a damaged ledger anew, of what can still be read of it and of the whole records in the trials' folders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.harness.ledger import schema
from scenlint.harness.ledger.reading import DATABASE, TRIALS, LedgerError
from scenlint.harness.ownership import alive
from scenlint.task.record import TrialRecord

_TABLES = {"runs": 4, "phases": 3, "chains": 4}  # with the number of their columns


@dataclass
class Rebuilt:
    """What came of it."""

    trials: int = 0
    from_folders: int = 0  # of these, trials whose record was read from their folder
    problems: list[str] = field(default_factory=list)  # what could not be read
    old: Path | None = None  # where the database lies now that was there


def rebuild(folder: Path) -> Rebuilt:
    """Put a new database in the place of the old one, which is kept beside it. LedgerError while a run uses it."""
    out, new = Rebuilt(), folder / f"{DATABASE}.new"
    if not (folder / DATABASE).exists() and not (folder / TRIALS).is_dir():
        raise LedgerError(f"there is no ledger in `{folder}`")
    try:
        new.unlink(missing_ok=True)
        with closing(sqlite3.connect(new)) as db:
            schema.prepare(db)
            with db:
                _salvage(folder / DATABASE, db, out)
                _refuse_living(db, folder)
                _read_folders(folder / TRIALS, db, out)
                (out.trials,) = db.execute("SELECT count(*) FROM trials").fetchone()
        out.old = _set_aside(folder)
        new.replace(folder / DATABASE)
    except (OSError, sqlite3.Error) as exc:
        raise LedgerError(f"the ledger `{folder}` cannot be made anew: {exc}") from exc
    finally:
        new.unlink(missing_ok=True)
    return out


def _salvage(path: Path, db: sqlite3.Connection, out: Rebuilt) -> None:
    """What can be read of the old database, table by table up to where it is damaged."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as old:
        try:
            found = schema.version(old)
            if not found:
                raise sqlite3.DatabaseError("it is empty")
            old.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as exc:
            out.problems.append(f"nothing of `{DATABASE}` can be read ({exc})")
            return
        names = "id, run, place, settings, finished, record"
        source = "trials" if found == 1 else "trials JOIN records USING (number)"
        for id, run, place, settings, finished, text in _rows(old, f"SELECT {names} FROM {source}", out):
            with suppress(ValueError, TypeError, AttributeError, sqlite3.IntegrityError):
                schema.insert(db, (id, run, place, settings), json.loads(text), finished=bool(finished))
        for table, width in _TABLES.items():
            if table == "chains" and found == 1:
                continue
            for row in _rows(old, f"SELECT * FROM {table}", out):
                db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})", row)


def _rows(db: sqlite3.Connection, query: str, out: Rebuilt) -> Iterator[tuple[Any, ...]]:
    try:
        yield from db.execute(query)
    except sqlite3.Error as exc:
        out.problems.append(f"`{query.rpartition('FROM ')[2].split()[0]}` of `{DATABASE}` is damaged ({exc})")


def _refuse_living(db: sqlite3.Connection, folder: Path) -> None:
    query = "SELECT id, owner FROM runs WHERE id IN (SELECT run FROM trials WHERE finished = 0)"
    for run, owner in db.execute(query).fetchall():
        if alive(json.loads(owner)):
            raise LedgerError(f"the ledger `{folder}` is in use by the run {run}; wait for its end")


def _read_folders(trials: Path, db: sqlite3.Connection, out: Rebuilt) -> None:
    """The record of every trial that has a whole one."""
    for folder in sorted(trials.iterdir()) if trials.is_dir() else ():
        path = folder / "record.json"
        try:
            data = json.loads(path.read_text("utf-8"))
            begun = data.pop("ledger", {})
            record = TrialRecord.from_json(data)
            if record.id != folder.name:
                raise ValueError(f"it is of the trial {record.id}")
        except FileNotFoundError:
            continue  # a trial that did not come to its end
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as exc:
            out.problems.append(f"`{TRIALS}/{folder.name}/{path.name}` cannot be read ({exc})")
            continue
        out.from_folders += 1
        if db.execute("SELECT 1 FROM trials WHERE id = ?", (record.id,)).fetchone():
            schema.update(db, record.id, data, finished=True)
        else:
            run = begun.get("run") or record.id.rpartition("-")[0]
            known = (record.id, run, begun.get("place", ""), begun.get("settings", ""))
            schema.insert(db, known, data, finished=True)
        db.execute("DELETE FROM phases WHERE trial = ?", (record.id,))


def _set_aside(folder: Path) -> Path | None:
    """Give the old database another name; with it what SQLite keeps beside it."""
    if not (folder / DATABASE).exists():
        return None
    number = next(n for n in range(1, 10_000) if not (folder / f"{DATABASE}.old-{n}").exists())
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (folder / f"{DATABASE}{ending}").rename(folder / f"{DATABASE}.old-{number}{ending}")
    return folder / f"{DATABASE}.old-{number}"

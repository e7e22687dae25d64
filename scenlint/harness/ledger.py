"""The ledger: every phase of every trial as it ends, in SQLite, and a folder of evidence for each trial.

Only the driver writes to it. What is committed survives the end of the process at any moment; several drivers may use
one ledger at a time, as SQLite orders their writes and each trial has a name of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scenlint.harness.ownership import alive, owner
from scenlint.task.record import FailureClass, Phase, Status, TrialRecord

FOLDER = ".scenlint"
VERSION = 1
_BUSY = 60.0  # seconds to wait for another driver's write
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, command TEXT, started TEXT, owner TEXT);
CREATE TABLE IF NOT EXISTS trials (
    id TEXT PRIMARY KEY, run TEXT, place TEXT, task TEXT, format TEXT, agent TEXT, attempt INTEGER, settings TEXT,
    started TEXT, finished INTEGER DEFAULT 0, status TEXT, reward REAL, record TEXT
);
CREATE INDEX IF NOT EXISTS trials_of_task ON trials (place, agent, attempt);
CREATE TABLE IF NOT EXISTS phases (trial TEXT, number INTEGER, phase TEXT, PRIMARY KEY (trial, number));
"""


class LedgerError(Exception):
    """The ledger cannot be read or written; the text says why and what to do. Nothing that was finished is lost."""


@dataclass(frozen=True)
class Wanted:
    """A trial that is to be run. `place` tells tasks of one name apart; `settings` is a digest of what else decides."""

    place: str
    task: str
    format: str
    agent: str
    attempt: int
    settings: str


@dataclass(frozen=True)
class Entry:
    """A trial in the ledger. `settings` and the record's digests say what it was run under."""

    id: str
    run: str
    place: str
    settings: str
    record: TrialRecord
    folder: Path
    finished: bool
    running: bool = False  # its driver still lives

    @property
    def attempt(self) -> int:
        return self.record.attempt


class Ledger:
    """An open ledger. Safe for the threads of one process."""

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder.absolute()  # sandboxes are told of places in it
        self._lock = threading.RLock()
        with self._faults():
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                _keep_out_of_git(folder)
            elif not (folder / "ledger.db").exists():
                raise LedgerError(f"there is no ledger in `{folder}`: nothing has been run yet, or name it by --ledger")
            self._db = sqlite3.connect(folder / "ledger.db", timeout=_BUSY, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._prepare()

    def _prepare(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise LedgerError(f"`{self.folder}` was written by a newer scenlint; use that one, or another --ledger")
        with self._db:
            if not version:
                self._db.executescript(_SCHEMA)
                self._db.execute(f"PRAGMA user_version={VERSION}")

    def close(self) -> None:
        self._db.close()

    # Writing

    def open_run(self, run: str, command: str) -> list[Entry]:
        """A driver starts. What drivers that have died left unfinished is marked as interrupted, and returned."""
        with self._write() as db:
            db.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (run, command, _now(), json.dumps(owner())))
        dead = [entry for entry in self.entries(finished=False) if not entry.running]
        for entry in dead:
            self.finish(_cut_short(entry.record))
        return dead

    def begin(self, run: str, number: int, wanted: Wanted) -> tuple[str, Path]:
        """A trial starts: its id and its folder."""
        trial = f"{run}-{number}"
        folder = self.folder / "trials" / trial
        record = TrialRecord(trial, wanted.task, wanted.format, wanted.agent, attempt=wanted.attempt, started=_now())
        with self._write() as db:
            folder.mkdir(parents=True, exist_ok=True)
            db.execute(
                "INSERT INTO trials (id, run, place, task, format, agent, attempt, settings, started, record) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(trial, run, wanted.place, wanted.task, wanted.format, wanted.agent, wanted.attempt),
                    *(wanted.settings, record.started, _json(record)),
                ),
            )
        return trial, folder

    def phase(self, record: TrialRecord, phase: Phase) -> None:
        """A phase has ended."""
        number = record.phases.index(phase)
        with self._write() as db:
            db.execute("INSERT OR REPLACE INTO phases VALUES (?, ?, ?)", (record.id, number, json.dumps(asdict(phase))))
            if number == 0:  # now the digests are known
                db.execute("UPDATE trials SET record = ? WHERE id = ?", (_json(record, phases=False), record.id))

    def finish(self, record: TrialRecord) -> None:
        """A trial has ended: its whole record, here and beside its outputs."""
        with self._write(sync=True) as db:
            _write_whole(self.folder / "trials" / record.id / "record.json", record.to_json())
            db.execute(
                "UPDATE trials SET finished = 1, status = ?, reward = ?, record = ? WHERE id = ?",
                (record.status.value, record.reward, _json(record), record.id),
            )
            db.execute("DELETE FROM phases WHERE trial = ?", (record.id,))

    def take_in(self, records: Sequence[TrialRecord]) -> None:
        """Trials that another harness ran: all of them or none. They have no place, and a folder with their record."""
        for record in records:
            (self.folder / "trials" / record.id).mkdir(parents=True, exist_ok=True)
            _write_whole(self.folder / "trials" / record.id / "record.json", record.to_json())
        with self._write(sync=True) as db:
            db.executemany(
                "INSERT INTO trials (id, run, place, task, format, agent, attempt, settings, started, finished, "
                "status, reward, record) VALUES (?, 'import', '', ?, ?, ?, ?, '', ?, 1, ?, ?, ?)",
                [
                    (r.id, r.task, r.format, r.agent, r.attempt, r.started, r.status.value, r.reward, _json(r))
                    for r in records
                ],
            )

    def remove(self, entries: Sequence[Entry]) -> None:
        """Forget trials and delete their folders."""
        for entry in entries:
            with self._write() as db:
                db.execute("DELETE FROM trials WHERE id = ?", (entry.id,))
                db.execute("DELETE FROM phases WHERE trial = ?", (entry.id,))
            shutil.rmtree(entry.folder, ignore_errors=True)

    # Reading

    def entries(
        self, *, place: str = "", task: str = "", agent: str = "", id: str = "", finished: bool | None = None
    ) -> list[Entry]:
        """Trials in the order in which they started; `id` may be the beginning of one."""
        query, values = "SELECT * FROM trials WHERE 1", list[Any]()
        for column, value in {"place": place, "task": task, "agent": agent}.items():
            if value:
                query, values = f"{query} AND {column} = ?", [*values, value]
        if id:
            query, values = f"{query} AND substr(id, 1, ?) = ?", [*values, len(id), id]
        if finished is not None:
            query, values = f"{query} AND finished = ?", [*values, int(finished)]
        with self._faults(), self._lock:
            cursor = self._db.execute(f"{query} ORDER BY started, rowid", values)
            names = [c[0] for c in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            living = self._living() if any(not row["finished"] for row in rows) else set()
        return [self._entry(row, living) for row in rows]

    def _entry(self, row: dict[str, Any], living: set[str]) -> Entry:
        record = TrialRecord.from_json(json.loads(row["record"]))
        finished = bool(row["finished"])
        if not finished:
            record.phases = [Phase(**json.loads(p)) for p in self._phases(row["id"])]
        place = self.folder / "trials" / row["id"]
        running = not finished and row["run"] in living
        return Entry(row["id"], row["run"], row["place"], row["settings"], record, place, finished, running)

    def _phases(self, trial: str) -> list[str]:
        with self._faults(), self._lock:
            found = self._db.execute("SELECT phase FROM phases WHERE trial = ? ORDER BY number", (trial,))
            return [text for (text,) in found]

    def _living(self) -> set[str]:
        """The runs whose driver lives. Of one on another machine nothing can be told: it is given a day."""
        yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        runs = self._db.execute("SELECT id, owner, started FROM runs").fetchall()
        lives = {run: alive(json.loads(who)) for run, who, _ in runs}
        return {run for run, _, started in runs if lives[run] or (lives[run] is None and started > yesterday)}

    # Faults

    @contextmanager
    def _write(self, *, sync: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing. It outlives the process; with `sync` the machine's fall as well."""
        with self._faults(), self._lock:
            self._db.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as exc:
            raise LedgerError(f"the ledger `{self.folder}` {_explained(exc)}") from exc
        except OSError as exc:
            raise LedgerError(f"the ledger `{exc.filename or self.folder}`: {exc.strerror or exc}") from exc


def _explained(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or name == "SQLITE_IOERR_WRITE":
        return "cannot be written: the disk is full. Make room, for example with `scenlint clean`, and run it again"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"is held by another process for more than {_BUSY:.0f} s; wait for it, or use another --ledger"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return "is damaged; move `ledger.db` away (each trial's folder keeps its record.json)"
    return f"cannot be used: {error}"


def _cut_short(record: TrialRecord) -> TrialRecord:
    """The record of a trial whose driver died: whatever it may hold, it came to no verdict."""
    record.reward, record.status, record.strict, record.harness = None, Status.NO_VERDICT, None, None
    record.failure_class = FailureClass.INTERRUPTED
    last = record.phases[-1].name if record.phases else ""
    record.failure_evidence = f"scenlint ended after the phase {last}" if last else "scenlint ended before a phase did"
    record.duration = sum(p.duration for p in record.phases)
    return record


def _json(record: TrialRecord, *, phases: bool = True) -> str:
    data = record.to_json()
    return json.dumps(data if phases else {**data, "phases": []})


def _write_whole(path: Path, data: Any) -> None:
    """Under its name there is never half a file."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _keep_out_of_git(folder: Path) -> None:
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

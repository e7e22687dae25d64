"""An open ledger: what drivers write as phases and trials end.

Only the driver writes to it. What is committed survives the end of the process at any moment; several drivers may use
one ledger at a time, as SQLite orders their writes and each trial has a name of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scenlint.harness.ledger import schema
from scenlint.harness.ledger.reading import DATABASE, REBUILD, TRIALS, Entry, LedgerError, Reader
from scenlint.harness.ledger.rows import Head, Row
from scenlint.harness.ownership import owner
from scenlint.task.record import Experiment, FailureClass, Phase, Status, TrialRecord

FOLDER = ".scenlint"


@dataclass(frozen=True)
class Wanted:
    """A trial that is to be run. `place` tells tasks of one name apart; `settings` is a digest of what else decides."""

    place: str
    task: str
    format: str
    agent: str
    attempt: int
    settings: str
    experiment: Experiment | None = None
    suite: str = ""


class Ledger(Reader):
    """An open ledger. Safe for the threads of one process."""

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        super().__init__(folder)
        with self._faults():
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                _keep_out_of_git(folder)
            elif not (folder / DATABASE).exists():
                raise LedgerError(f"there is no ledger in `{folder}`: nothing has been run yet, or name it by --ledger")
            self._db = self._connect()
            self._db.execute("PRAGMA journal_mode=WAL")
            self._prepare()

    def _prepare(self) -> None:
        found = schema.version(self._db)
        if found > schema.VERSION:
            raise LedgerError(f"`{self.folder}` was written by a newer scenlint; use that one, or another --ledger")
        if not found and any((self.folder / TRIALS).glob("*/record.json")):
            raise LedgerError(f"the ledger `{self.folder}` is empty, but has folders of trials; {REBUILD}")
        try:
            schema.prepare(self._db)
        except ValueError as exc:
            raise LedgerError(f"the ledger `{self.folder}` is damaged ({exc}); {REBUILD}") from exc

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
        folder = self.folder_of(trial)
        record = TrialRecord(
            *(trial, wanted.task, wanted.format, wanted.agent),
            attempt=wanted.attempt, started=_now(), experiment=wanted.experiment, suite=wanted.suite,
        )  # fmt: skip
        with self._write() as db:
            folder.mkdir(parents=True, exist_ok=True)
            schema.insert(db, (trial, run, wanted.place, wanted.settings), record.to_json(), finished=False)
        return trial, folder

    def phase(self, record: TrialRecord, phase: Phase) -> None:
        """A phase has ended."""
        number = record.phases.index(phase)
        with self._write() as db:
            db.execute("INSERT OR REPLACE INTO phases VALUES (?, ?, ?)", (record.id, number, json.dumps(asdict(phase))))
            if number == 0:  # now the digests are known
                schema.update(db, record.id, {**record.to_json(), "phases": []}, finished=False)

    def finish(self, record: TrialRecord) -> None:
        """A trial has ended: its whole record, here and beside its outputs."""
        data = record.to_json()
        with self._write(sync=True) as db:
            begun = db.execute("SELECT run, place, settings FROM trials WHERE id = ?", (record.id,)).fetchone()
            entry = dict(zip(("run", "place", "settings"), begun or (), strict=False))
            self.folder_of(record.id).mkdir(parents=True, exist_ok=True)
            _write_whole(self.folder_of(record.id) / "record.json", {**data, "ledger": entry})
            schema.update(db, record.id, data, finished=True)
            db.execute("DELETE FROM phases WHERE trial = ?", (record.id,))

    def take_in(self, records: Sequence[TrialRecord]) -> None:
        """Trials that another harness ran: all of them or none. They have no place, and a folder with their record."""
        for record in records:
            self.folder_of(record.id).mkdir(parents=True, exist_ok=True)
            whole = {**record.to_json(), "ledger": {"run": "import"}}
            _write_whole(self.folder_of(record.id) / "record.json", whole)
        self.enter(records)

    def enter(self, records: Iterable[TrialRecord], heads: Mapping[str, Head] = MappingProxyType({})) -> None:
        """Trials whose folders are there already, and the heads of audit chains: all of them or none."""
        with self._write(sync=True) as db:
            for record in records:
                schema.insert(db, (record.id, "import", "", ""), record.to_json(), finished=True)
            db.executemany("INSERT OR REPLACE INTO chains VALUES (?, ?, ?, ?)", [(r, *h) for r, h in heads.items()])

    def set_head(self, run: str, head: Head) -> None:
        """How far the audit chain of a run has come; what is about to be written must outlive the machine's fall."""
        with self._write(sync=bool(head.next)) as db:
            db.execute("INSERT OR REPLACE INTO chains VALUES (?, ?, ?, ?)", (run, *head))

    def remove(self, trials: Sequence[Entry | Row]) -> None:
        """Forget trials and delete their folders."""
        for trial in trials:
            with self._write() as db:
                db.execute("DELETE FROM records WHERE number IN (SELECT number FROM trials WHERE id = ?)", (trial.id,))
                db.execute("DELETE FROM trials WHERE id = ?", (trial.id,))
                db.execute("DELETE FROM phases WHERE trial = ?", (trial.id,))
            shutil.rmtree(self.folder_of(trial.id), ignore_errors=True)

    @contextmanager
    def _write(self, *, sync: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing. It outlives the process; with `sync` the machine's fall as well."""
        with self._faults(), self._lock:
            self._db.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db


def _cut_short(record: TrialRecord) -> TrialRecord:
    """The record of a trial whose driver died: whatever it may hold, it came to no verdict."""
    record.reward, record.status, record.strict, record.harness = None, Status.NO_VERDICT, None, None
    record.failure_class = FailureClass.INTERRUPTED
    last = record.phases[-1].name if record.phases else ""
    record.failure_evidence = f"scenlint ended after the phase {last}" if last else "scenlint ended before a phase did"
    record.duration = sum(p.duration for p in record.phases)
    return record


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

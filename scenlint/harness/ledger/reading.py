"""What is asked of a ledger: trials with their records or as light rows, how many there are, heads of audit chains."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Unpack

from scenlint.harness.ledger.rows import STORED, Filters, Head, Row, condition, ordered
from scenlint.harness.ownership import alive
from scenlint.task.record import Phase, TrialRecord

DATABASE = "ledger.db"
TRIALS = "trials"  # the folder of the trials' folders
_BUSY = 60.0  # seconds to wait for another driver's write
_PAGE = 500  # rows read at a time
_FINISHED, _RUN = STORED.index("finished"), STORED.index("run")
_WITH_RECORD = ", ".join([*STORED, "record"])
REBUILD = "`scenlint trials --rebuild` makes it anew from the folders of its trials"


class LedgerError(Exception):
    """The ledger cannot be read or written; the text says why and what to do. Nothing that was finished is lost."""


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
    row: Row | None = None  # the columns that the ledger keeps of it

    @property
    def attempt(self) -> int:
        return self.record.attempt


class Reader:
    """The asking half of an open ledger. Safe for the threads of one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()  # sandboxes are told of places in it
        self._lock = threading.RLock()
        self._db: sqlite3.Connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / DATABASE, timeout=_BUSY, check_same_thread=False)

    def close(self) -> None:
        self._db.close()

    def folder_of(self, trial: str) -> Path:
        """Where the outputs of a trial lie."""
        return self.folder / TRIALS / trial

    def entries(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        newest: int | None = None,
        **filters: Unpack[Filters],
    ) -> list[Entry]:
        """Trials with their records in the order in which they started: all, some, or the `newest` so many."""
        return list(self.each(limit=limit, offset=offset, newest=newest, **filters))

    def each(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        newest: int | None = None,
        **filters: Unpack[Filters],
    ) -> Iterator[Entry]:
        """As `entries`, one after the other: however many there are, only a few are held in memory."""
        living = cache(self._living)
        for *columns, text in self._found(_WITH_RECORD, limit, offset, newest, filters):
            try:
                told = json.loads(text)
            except (ValueError, TypeError) as exc:
                raise LedgerError(f"the record of trial {columns[0]} in `{self.folder}` is damaged; {REBUILD}") from exc
            yield self._entry(_row(columns, living), TrialRecord.from_json(told))

    def entry(self, trial: str) -> Entry | None:
        """The trial of this id."""
        return next(self.each(trial=trial), None)

    def rows(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        newest: int | None = None,
        **filters: Unpack[Filters],
    ) -> Iterator[Row]:
        """As `each`, without the records: a million in seconds."""
        living = cache(self._living)
        for columns in self._found(", ".join(STORED), limit, offset, newest, filters):
            yield _row(columns, living)

    def count(self, **filters: Unpack[Filters]) -> int:
        """How many trials there are."""
        where, values = condition(filters)
        with self._faults(), self._lock:
            (number,) = self._db.execute(f"SELECT count(*) FROM trials WHERE {where}", values).fetchone()
        return int(number)

    def head(self, run: str) -> Head | None:
        """How far the audit chain of a run has come; None where nothing is known of it."""
        with self._faults(), self._lock:
            found = self._db.execute("SELECT lines, hash, next FROM chains WHERE run = ?", (run,)).fetchone()
        return Head(*found) if found else None

    def heads(self) -> dict[str, Head]:
        """The heads of all audit chains by run."""
        with self._faults(), self._lock:
            return {run: Head(*rest) for run, *rest in self._db.execute("SELECT run, lines, hash, next FROM chains")}

    def _found(
        self, wanted: str, limit: int | None, offset: int, newest: int | None, filters: Filters
    ) -> Iterator[tuple[Any, ...]]:
        """Rows as they stand now, whatever is written while they are read: by a connection of their own."""
        where, values = condition(filters)
        query = ordered(where, wanted, limit=limit, offset=offset, newest=newest)
        with self._faults(), closing(self._connect()) as db:
            cursor = db.execute(query, values)
            while page := cursor.fetchmany(_PAGE):
                yield from page

    def _entry(self, row: Row, record: TrialRecord) -> Entry:
        if not row.finished:
            record.phases = [Phase(**json.loads(p)) for p in self._phases(row.id)]
        return Entry(
            *(row.id, row.run, row.place, row.settings, record, self.folder_of(row.id)),
            finished=row.finished,
            running=row.running,
            row=row,
        )

    def _phases(self, trial: str) -> list[str]:
        with self._faults(), self._lock:
            found = self._db.execute("SELECT phase FROM phases WHERE trial = ? ORDER BY number", (trial,))
            return [text for (text,) in found]

    def _living(self) -> set[str]:
        """The runs whose driver lives. Of one on another machine nothing can be told: it is given a day."""
        yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        query = "SELECT id, owner, started FROM runs WHERE id IN (SELECT run FROM trials WHERE finished = 0)"
        with self._faults(), self._lock:
            runs = self._db.execute(query).fetchall()
        lives = {run: alive(json.loads(who)) for run, who, _ in runs}
        return {run for run, _, started in runs if lives[run] or (lives[run] is None and started > yesterday)}

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as exc:
            raise LedgerError(f"the ledger `{self.folder}` {_explained(exc)}") from exc
        except OSError as exc:
            raise LedgerError(f"the ledger `{exc.filename or self.folder}`: {exc.strerror or exc}") from exc


def _row(columns: Sequence[Any], living: Callable[[], set[str]]) -> Row:
    finished = bool(columns[_FINISHED])
    running = not finished and columns[_RUN] in living()
    return Row._make((*columns[:_FINISHED], finished, *columns[_FINISHED + 1 :], running))


def _explained(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or name == "SQLITE_IOERR_WRITE":
        return "cannot be written: the disk is full. Make room, for example with `scenlint clean`, and run it again"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"is held by another process for more than {_BUSY:.0f} s; wait for it, or use another --ledger"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return f"is damaged; {REBUILD}"
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return f"cannot be opened ({error}): its folder has to be writable, for those who only read it as well"
    return f"cannot be used: {error}"

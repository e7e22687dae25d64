"""Where outcomes come from: a file that is appended to, or the ledger; each gives what is new since the last time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from scenlint.grading.watch.model import Outcome
from scenlint.grading.watch.read import Reader
from scenlint.grading.watch.store import WatchError
from scenlint.grading.watch.tail import Place, Tail
from scenlint.harness.ledger import Ledger, Row
from scenlint.task.record import FailureClass, Status

_CONTROLS = ("oracle", "nop")
# What an agent is answerable for although there is no verdict; any other trial without one says nothing of it.
_OWN = {
    FailureClass.WRONG_ANSWER,
    FailureClass.AGENT_TIMEOUT,
    FailureClass.BUDGET,
    FailureClass.REFUSAL,
    FailureClass.TOOL_ERROR,
    FailureClass.CONTEXT,
    FailureClass.AGENT_CRASH,
    FailureClass.CHEATING,
}


class Source(Protocol):
    """Outcomes in the order in which they came."""

    name: str  # for people
    notes: list[str]  # what may have been missed, since `new` was last called

    def new(self) -> Iterator[Outcome]: ...
    def state(self) -> dict[str, Any]: ...


class File:
    """A file of JSON Lines or of OTLP/JSON lines."""

    def __init__(self, path: Path, fields: Mapping[str, str], state: Mapping[str, Any]) -> None:
        self.path, self.name = path, path.name
        self.reader = Reader(fields)
        self.place = Place(**state) if state else Place()
        self.notes: list[str] = []

    def new(self) -> Iterator[Outcome]:
        """What was appended since; OSError where the file cannot be read, WatchError where it is a pipe."""
        if self.path.is_fifo():  # to open it would be to wait for its writer, and nothing of it is read twice
            raise WatchError(f"`{self.path}` is a pipe: let it be written to a file, and watch that")
        self.notes, self.reader = [], Reader(self.reader.fields)
        tail = Tail(self.path, self.place)
        for line in tail.lines():
            if line is None:
                self.reader.fault("it is too long")
            else:
                yield from self.reader.outcomes(line)
        self.place = tail.place
        self.notes += tail.notes
        if count := self.reader.unreadable:
            what = "a line or record is no outcome" if count == 1 else f"{count:,} lines or records are no outcomes"
            self.notes.append(f"{what}: {self.reader.first_fault}")

    def state(self) -> dict[str, Any]:
        return asdict(self.place)


class Trials:
    """The ledger's trials of agents: ordinary and graded ones. A type of task is a task and who worked on it."""

    def __init__(self, ledger: Ledger, state: Mapping[str, Any]) -> None:
        self.ledger, self.name = ledger, str(ledger.folder)
        self.since: str = state.get("since", "")
        self.taken: set[str] = set(state.get("taken", ()))  # that began since then
        self.notes: list[str] = []

    def new(self) -> Iterator[Outcome]:
        """What has ended since; LedgerError where it cannot be read."""
        from scenlint.grading.model import KIND  # which a file's watch has no use for, and loads much

        taken, since, waiting = list[tuple[str, str]](), self.since, False
        for row in self.ledger.rows(since=self.since):
            waiting = waiting or row.running
            if not waiting:
                since = row.started
            if row.running:
                continue
            taken.append((row.started, row.id))
            if row.id not in self.taken and row.finished and row.kind in ("", KIND) and row.agent not in _CONTROLS:
                yield _outcome(row)
        self.since, self.taken = since, {id for started, id in taken if started >= since}

    def state(self) -> dict[str, Any]:
        return {"since": self.since, "taken": sorted(self.taken)}


def _outcome(row: Row) -> Outcome:
    """A trial as an outcome."""
    own = row.failure_class in _OWN
    success = None if row.status == Status.NO_VERDICT and not own else row.status == Status.PASSED
    if row.failure_class == FailureClass.CHEATING:
        success = False
    tools = None if success is None else int(row.failure_class == FailureClass.TOOL_ERROR)
    return Outcome(f"{row.task} ({row.agent})", success, row.started, row.cost_usd, tools)

"""An append-only file of JSON lines, each of which holds the hash of the one before, so that any later change shows.

A line is `{"n":…,"at":…,"kind":…,"data":…,"prev":…,"hash":…}` and a newline; `hash` is the sha256 of all that stands
before `,"hash":` in it, so that every byte of the file counts. The ledger keeps the head of each chain, which shows
that the end was cut off, or that the whole file was written anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from scenlint.harness.ledger import Head, Ledger
from scenlint.stats.words import count

FOLDER, SUFFIX = "audit", ".jsonl"  # in the ledger's folder
START = "0" * 64  # what the first line has for the hash of the one before
_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n')
_TAIL_SIZE = len(b',"hash":""}\n') + 64
_BLOCK = 1 << 16
_FIELDS = ("at", "kind", "data", "prev")
_BEGINNING = 128  # bytes of a line, in which its kind stands


class ChainError(Exception):
    """A chain that cannot be written or read; the text says why and what to do."""


@dataclass(frozen=True)
class Line:
    """A whole line of a chain. `number` counts from 1, as editors do."""

    number: int
    at: str  # ISO 8601, UTC
    kind: str
    data: dict[str, Any]
    prev: str
    hash: str
    stated: int  # the number it was written with


@dataclass(frozen=True)
class Fault:
    """What is wrong with a chain. A `note` is none: it should be known, and proves no change."""

    line: int  # from 1; 0: the file as a whole
    what: str
    note: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what


def path_of(ledger: Path, run: str) -> Path:
    """Where the chain of a run lies, in the ledger's folder."""
    return ledger / FOLDER / f"{run}{SUFFIX}"


def chain_of(ledger: Ledger, run: str) -> Chain:
    """The chain of a run of a ledger, to be read or appended to; ChainError where there is none."""
    return Chain.open(path_of(ledger.folder, run), ledger)


class Chain:
    """The chain in one file. Several threads and processes may append to it; their lines never mix."""

    def __init__(self, path: Path, ledger: Ledger | None = None) -> None:
        self.path, self.ledger = path, ledger
        self.recovered = ""  # what was cut off the end as a line that had not been written to its end
        self._lock = threading.Lock()

    @property
    def run(self) -> str:
        return self.path.name.removesuffix(SUFFIX)

    @classmethod
    def create(cls, path: Path, data: Mapping[str, Any], ledger: Ledger | None = None) -> Chain:
        """A new chain whose first line, of kind "run", holds `data`; ChainError where there is one already."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        _sync_folder(path.parent)
        chain = cls(path, ledger)
        chain._append("run", lambda: data, first=True)
        return chain

    @classmethod
    def open(cls, path: Path, ledger: Ledger | None = None) -> Chain:
        """The chain in a file; ChainError where there is none."""
        if not path.is_file():
            raise ChainError(f"there is no audit record `{path}`")
        return cls(path, ledger)

    def append(self, kind: str, data: Mapping[str, Any]) -> Line:
        """Add a line; it is on the disk when this returns. A line that a crash cut off before is taken away first."""
        return self._append(kind, lambda: data)

    def end(self, data: Mapping[str, Any]) -> Line:
        """The run is over: a line with its totals, and how many lines of each kind stand before it."""
        return self._append("end", lambda: {**data, "lines": dict(Counter(line.kind for line in self.lines()))})

    def lines(self, *kinds: str) -> Iterator[Line]:
        """The whole lines (of some kinds) in order; `verify` says whether they are as they were written."""
        wanted = [f'"kind":"{kind}"'.encode() for kind in kinds]
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if wanted and not any(text in raw[:_BEGINNING] for text in wanted):
                    continue
                line = _parsed(raw, number)
                if line is not None and (not kinds or line.kind in kinds):
                    yield line

    @property
    def ended(self) -> bool:
        """Whether the run came to its end."""
        return any(True for _ in self.lines("end"))

    # Writing

    def _append(self, kind: str, data: Callable[[], Mapping[str, Any]], *, first: bool = False) -> Line:
        with self._locked() as file:
            before = self.recovered
            last = self._last(file)
            if first and last.lines:
                raise ChainError(f"`{self.path}` is there already")
            if self.recovered != before:
                last, _ = self._write(file, "recovered", {"cut": self.recovered}, last)
            return self._write(file, kind, data(), last)[1]

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        with self._lock, self.path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _write(self, file: BinaryIO, kind: str, data: Mapping[str, Any], last: Head) -> tuple[Head, Line]:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        fields = {"n": last.lines + 1, "at": at, "kind": kind, "data": data, "prev": last.hash}
        body = json.dumps(fields, separators=(",", ":"))[:-1].encode("ascii")
        digest = hashlib.sha256(body).hexdigest()
        if self.ledger is not None:
            self.ledger.set_head(self.run, Head(last.lines, last.hash, digest))
        file.seek(0, os.SEEK_END)
        file.write(body + f',"hash":"{digest}"}}\n'.encode())
        file.flush()
        os.fsync(file.fileno())
        if self.ledger is not None:
            self.ledger.set_head(self.run, Head(last.lines + 1, digest))
        number = last.lines + 1
        return Head(number, digest), Line(number, at, kind, dict(data), last.hash, digest, number)

    def _last(self, file: BinaryIO) -> Head:
        """The last whole line; what a crash left of another one is cut off."""
        raw, rest = _ending(file)
        if rest:
            self.recovered = f"{rest} bytes of a line that was not written to its end"
            file.truncate(file.seek(0, os.SEEK_END) - rest)
        line = _parsed(raw, 0) if raw else None
        if raw and line is None:
            raise ChainError(f"the last line of `{self.path}` is not as it was written; see `scenlint audit verify`")
        last = Head(line.number, line.hash) if line else Head(0, START)
        known = self.ledger.head(self.run) if self.ledger is not None else None
        if known is not None and last.hash not in (known.hash, known.next):
            raise ChainError(f"`{self.path}` does not end as the ledger recorded; see `scenlint audit verify`")
        return last


def verify(path: Path, head: Head | None = None) -> list[Fault]:
    """What shows that the chain is not as it was written, against the ledger's head of it where there is one."""
    found: list[Fault] = []
    known = {START: 0}  # hash -> line
    last, ended, number, counts, broken = Head(0, START), 0, 0, Counter[str](), 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n") and not _parsed(raw[:-1] + b"\n", number):
                found.append(
                    Fault(number, f"it is cut off in the middle; the {number - 1} before it stand", note=True)
                    if number > 1
                    else Fault(number, "it is no whole line, and there is none before it")
                )
                break
            line = _parsed(raw, number)
            if line is None:
                found.append(Fault(number, _broken(raw)))
                last, broken = Head(number, _claimed(raw)), broken + 1
                continue
            if line.prev != last.hash:
                found.append(Fault(number, _misplaced(line, known)))
            known[line.hash] = number
            last = Head(number, line.hash)
            found += [Fault(number, what) for what in _counted(line, counts, broken)]
            counts[line.kind] += 1
            ended = number if line.kind == "end" else ended
    if not number:
        found.append(Fault(0, "it is empty"))
    return [*found, *_against(last, head, ended)]


def _misplaced(line: Line, known: Mapping[str, int]) -> str:
    """Why a line that is whole does not follow the one that stands before it."""
    if line.hash in known:
        return f"it stands here a second time; first in line {known[line.hash]}"
    if line.prev in known:
        return f"it was moved, or lines were put in before it: it follows line {known[line.prev] or 'none'}"
    return f"lines before it were taken out or changed: it was written as line {line.stated}"


def _counted(line: Line, counts: Counter[str], broken: int) -> Iterator[str]:
    """Whether as many lines stand before an end as it says; which they were cannot be told of `broken` ones."""
    stated = line.data.get("lines")
    if line.kind != "end" or not isinstance(stated, dict):
        return
    if not all(isinstance(n, int) for n in stated.values()):
        yield "what it says of the lines before it are no numbers"
        return
    more = Counter(stated)
    more.subtract(counts)
    if more.total() != broken or (not broken and any(more.values())):
        yield f"the run ended with {_listed(stated)}; before it stand {_listed(counts)}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))


def _against(last: Head, head: Head | None, ended: int) -> Iterator[Fault]:
    """What the ledger's head of the chain says of its end."""
    if head is None:
        if not ended:
            yield Fault(0, "the run has not ended; nothing shows whether lines are missing at the end", note=True)
    elif last.hash == head.hash:
        pass
    elif head.next and last.hash == head.next:
        pass  # written, and then the process died
    elif last.lines < head.lines:
        yield Fault(
            0, f"the end was cut off: the ledger knows {count(head.lines, 'line')}, the file holds {last.lines}"
        )
    else:
        yield Fault(0, f"it was written anew: its end (line {last.lines}) is not the one that the ledger recorded")


def _parsed(raw: bytes, number: int) -> Line | None:
    """A line; None if it is not as it was written. `number` 0: the one that it has for itself."""
    body, tail = raw[:-_TAIL_SIZE], _TAIL.fullmatch(raw[-_TAIL_SIZE:])
    if tail is None or hashlib.sha256(body).hexdigest().encode() != tail[1]:
        return None
    try:
        told = json.loads((body + b"}").decode("ascii"))
        at, kind, data, prev = (told[key] for key in _FIELDS)
        line = Line(number or told["n"], at, kind, data, prev, tail[1].decode(), told["n"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # somebody else wrote it, and hashed it: no line of ours reads like this
    texts = (line.at, line.kind, line.prev)
    sound = isinstance(line.data, dict) and isinstance(line.stated, int) and all(isinstance(t, str) for t in texts)
    return line if sound else None


def _broken(raw: bytes) -> str:
    """Why a line is none."""
    if hashlib.sha256(raw[:-_TAIL_SIZE]).hexdigest() == _claimed(raw):
        return "it was put in: its hash is right, but no scenlint writes such a line"
    return "it was changed: its hash is not that of its bytes"


def _claimed(raw: bytes) -> str:
    """The hash that a changed line has for itself, if that can be read."""
    tail = _TAIL.fullmatch(raw[-_TAIL_SIZE:])
    return tail[1].decode() if tail else ""


def _ending(file: BinaryIO) -> tuple[bytes, int]:
    """The last line that ends with a newline, and how many bytes stand after it."""
    at, text = file.seek(0, os.SEEK_END), b""
    while at and text.count(b"\n") < 2:
        step = min(_BLOCK, at)
        at -= step
        file.seek(at)
        text = file.read(step) + text
    whole, newline, rest = text.rpartition(b"\n")
    return whole.rpartition(b"\n")[2] + newline, len(rest)


def _sync_folder(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)

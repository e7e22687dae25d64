"""A file that others append to, rotate and truncate: gives the whole lines that have come since a place in it.

The place is the number of bytes read and a digest of the last of them, by which the file is known again whatever it is
called by then.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LONGEST = 16 << 20  # bytes of a line; a longer one is passed over
_KNOWN_BY = 4096  # bytes before the place
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Place:
    """How far a file has been read: the end of a line, and the digest of the bytes before it."""

    offset: int = 0
    digest: str = ""

    def matches(self, file: BinaryIO) -> bool:
        """Whether this is the file, with what was read of it still there."""
        return not self.offset or _digest(file, self.offset) == self.digest


class Tail:
    """Reads on from a place. `notes` says what may have been missed."""

    def __init__(self, path: Path, place: Place) -> None:
        self.path, self.place = path, place
        self.notes: list[str] = []

    def lines(self) -> Iterator[bytes | None]:
        """The whole lines that are new, oldest first; None for one that is too long. OSError if there is no file."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:  # between its rotation and the next line, perhaps
            if not self.place.offset:
                raise
            yield from self._rest()
            return
        with file:
            if self.place.matches(file):
                yield from self._read(file)
                return
            # Not the file that was read: it was rotated away, or truncated. Its rest comes first.
            yield from self._rest()
            self.place = Place()
            yield from self._read(file)

    def _rest(self) -> Iterator[bytes | None]:
        """What is new in the file that was read, under its later name, and in those that came after it."""
        with ExitStack() as held:
            rotated = []
            for path in _rotated(self.path):
                with suppress(FileNotFoundError):  # it was rotated on, or away
                    rotated.append(held.enter_context(path.open("rb")))
            rotated.sort(key=lambda file: os.fstat(file.fileno()).st_mtime_ns)
            for n, file in enumerate(rotated):
                if self.place.matches(file):
                    told = Path(file.name).name
                    self.notes.append(f"`{self.path.name}` was rotated; its rest was read from `{told}`")
                    yield from self._read(file)
                    for later in rotated[n + 1 :]:
                        self.place = Place()
                        yield from self._read(later)
                    return
        self.notes.append(
            f"`{self.path.name}` is another file than before, or was truncated: it is read from its beginning; what "
            f"came after the first {self.place.offset:,} bytes of the other one may have been missed"
        )

    def _read(self, file: BinaryIO) -> Iterator[bytes | None]:
        """What is new in a file. The place moves on with each block, when all of its lines have been taken."""
        file.seek(self.place.offset)
        rest, skipping = b"", False
        while block := file.read(_BLOCK):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                lines = whole.split(b"\n")
                if skipping:
                    lines[0], skipping = b"", False
                    yield None
                yield from (line if len(line) <= LONGEST else None for line in lines)
                self._at(file, file.tell() - len(rest))
            elif len(rest) > LONGEST:
                rest, skipping = b"", True

    def _at(self, file: BinaryIO, offset: int) -> None:
        here = file.tell()
        self.place = Place(offset, _digest(file, offset))
        file.seek(here)


def _digest(file: BinaryIO, offset: int) -> str:
    """Of the bytes before a place; "" where the file does not reach so far."""
    start = max(0, offset - _KNOWN_BY)
    file.seek(start)
    known = file.read(offset - start)
    return hashlib.sha256(known).hexdigest() if len(known) == offset - start else ""


def _rotated(path: Path) -> Iterator[Path]:
    """Files that are what the stream's file was before: `x.jsonl.1`, `x.jsonl-20260101`, `x-20260101.jsonl`."""
    numbers = r"[.-]\d[\d.T_-]*"
    form = re.compile(f"{re.escape(path.name)}{numbers}|{re.escape(path.stem)}{numbers}{re.escape(path.suffix)}")
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if form.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)

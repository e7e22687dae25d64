"""Notes what was looked at on disk while a task was judged, so that a cache can tell whether all of it is unchanged.

Whatever reads files in the static stage goes through FileTree, `read_bytes`, `is_file`, `exists` or `names_in`.
What an editor holds (`overlay`) is read in the place of the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from scenlint.source import overlay

Stat = tuple[int, int, int, int]  # mtime and ctime in nanoseconds, size, inode

MISSING = ""  # what is noted as the content of a file that could not be read


@dataclass
class Trace:
    """What was looked at; later looks at the same thing do not count, as its first state has already been used."""

    trees: dict[str, str] = field(default_factory=dict)  # folder -> digest of all that is listed below it
    files: dict[str, tuple[str, int, Stat | None]] = field(default_factory=dict)  # path -> digest of its first N bytes
    kinds: dict[str, str] = field(default_factory=dict)  # path -> see `kind_of`
    folders: dict[str, str] = field(default_factory=dict)  # folder -> digest of the names in it
    listed: dict[str, Stat] = field(default_factory=dict)  # listed files, where `thorough`
    thorough: bool = False  # rules of others may read files in ways that go unnoticed
    began: int = field(default_factory=time.time_ns)


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


@contextmanager
def recording(*, thorough: bool = False) -> Iterator[Trace]:
    """Gather what is looked at; `thorough`: the times of all files that are listed as well."""
    trace = Trace(thorough=thorough)
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)


def note_tree(folder: str, listing: Callable[[], str], paths: Iterable[str]) -> None:
    """A folder was listed with all that is below it."""
    if (trace := _current.get()) is None:
        return
    top = os.path.abspath(folder)
    trace.trees.setdefault(top, listing())
    for path in paths if trace.thorough else ():
        with suppress(OSError):
            trace.listed.setdefault(f"{top}/{path}", stat_of(os.stat(f"{top}/{path}")))


def _note_file(path: str | Path, data: bytes | None, limit: int, stat: Stat | None = None) -> None:
    if (trace := _current.get()) is not None:
        place = os.path.abspath(path)
        if place not in trace.files or trace.files[place][1] < limit:
            trace.files[place] = digest(data), limit, stat


def read_bytes(path: str | Path, limit: int) -> bytes:
    """The beginning of a regular file. Raises OSError where there is none, or it cannot be read."""
    if (held := overlay.content(path)) is not None:
        _note_file(path, held[:limit], limit)
        return held[:limit]
    try:
        # Not blocking: a named pipe put in a file's place must not hold the run up.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            before = stat_of(os.fstat(file.fileno()))
            data = file.read(limit)
    except OSError:
        _note_file(path, None, limit)
        raise
    _note_file(path, data, limit, before)
    return data


def is_file(path: str | Path) -> bool:
    """Whether a regular file, or a link to one, is there."""
    return _kind(path) == "file"


def exists(path: str | Path) -> bool:
    """Whether anything is there."""
    return _kind(path) != MISSING


def names_in(folder: str | Path) -> list[str]:
    """The names in a folder, sorted. Raises OSError where it cannot be listed."""
    names = sorted(os.listdir(folder))
    if (trace := _current.get()) is not None:
        trace.folders.setdefault(os.path.abspath(folder), digest_of_names(names))
    return names


def _kind(path: str | Path) -> str:
    kind = kind_of(path) if overlay.content(path) is None else "file"
    if (trace := _current.get()) is not None:
        trace.kinds.setdefault(os.path.abspath(path), kind)
    return kind


def kind_of(path: str | Path) -> str:
    """ "file", "folder", "other" or, where nothing is, ""; links are followed."""
    if os.path.isfile(path):
        return "file"
    return "folder" if os.path.isdir(path) else "other" if os.path.exists(path) else MISSING


def stat_of(info: os.stat_result) -> Stat:
    """What tells in most cases whether a file was touched."""
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino


def digest(data: bytes | None) -> str:
    return MISSING if data is None else blake2b(data, digest_size=16).hexdigest()


def digest_of_names(names: list[str]) -> str:
    return digest("\0".join(names).encode("utf-8", "surrogateescape"))

"""The files of one task folder: listed once, read lazily and boundedly, no link followed out of the folder."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scenlint.source import overlay, trace
from scenlint.source.text import Source

READ_LIMIT = 2 * 1024 * 1024  # bytes of one file that are ever read
ENTRY_LIMIT = 20_000  # files of one task that are ever listed
_UNLISTED = {".git", "node_modules", ".venv", "venv"}


@dataclass(frozen=True)
class Entry:
    """One file: `path` relative to the folder in posix form, size in bytes, and why it cannot be read (or "")."""

    path: str
    size: int
    problem: str = ""

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.path)[1].lower()


class FileTree:
    """What lies under a folder. Links to folders are not entered; a link to a file inside reads as that file."""

    def __init__(self, root: Path, limit: int = ENTRY_LIMIT) -> None:
        self.root = root
        self.directories: set[str] = set()
        self.complete = True
        self._sources: dict[str, Source | None] = {}
        self.entries: dict[str, Entry] = {}
        base = os.path.realpath(root)
        for entry in self._walk(str(root), base):
            if len(self.entries) >= limit:
                self.complete = False
                break
            self.entries[entry.path] = entry
        if limit:
            for path, size in overlay.below(base):
                self.entries[path] = Entry(path, size)
            trace.note_tree(str(root), self.listing, self.entries)

    @classmethod
    def of_file(cls, path: Path) -> FileTree | None:
        """A tree of one file, or None where there is no such file."""
        if not path.is_file():
            return None
        tree = cls(path.parent, limit=0)
        held = overlay.content(path)
        tree.entries[path.name] = Entry(path.name, path.stat().st_size if held is None else len(held))
        return tree

    def _walk(self, root: str, base: str) -> Iterator[Entry]:
        waiting = [_listed(root, "")]  # rather than recursion: folders may be nested deeper than Python's stack
        while waiting:
            item, path = next(waiting[-1], (None, ""))
            if isinstance(item, OSError):
                yield Entry(path, 0, _cannot("listed", item))
            elif item is None:
                waiting.pop()
            else:
                try:
                    if item.is_symlink():
                        yield self._link(item, path, base)
                    elif item.is_dir(follow_symlinks=False):
                        self.directories.add(path)
                        if item.name not in _UNLISTED:
                            waiting.append(_listed(item.path, path + "/"))
                    else:
                        info = item.stat(follow_symlinks=False)
                        kind = "" if stat.S_ISREG(info.st_mode) else "is not a regular file"
                        yield Entry(path, info.st_size, kind)
                except OSError as exc:
                    yield Entry(path, 0, _cannot("read", exc))

    @staticmethod
    def _link(item: os.DirEntry[str], path: str, base: str) -> Entry:
        try:
            # Strict, so that a loop or a missing target raises instead of giving a path.
            target = os.path.realpath(item.path, strict=True)
        except FileNotFoundError:
            return Entry(path, 0, "is a link to a file that does not exist")
        except OSError:
            return Entry(path, 0, "is a link that leads back to itself")
        if os.path.commonpath([target, base]) != base:
            return Entry(path, 0, "is a link that leads out of the task; it is not followed")
        if os.path.isdir(target):
            return Entry(path, 0, "is a link to a folder; it is not followed")
        return Entry(path, os.stat(target).st_size)

    def listing(self) -> str:
        """A digest of all that the listing says."""
        rows = [f"{e.path}\0{e.size}\0{e.problem}" for e in self.entries.values()]
        text = "\n".join([*rows, *sorted(self.directories), str(self.complete)])
        return trace.digest(text.encode("utf-8", "surrogateescape"))

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def has_dir(self, path: str) -> bool:
        return path.strip("/") in self.directories

    def under(self, folder: str) -> list[Entry]:
        """The files below a folder given relative to the root; all of them for ""."""
        prefix = folder.strip("/") + "/" if folder.strip("/") else ""
        return [e for e in self.entries.values() if e.path.startswith(prefix)]

    def read(self, path: str) -> Source | None:
        """The file's text (at most READ_LIMIT bytes of it), or None where it is missing or unreadable. Read once."""
        if path not in self._sources:
            entry = self.entries.get(path)
            self._sources[path] = None if entry is None or entry.problem else self._load(path)
        return self._sources[path]

    def _load(self, path: str) -> Source | None:
        try:
            data = trace.read_bytes(self.root / path, READ_LIMIT + 1)
        except OSError as exc:
            self.entries[path] = Entry(path, 0, _cannot("read", exc))
            return None
        return Source(self.root / path, data[:READ_LIMIT], truncated=len(data) > READ_LIMIT)


def _cannot(be: str, exc: OSError) -> str:
    why = (exc.strerror or "").lower()
    return f"cannot be {be}: {why}" if why else f"cannot be {be}"


def _listed(folder: str, prefix: str) -> Iterator[tuple[os.DirEntry[str] | OSError, str]]:
    """What a folder holds, in order, with paths that begin with `prefix`; or why it cannot be listed."""
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda e: e.name)
    except OSError as exc:
        yield exc, prefix.rstrip("/") or "."
        return
    yield from ((item, prefix + item.name) for item in found)


def read_source(path: Path) -> Source | None:
    """A file beside the tasks rather than in one (an apps list, a shared script); bounded, None where unreadable."""
    try:
        if not trace.is_file(path):
            return None
        data = trace.read_bytes(path, READ_LIMIT + 1)
    except OSError:
        return None
    return Source(path, data[:READ_LIMIT], truncated=len(data) > READ_LIMIT)

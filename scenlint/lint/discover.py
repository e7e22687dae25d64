"""Finds the tasks behind the paths a user names: folders are walked, a file inside a task selects its task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.config import Settings
from scenlint.formats.base import Format, TaskRef
from scenlint.lint.registry import load_entry
from scenlint.lint.select import check_patterns
from scenlint.source.files import read_source
from scenlint.source.ignores import ignore_spec

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GROUP = "scenlint.formats"
_NEVER = {".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache"}


@cache
def load_formats() -> tuple[Format, ...]:
    """Every installed format, built-in ones first."""
    points = sorted(entry_points(group=GROUP), key=lambda p: (not p.value.startswith("scenlint."), p.name))
    return tuple(load_entry(point) for point in points)


@cache
def format_named(name: str) -> Format:
    return next(f for f in load_formats() if f.name == name)


@dataclass
class Discovery:
    """The tasks found, in order and each once, and what is to be said of paths that led to none."""

    refs: list[TaskRef] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # paths that do not exist
    crashes: list[str] = field(default_factory=list)  # faults of scenlint itself


class Finder:
    """Walks folders, respecting .gitignore files and the configured exclusions."""

    def __init__(self, settings: Settings, *, force_exclude: bool = False) -> None:
        self.settings = settings
        self.force_exclude = force_exclude
        self.crashes: list[str] = []
        check_patterns(settings.exclude)
        self.excluded = ignore_spec(settings.exclude) if settings.exclude else None

    def discover(self, paths: Sequence[Path]) -> Discovery:
        out = Discovery(crashes=self.crashes)
        seen: set[tuple[str, str, str]] = set()  # a folder and a link to it are one
        for path in paths:
            if not os.path.exists(path):
                if not os.path.islink(path):
                    out.missing.append(str(path))
                continue
            absolute = Path(os.path.abspath(path))
            if self.force_exclude and self._is_excluded(absolute):
                continue
            unlisted, excluded = list[str](), list[Path]()
            refs = list(self._walk(absolute, unlisted, excluded)) if os.path.isdir(absolute) else []
            refs = refs or self.around(absolute)
            out.messages += unlisted
            if not refs and not unlisted:
                kind = "folder holds" if os.path.isdir(absolute) else "file belongs to"
                beside = " but in the folders that `exclude` leaves out" if excluded else ""
                out.messages.append(f"{path}: this {kind} no task of a known format{beside}")
            for ref in refs:
                identity = (ref.format, os.path.realpath(ref.folder), ref.key)
                if identity not in seen:
                    seen.add(identity)
                    out.refs.append(ref)
        return out

    def _find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        for form in load_formats():
            try:
                refs = form.find(folder, names)
            except Exception as exc:  # one odd folder must not hide the others
                what = f"internal error while {form.name} tasks were looked for in {folder}"
                self.crashes.append(f"{what}: {type(exc).__name__}")
                continue
            if refs:
                return refs
        return []

    def around(self, path: Path) -> list[TaskRef]:
        """The task whose folder holds a path; of several in that folder the one whose key it is."""
        for folder in path.parents:
            try:
                names = frozenset(os.listdir(folder))
            except OSError:
                continue
            refs = self._find(folder, names)
            if refs:
                inside = path.relative_to(folder).as_posix()
                return [ref for ref in refs if ref.key == inside] or refs
        return []

    def _walk(self, top: Path, unlisted: list[str], excluded: list[Path]) -> Iterator[TaskRef]:
        """The tasks below a folder, in order.

        Folders that cannot be listed are added to `unlisted`, those that the configuration leaves out to `excluded`.
        """
        # Rather than recursion: folders may be nested deeper than Python's stack.
        waiting: list[tuple[Path, list[tuple[Path, GitIgnoreSpec]] | None]] = [(top, None)]
        while waiting:
            folder, ignores = waiting.pop()
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda e: e.name)
            except OSError as exc:
                unlisted.append(f"{folder}: this folder cannot be read: {exc.strerror}")
                continue
            names = frozenset(e.name for e in entries)
            refs = self._find(folder, names)
            if refs:
                yield from refs
                continue
            if ignores is None:
                ignores = self._ignores_above(folder)
            if ".gitignore" in names:
                ignores = [*ignores, *_spec(folder)]
            for entry in reversed(entries):
                # A link to a folder is not entered: what it leads to is checked where it lies, and loops end here.
                if entry.is_dir(follow_symlinks=False) and entry.name not in _NEVER:
                    child = folder / entry.name
                    if self._is_excluded(child):
                        excluded.append(child)
                    elif not _ignored(child, ignores):
                        waiting.append((child, ignores))

    def _is_excluded(self, path: Path) -> bool:
        if self.excluded is None:
            return False
        try:
            relative = path.relative_to(self.settings.root).as_posix()
        except ValueError:
            return False
        return self.excluded.match_file(relative) or self.excluded.match_file(relative + "/")

    @staticmethod
    def _ignores_above(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
        """The .gitignore files between the repository's top and the folder (what was named is never ignored)."""
        chain: list[Path] = []
        for above in folder.parents:
            chain.append(above)
            if os.path.exists(above / ".git"):
                return [pair for top in reversed(chain) for pair in _spec(top)]
        return []


def _spec(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    source = read_source(folder / ".gitignore")
    return [] if source is None or source.binary else [(folder, ignore_spec(source.text.splitlines()))]


def _ignored(path: Path, ignores: list[tuple[Path, GitIgnoreSpec]]) -> bool:
    verdict = False
    for base, spec in ignores:  # deeper files decide last, as in git
        result = spec.check_file(path.relative_to(base).as_posix() + "/")
        if result.include is not None:
            verdict = result.include
    return verdict

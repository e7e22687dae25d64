"""The cache: what came of a task, kept until a file that was read, a rule, the configuration or scenlint changes.

An entry is a file of JSON with a checksum in front, written whole or not at all, so that runs side by side and runs
that die leave nothing half done. It lies in the user's own cache folder rather than beside the tasks: a task from
somebody else must not bring along what is to be found in it. Whatever is wrong with an entry, it counts as missing.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenlint.config import Settings
from scenlint.formats.base import TaskRef
from scenlint.lint.engine import Outcome, Selected
from scenlint.lint.identity import code_digest, digest_of, plain, plugins
from scenlint.lint.packed import pack, pack_selected, unpack, unpack_selected
from scenlint.source import trace
from scenlint.source.files import FileTree
from scenlint.source.secrets import redact
from scenlint.source.trace import Trace

VARIABLE = "SCENLINT_CACHE_DIR"
KEEP = 30 * 24 * 3600  # seconds that an entry is kept
FAULTS = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
RACY = 2_000_000_000  # ns: a file touched so shortly before it was read may change again within the same tick
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of scenlint; it may be removed at any time.\n"


class Cache:
    """What came of tasks in earlier runs with the same rules and settings. Never raises for what is on disk."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.problem = _prepare(folder)  # why it is not used, or ""
        self.thorough = bool(plugins())
        if not (settings.per_path_ignores or settings.suppressions):
            settings = replace(settings, root=Path())  # which nothing is relative to
        self._settings = digest_of(plain(settings))
        self._code = "" if self.problem else code_digest()
        self.unwritable = ""  # why nothing more is stored, or ""

    def recall(self, what: TaskRef | str) -> list[Outcome] | None:
        """What came of a task, or of what else is named, if nothing that it was made from has changed since."""
        place = self._place(what)
        try:
            entry = self._entry(place, what)
            state = _state(entry["seen"])
            if state == "changed":
                return None
            base = _base(what)
            outcomes = [unpack(values, base) for values in entry["outcomes"]]
        except FAULTS:
            return None
        if state == "touched":  # so that its content need not be read next time
            self._write(place, {**entry, "seen": _again(entry["seen"])})
        return outcomes

    def keep(self, what: TaskRef | str, outcomes: Iterable[Outcome], seen: Trace) -> None:
        """Store what came of a task, or of what else is named."""
        outcomes = list(outcomes)
        if self.problem or any(outcome.crashes for outcome in outcomes):
            return
        base = _base(what)
        entry = {
            "code": self._code,
            "what": _name(what),
            "seen": {
                "began": seen.began, "trees": seen.trees, "files": seen.files, "kinds": seen.kinds,
                "folders": seen.folders, "listed": seen.listed,
            },
            "outcomes": [pack(outcome, base) for outcome in outcomes],
        }  # fmt: skip
        self._write(self._place(what), entry)

    def remember(self, what: str, make: Callable[[], list[Outcome]]) -> list[Outcome]:
        """What is kept under a name, else what is made now."""
        outcomes = self.recall(what)
        if outcomes is None:
            with trace.recording(thorough=self.thorough) as seen:
                outcomes = make()
            self.keep(what, outcomes, seen)
        return outcomes

    def selected(self, make: Callable[[], Selected]) -> Selected:
        """What is to be said of the rules, kept with what came of the tasks."""
        what = "the selected rules"
        place = self._place(what)
        try:
            return unpack_selected(self._entry(place, what)["selected"])
        except FAULTS:
            made = make()
        if not self.problem:
            self._write(place, {"code": self._code, "what": what, "selected": pack_selected(made)})
        return made

    def _entry(self, place: Path, what: TaskRef | str) -> dict[str, Any]:
        """Raises one of FAULTS where there is no entry that this code has made."""
        if self.problem:
            raise KeyError(self.problem)
        check, _, body = _read(place).partition(b"\n")
        if int(check, 16) != zlib.crc32(body):
            raise ValueError("damaged")
        entry: dict[str, Any] = json.loads(body)
        if entry["code"] != self._code or entry["what"] != _name(what):
            raise KeyError("made by other code")
        return entry

    def _place(self, what: TaskRef | str) -> Path:
        name = digest_of([self._settings, _name(what)])
        return self.folder / name[:2] / f"{name[2:]}.json"

    def _write(self, place: Path, entry: Mapping[str, Any]) -> None:
        text = json.dumps(entry, separators=(",", ":"))
        if self.unwritable or redact(text) != text:  # some texts are blanked out only when they are printed
            return
        body = text.encode()
        draft = place.with_suffix(f".{os.getpid()}-{time.time_ns()}")
        try:
            place.parent.mkdir(mode=0o700, exist_ok=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600), "wb") as file:
                file.write(b"%08x\n" % zlib.crc32(body) + body)
            os.replace(draft, place)
        except (OSError, ValueError) as exc:  # read-only, or the disk is full: the next one would fare no better
            self.unwritable = f"{self.folder}: {getattr(exc, 'strerror', '') or exc}"
            with suppress(OSError):
                os.unlink(draft)


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


# ---------------------------------------------------------------- the folder


def folder() -> Path | None:
    """Where the cache lies: $SCENLINT_CACHE_DIR, else in the platform's folder for the user's caches."""
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "scenlint"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "scenlint" / "Cache"
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else home / ".cache") / "scenlint"


def open_cache(settings: Settings) -> Cache | None:
    """The user's cache; None where there is no place for one."""
    place = folder()
    return None if place is None else Cache(place, settings)


def remove(*, dry_run: bool = False) -> tuple[Path | None, int]:
    """Empty the cache: where it lay, and how many entries it had. Raises OSError where they cannot be removed."""
    place = folder()
    if place is None or not _is_ours(place):
        return place, 0
    parts = _parts(place)
    number = sum(len(list(part.glob("*.json"))) for part in parts)
    if dry_run:
        return place, number
    for part in parts:
        try:
            shutil.rmtree(part)
        except OSError as exc:  # a run at the same time may store on, or remove what is old
            if exc.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                raise
    for name in ("CACHEDIR.TAG", ".gitignore", "swept"):
        (place / name).unlink(missing_ok=True)
    try:
        place.rmdir()
    except OSError:  # as above: without its tag the folder would never be used again
        _tag(place)
    return place, number


def _parts(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if len(p.name) == 2 and p.is_dir() and not p.is_symlink())


def _tag(folder: Path) -> None:
    (folder / "CACHEDIR.TAG").write_text(_TAG, "utf-8")
    (folder / ".gitignore").write_text("*\n", "utf-8")


def _is_ours(folder: Path) -> bool:
    try:
        return (folder / "CACHEDIR.TAG").read_text("utf-8") == _TAG
    except (OSError, ValueError):
        return False


def _prepare(folder: Path) -> str:
    """Make the folder where it is not there; why it is not to be used, or ""."""
    try:
        if not _is_ours(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()) and not _is_ours(folder):
                return f"{folder}: this folder holds other things than a cache of scenlint"
            _tag(folder)
        info = os.stat(folder)
        if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & stat.S_IWOTH):
            return f"{folder}: another user could write there"
        _sweep(folder)
    except OSError as exc:
        return f"{folder}: {exc.strerror}"
    return ""


def _sweep(folder: Path) -> None:
    """Once a day, remove what has become old."""
    mark = folder / "swept"
    now = time.time()
    with suppress(OSError):
        if now - mark.stat().st_mtime < 24 * 3600:
            return
    with suppress(OSError):
        mark.touch()
        for part in _parts(folder):
            for file in part.iterdir():
                if now - file.stat().st_mtime > KEEP:
                    file.unlink()


def _read(place: Path) -> bytes:
    with open(os.open(place, os.O_RDONLY | _NO_LINK), "rb") as file:
        return file.read()


# ---------------------------------------------------------------- whether an entry still holds


def _state(seen: dict[str, Any]) -> str:
    """ "same"; "touched" where only times have changed; or "changed"."""
    settled = seen["began"] - RACY
    touched = False
    for path, stats in seen["listed"].items():
        if trace.stat_of(os.stat(path)) != tuple(stats) or max(stats[:2]) >= settled:
            return "changed"
    for path, (digest, limit, stats) in seen["files"].items():
        if digest and stats and max(stats[:2]) < settled and _stat(path) == tuple(stats):
            continue
        if digest != _content(path, limit):
            return "changed"
        touched = touched or bool(digest)
    if any(trace.kind_of(path) != kind for path, kind in seen["kinds"].items()):
        return "changed"
    if any(FileTree(Path(folder)).listing() != listing for folder, listing in seen["trees"].items()):
        return "changed"
    if any(trace.digest_of_names(sorted(os.listdir(folder))) != names for folder, names in seen["folders"].items()):
        return "changed"
    return "touched" if touched else "same"


def _stat(path: str) -> trace.Stat | None:
    try:
        return trace.stat_of(os.stat(path))
    except OSError:
        return None


def _content(path: str, limit: int) -> str:
    try:
        return trace.digest(trace.read_bytes(path, limit))
    except OSError:
        return trace.MISSING


def _again(seen: dict[str, Any]) -> dict[str, Any]:
    """The same with the files' present times. They are taken first: who changes a file now will be noticed."""
    began = time.time_ns()
    files = {}
    for path, (digest, limit, _) in seen["files"].items():
        stats = _stat(path)
        files[path] = digest, limit, stats if digest == _content(path, limit) else None
    return {**seen, "began": began, "files": files}


def _name(what: TaskRef | str) -> Any:
    if isinstance(what, str):
        return what
    suite = None if what.suite is None else str(what.suite)
    return [what.format, str(what.folder), os.path.realpath(what.folder), what.key, suite]


def _base(what: TaskRef | str) -> str:
    return "" if isinstance(what, str) else str(what.folder)

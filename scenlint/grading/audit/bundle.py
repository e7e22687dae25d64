"""A run's audit record as one file, a zip of chain, records and artefacts, that another ledger takes in after checking.

`manifest.json` says what it holds; `chain.jsonl` is the chain, byte for byte; `trials/<id>/…` are the files that its
lines name with their hashes. Files that are too large are left out, which the manifest says.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import scenlint
from scenlint.grading.audit.artefacts import hashes
from scenlint.grading.audit.chain import Chain, Fault, Line, path_of, verify
from scenlint.grading.audit.examine import GRADED, Examined, compared, examine, left_out
from scenlint.harness.ledger import Head, Ledger
from scenlint.task.record import TrialRecord

VERSION = 1
MANIFEST, CHAIN, TRIALS = "manifest.json", "chain.jsonl", "trials"
RECORD = "record.json"  # is never left out
MAX_FILE, MAX_ALL = 64 * 1024**2, 4 * 1024**3  # bytes
SHOWN = 20  # faults
_MAX_UNPACKED = 32 * 1024**3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same run makes the same file


class BundleError(Exception):
    """A record that is not exported or taken in; each line of the text says why. `changed`: it is not as written."""

    def __init__(self, text: str, *, changed: bool = False) -> None:
        super().__init__(text)
        self.changed = changed


@dataclass
class Bundled:
    """What was written or taken in."""

    run: str
    lines: int = 0
    trials: int = 0
    files: int = 0
    left_out: list[str] = field(default_factory=list)  # files that were too large


def export(ledger: Ledger, run: str, target: Path, *, max_file: int = MAX_FILE, max_all: int = MAX_ALL) -> Bundled:
    """Write a run's record to a file; BundleError if it is not as it was written, or the file is there already."""
    found = examine(ledger, run)
    if found.faults:
        raise BundleError("\n".join(map(str, found.faults[:SHOWN])), changed=True)
    if target.exists():
        raise BundleError(f"`{target}` is there already")
    out, head, left = Bundled(run, found.lines, found.trials), Head(0, ""), max_all
    partial = target.with_name(f"{target.name}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for line in Chain(found.path).lines():
                head = Head(line.number, line.hash)
                for path in _artefacts(line, ledger):
                    name, size = _name(path, ledger), path.lstat().st_size
                    fits = path.is_file() and not path.is_symlink() and size <= min(max_file, left)
                    if path.name != RECORD and not fits:
                        out.left_out.append(name)
                        continue
                    left -= size
                    out.files += 1
                    _add(archive, f"{TRIALS}/{name}", path)
            out.left_out += sorted(left_out(Chain(found.path)))
            _add(archive, CHAIN, found.path)
            told = {"version": VERSION, "scenlint": scenlint.__version__, "run": run, "lines": head.lines,
                    "head": head.hash, "left_out": out.left_out}  # fmt: skip
            archive.writestr(_info(MANIFEST), json.dumps(told, indent=1), zipfile.ZIP_DEFLATED)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return out


def take_in(ledger: Ledger, source: Path) -> Bundled:
    """Check a file of `export` and enter what it holds; BundleError if it was changed, or is here already."""
    with unpacked(source, ledger.folder) as found:
        if wrong := found.faults():
            raise BundleError("\n".join(map(str, wrong[:SHOWN])), changed=True)
        records = {line.data["record"]["id"]: line.data["record"] for line in found.graded()}
        chain, out = path_of(ledger.folder, found.run), found.summary()
        known = [name for name in records if ledger.count(trial=name)]
        if known or ledger.head(found.run):
            what = f"trial `{known[0]}`" if known else f"run `{found.run}`"
            raise BundleError(f"{what} is in this ledger already")
        for name in records:
            if (found.trials / name).is_dir():
                shutil.rmtree(ledger.folder_of(name), ignore_errors=True)  # of an import that was cut short
                ledger.folder_of(name).parent.mkdir(parents=True, exist_ok=True)
                (found.trials / name).rename(ledger.folder_of(name))
        chain.parent.mkdir(parents=True, exist_ok=True)
        found.chain.replace(chain)
        ledger.enter(map(TrialRecord.from_json, records.values()), {found.run: Head(found.lines, found.head)})
    Chain.open(chain, ledger).append("imported", {"left_out": found.left_out})
    return out


def is_bundle(path: Path) -> bool:
    """Whether a file is a zip, as those of `export` are, or was one before its end was cut off."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def examine_bundle(source: Path) -> Examined:
    """A file of `export` on its own; BundleError where it is none."""
    with unpacked(source) as found:
        told = found.summary()
        ended = Chain(found.chain).ended
        return Examined(found.run, source, told.lines, told.trials, told.files, ended, found.faults())


@dataclass(frozen=True)
class Unpacked:
    """What lies in a folder after a file of `export` was unpacked there."""

    place: Path
    run: str
    lines: int
    head: str
    left_out: list[str]

    @property
    def chain(self) -> Path:
        return self.place / CHAIN

    @property
    def trials(self) -> Path:
        return self.place / TRIALS

    def graded(self) -> Iterator[Line]:
        return Chain(self.chain).lines(*GRADED)

    def faults(self) -> list[Fault]:
        """What is not as it was written."""
        out = [fault for fault in verify(self.chain, Head(self.lines, self.head)) if not fault.note]
        first = next(Chain(self.chain).lines(), None)
        if first is None or (first.kind, first.data.get("id")) != ("run", self.run):
            out.append(Fault(1, f"it is not where the run `{self.run}` begins"))
        known, absent = set(), set(self.left_out)
        for line in self.graded():
            try:
                name = TrialRecord.from_json(line.data["record"]).id
                written = {
                    path: digest for path, digest in line.data["files"].items() if f"{name}/{path}" not in absent
                }
                if not _NAME.fullmatch(name):
                    raise ValueError(f"`{name}` is no name of a trial")
            except (ValueError, KeyError, TypeError, AttributeError) as exc:
                out.append(Fault(line.number, f"it holds no trial: {exc}"))
                continue
            known.add(name)
            found = compared(written, hashes(self.trials / name))
            out += [Fault(line.number, f"trial {name}: {what}") for what in found]
        strangers = {path.name for path in self.trials.glob("*")} - known
        return out + [Fault(0, f"`{TRIALS}/{name}` belongs to no line") for name in sorted(strangers)]

    def summary(self) -> Bundled:
        """To be told."""
        trials = sum(1 for _ in Chain(self.chain).lines("trial"))
        files = sum(path.is_file() for path in self.trials.rglob("*"))
        return Bundled(self.run, self.lines, trials, files, self.left_out)


@contextmanager
def unpacked(source: Path, near: Path | None = None) -> Iterator[Unpacked]:
    """A file of `export`, unpacked for as long as it lasts; BundleError where it is none."""
    with tempfile.TemporaryDirectory(prefix=".import-", dir=near) as scratch:
        place = Path(scratch)
        try:
            with zipfile.ZipFile(source) as archive:
                _unpack(archive, place)
            told = json.loads((place / MANIFEST).read_text("utf-8"))
            if told["version"] > VERSION:
                raise BundleError(f"`{source}` was written by a newer scenlint")
            absent = [str(name) for name in told["left_out"]]
            found = Unpacked(place, str(told["run"]), int(told["lines"]), str(told["head"]), absent)
            if not found.chain.is_file() or not _NAME.fullmatch(found.run):
                raise ValueError("it holds no audit record")
        except OSError as exc:
            raise BundleError(f"`{source}`: {exc.strerror or exc}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, AttributeError) as exc:
            raise BundleError(f"`{source}` is no exported audit record, or is damaged: {exc}") from None
        yield found


def _artefacts(line: Line, ledger: Ledger) -> Iterator[Path]:
    if line.kind in GRADED:
        folder = ledger.folder_of(line.data["record"]["id"])
        places = (folder / name for name in sorted(line.data["files"]))
        yield from (path for path in places if path.is_symlink() or path.exists())


def _name(path: Path, ledger: Ledger) -> str:
    return path.relative_to(ledger.folder_of("")).as_posix()


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    info = _info(name)
    info.file_size = path.stat().st_size
    with path.open("rb") as file, archive.open(info, "w") as entry:
        shutil.copyfileobj(file, entry, 1 << 20)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _unpack(archive: zipfile.ZipFile, place: Path) -> None:
    """Plain files only, each where its name says, and no more bytes than an export may hold."""
    infos = archive.infolist()
    if sum(info.file_size for info in infos) > _MAX_UNPACKED:
        raise ValueError(f"it holds more than {_MAX_UNPACKED // 1024**3} GB")
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("it holds a file twice")
    for info in infos:
        parts = info.filename.split("/")
        own = info.filename in (MANIFEST, CHAIN) or (parts[0] == TRIALS and len(parts) > 2)
        if not own or {"", ".", ".."}.intersection(parts) or "\\" in info.filename or "\0" in info.filename:
            raise ValueError(f"it holds `{info.filename}`")
        target = place.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as entry, target.open("xb") as file:
            shutil.copyfileobj(entry, file, 1 << 20)

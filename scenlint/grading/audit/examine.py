"""Whether a run's audit record, the files of its trials, and what the ledger says of them are as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.grading.audit.artefacts import hashes
from scenlint.grading.audit.chain import FOLDER, SUFFIX, Chain, Fault, Line, path_of, verify
from scenlint.harness.ledger import Ledger, LedgerError, schema
from scenlint.task.record import TrialRecord

GRADED = ("trial", "regrade")  # kinds of lines that hold a record and the hashes of its files


@dataclass
class Examined:
    """What came of it. Faults and notes are in the order of their lines."""

    run: str
    path: Path
    lines: int = 0
    trials: int = 0
    files: int = 0  # that were compared with their hash
    ended: bool = False
    found: list[Fault] = field(default_factory=list)

    @property
    def faults(self) -> list[Fault]:
        return [f for f in self.found if not f.note]

    @property
    def notes(self) -> list[Fault]:
        return [f for f in self.found if f.note]


def recorded(ledger: Ledger) -> list[str]:
    """The runs that have an audit record, or had one."""
    return sorted({path.stem for path in (ledger.folder / FOLDER).glob(f"*{SUFFIX}")} | ledger.heads().keys())


def examine(ledger: Ledger, run: str) -> Examined:
    """The record of a run of this ledger, against the ledger's own memory of it and the trials' folders."""
    out = Examined(run, path_of(ledger.folder, run))
    head = ledger.head(run)
    if not out.path.is_file():
        known = f"the ledger knows {head.lines} lines of it" if head else "the ledger does not know it either"
        out.found.append(Fault(0, f"it is gone; {known}"))
        return out
    out.found = verify(out.path, head)
    if head is None:
        out.found.append(Fault(0, "the ledger does not know this record, as it was made anew or is another one", True))
    absent = left_out(Chain(out.path))
    for line in counted(out):
        out.found += [Fault(line.number, what) for what in _against_ledger(line, ledger, out, absent)]
    out.found.sort(key=lambda f: f.line)
    return out


def examine_file(path: Path) -> Examined:
    """A chain on its own: neither head nor artefacts are at hand."""
    out = Examined(path.name.removesuffix(SUFFIX), path)
    out.found = verify(path)
    for _ in counted(out):
        pass
    return out


def counted(out: Examined) -> Iterator[Line]:
    """The lines with trials; fills in what there is."""
    for line in Chain(out.path).lines():
        out.lines += 1
        out.ended = line.kind == "end" or (out.ended and line.kind != "trial")
        if line.kind not in GRADED:
            continue
        record, files = line.data.get("record"), line.data.get("files")
        if isinstance(record, dict) and isinstance(record.get("id"), str) and isinstance(files, dict):
            out.trials += line.kind == "trial"
            yield line
        else:
            out.found.append(Fault(line.number, "it holds no trial"))


def compared(written: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """How a trial's files differ from what was written of them, by name and hash."""
    for name in sorted(written.keys() | found.keys()):
        if name not in found:
            yield f"`{name}` is gone"
        elif name not in written:
            yield f"`{name}` was added"
        elif written[name] != found[name]:
            yield f"`{name}` was changed ({found[name][:19]}…, recorded {written[name][:19]}…)"


def left_out(chain: Chain) -> set[str]:
    """The files (`<trial>/<path>`) of a record that was taken in from a file that did not hold them."""
    return {name for line in chain.lines("imported") for name in line.data.get("left_out", ())}


def _against_ledger(line: Line, ledger: Ledger, out: Examined, absent: set[str]) -> Iterator[str]:
    record, name = line.data["record"], line.data["record"]["id"]
    written = {path: digest for path, digest in line.data["files"].items() if f"{name}/{path}" not in absent}
    folder = ledger.folder_of(name)
    if folder.is_dir():
        out.files += len(written)
        yield from (f"trial {name}: {what}" for what in compared(written, hashes(folder)))
    elif written:
        yield f"trial {name}: its folder `{folder.name}` is gone"
    yield from (f"trial {name}: {what}" for what in _stored(name, record, ledger))


def _stored(name: str, record: dict[str, Any], ledger: Ledger) -> Iterator[str]:
    """How the record in the ledger's database differs from the one that was written to the chain."""
    try:
        entry = ledger.entry(name)
        written = TrialRecord.from_json(record).to_json()
    except (LedgerError, ValueError, TypeError, KeyError) as exc:
        yield f"its record cannot be read ({exc})"
        return
    if entry is None:
        yield "the ledger does not know it"
        return
    row, kept = entry.row, entry.record.to_json()
    if differing := [key for key in written if written[key] != kept.get(key)]:
        yield f"the ledger's record of it was changed ({_listed(differing)})"
    columns = {key: value for key, value in schema.columns(kept).items() if value != getattr(row, key)}
    if columns and not differing:
        yield f"the ledger's columns of it were changed ({_listed(list(columns))})"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:5]) + (" …" if len(names) > 5 else "")

"""What an audit record says of a trial: its whole record, and the hash of every file that it left."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.harness import local
from scenlint.task.record import TrialRecord


def trial_data(record: TrialRecord, folder: Path) -> dict[str, Any]:
    """The data of a line of kind "trial". `folder` is the trial's own, after `Ledger.finish`."""
    return {"record": record.to_json(), "files": hashes(folder)}


def hashes(folder: Path) -> dict[str, str]:
    """`sha256:…` of every file below a trial's folder by its path there; of a link, the hash of where it points."""
    return {path.relative_to(folder).as_posix(): digest(path) for path in files(folder)}


def files(folder: Path) -> Iterator[Path]:
    """Every file and link below a trial's folder, in order; what a killed sandbox left is none of its outputs."""
    left = local.left(folder)
    for place, folders, names in os.walk(folder):
        here = Path(place)
        linked = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(n for n in folders if n not in linked and here / n not in left)
        yield from (here / name for name in sorted([*names, *linked]))


def digest(path: Path) -> str:
    """The hash of a file's bytes, or of where a link points; "" for what is neither."""
    if path.is_symlink():
        return f"sha256:{hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()}"
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

"""Files that only a grader may read: a fresh 0700 folder with a 0600 file for each of its runs, deleted afterwards."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scenlint.harness.box import Mount
from scenlint.harness.environment import Fault, InfrastructureError
from scenlint.harness.identity import Identity

INSIDE = "/private"


@contextmanager
def private_files(
    files: Sequence[tuple[str, str, str]], parent: Path, owner: Identity
) -> Iterator[tuple[dict[str, str], tuple[Mount, ...]]]:
    """Variables that name the files, and what to mount. `files`: (variable, file name, content).

    The folder is deleted only if it and its files are still what was made here: otherwise somebody moved the contents
    elsewhere, and a Fault names the path. The same holds where it cannot be written or deleted.
    """
    if not files:
        yield {}, ()
        return
    name = f"grading-{secrets.token_hex(8)}"
    folder = parent / name
    shown = f"{INSIDE}/{name}"
    made: dict[Path, tuple[int, int, int]] = {}
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700)
        for _, file, content in files:
            place = folder / file
            fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8") as out:
                out.write(content)
            owner.own(place)
            made[place] = _identity(place)
        for path in (folder, parent):
            owner.own(path)
        made[folder] = _identity(folder)
    except OSError as exc:
        raise InfrastructureError(f"`{shown}` could not be written: {exc.strerror}") from exc
    try:
        yield {variable: f"{shown}/{file}" for variable, file, _ in files}, (Mount(parent, INSIDE, True),)
    finally:
        _delete(folder, made, shown)


def _delete(folder: Path, made: dict[Path, tuple[int, int, int]], shown: str) -> None:
    for path, identity in made.items():
        try:
            same = _identity(path) == identity
        except OSError:
            same = False
        if not same:
            name = shown if path == folder else f"{shown}/{path.name}"
            raise Fault(f"`{name}` was moved, deleted or replaced while the grader ran; what it held may lie elsewhere")
    try:
        shutil.rmtree(folder)
    except OSError as exc:
        raise Fault(f"`{shown}` could not be deleted: {exc.strerror}") from exc


def _identity(path: Path) -> tuple[int, int, int]:
    info = path.lstat()
    return info.st_dev, info.st_ino, stat.S_IFMT(info.st_mode)

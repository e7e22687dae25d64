"""A folder as one message and back, so that judge and solution never share one. No link leads out of it."""

from __future__ import annotations

import base64
import os
import posixpath
import shutil
import stat
from collections.abc import Iterator
from typing import Any

from . import wire

_ENTRIES = 20_000


def pack(folder: str) -> list[dict[str, Any]]:
    """Everything below a folder: folders, files and links; devices, pipes and sockets are left out."""
    out: list[dict[str, Any]] = []
    size = 0
    for path, relative in _below(folder, ""):
        info = os.lstat(path)
        entry: dict[str, Any] = {"path": os.fsencode(relative).hex(), "mode": stat.S_IMODE(info.st_mode)}
        if stat.S_ISDIR(info.st_mode):
            entry["kind"] = "folder"
        elif stat.S_ISLNK(info.st_mode):
            entry |= {"kind": "link", "to": os.fsencode(os.readlink(path)).hex()}
        elif stat.S_ISREG(info.st_mode):
            size += info.st_size
            if size > wire.LIMIT // 2:
                raise wire.GarbageError(f"more than {wire.LIMIT // 2 // 1024**2} MB of files")
            with open(path, "rb") as file:
                entry |= {"kind": "file", "data": base64.b64encode(file.read(wire.LIMIT // 2)).decode("ascii")}
        else:
            continue
        out.append(entry)
        if len(out) > _ENTRIES:
            raise wire.GarbageError(f"more than {_ENTRIES} files")
    return out


def unpack(entries: Any, folder: str) -> None:
    """Make a folder's contents what was packed. Links that lead out of it are left out."""
    if not isinstance(entries, list):
        raise wire.GarbageError("files that are no list")
    clear(folder)
    links = []
    for entry in entries:
        relative, kind, mode = _checked(entry)
        path = os.path.join(folder, relative)
        if kind == "folder":
            os.makedirs(path, exist_ok=True)
            os.chmod(path, mode | 0o700)
        elif kind == "file":
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as file:
                file.write(base64.b64decode(str(entry.get("data", ""))))
            os.chmod(path, mode | 0o600)
        elif kind == "link":
            links.append((relative, os.fsdecode(bytes.fromhex(str(entry.get("to", ""))))))
    for relative, target in links:  # last, so that nothing is ever written through one
        inner = posixpath.normpath(posixpath.join(posixpath.dirname(relative), target))
        path = os.path.join(folder, relative)
        if not target.startswith("/") and inner != ".." and not inner.startswith("../") and not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(target, path)


def clear(folder: str) -> None:
    """Empty a folder."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def _checked(entry: Any) -> tuple[str, str, int]:
    if not isinstance(entry, dict) or not isinstance(entry.get("mode"), int):
        raise wire.GarbageError("a file of no known kind")
    try:
        relative = os.fsdecode(bytes.fromhex(str(entry.get("path", ""))))
    except ValueError as exc:
        raise wire.GarbageError("a file without a path") from exc
    parts = relative.split("/")
    if not relative or "\0" in relative or any(part in ("", ".", "..") for part in parts):
        raise wire.GarbageError(f"a file at `{relative}`")
    return relative, str(entry.get("kind")), entry["mode"] & 0o777


def _below(folder: str, relative: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        inner = f"{relative}{entry.name}"
        yield entry.path, inner
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, inner + "/")

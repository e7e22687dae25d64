"""Writes a file back: only one that is as it was read, through no link, all at once, its mode kept."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from scenlint.source.text import Source


class RefusedError(Exception):
    """A file is left as it is; the message says which and why."""


def read_unchanged(path: Path, digest: str) -> Source:
    """The file as it now lies on disk, if it may be written and still has the content with that digest."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            raise RefusedError(f"{path}: is a link; fix the file that it leads to ({os.readlink(path)})")
        if not stat.S_ISREG(info.st_mode):
            raise RefusedError(f"{path}: is not a regular file any more")
        if not info.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise RefusedError(f"{path}: is read-only; make it writable to have it fixed")
        source = Source(path, path.read_bytes())
    except OSError as exc:
        raise RefusedError(f"{path}: cannot be read: {exc.strerror}") from None
    if source.digest != digest:
        raise RefusedError(f"{path}: has changed since it was checked; run the check again")
    return source


def write(path: Path, new: Source, digest: str) -> None:
    """Put the text in the place of the file that has the digest: whoever reads meanwhile sees the old or the new."""
    read_unchanged(path, digest)
    replace(path, new.data)


def replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; an existing one keeps its mode and, where that is allowed, its owner."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:80]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            info = path.stat()
            with suppress(PermissionError):
                os.chown(temporary, info.st_uid, info.st_gid)
            os.chmod(temporary, stat.S_IMODE(info.st_mode))
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as exc:
        with suppress(OSError):
            os.unlink(temporary)
        raise RefusedError(f"{path}: cannot be written: {exc.strerror}") from None

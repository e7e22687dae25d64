"""Texts that stand in for files on disk: what an editor has open and has not saved yet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from scenlint.source.text import Source

_open: ContextVar[Mapping[str, bytes] | None] = ContextVar("open", default=None)


@contextmanager
def overlaid(texts: Mapping[Path, str]) -> Iterator[None]:
    """While entered, whatever reads one of these files is given the text; what lies on disk stays as it is."""
    token = _open.set({os.path.realpath(path): _bytes(path, text) for path, text in texts.items()})
    try:
        yield
    finally:
        _open.reset(token)


def content(path: str | Path) -> bytes | None:
    """What stands in for a file, whole; None where nothing does."""
    held = _open.get()
    return held.get(os.path.realpath(path)) if held else None


def below(folder: str) -> Iterator[tuple[str, int]]:
    """The files that something stands in for below a folder (its real path): paths relative to it, sizes in bytes."""
    prefix = folder.rstrip(os.sep) + os.sep
    for path, data in (_open.get() or {}).items():
        if path.startswith(prefix):
            yield path[len(prefix) :].replace(os.sep, "/"), len(data)


def _bytes(path: Path, text: str) -> bytes:
    """The text as it would lie on disk: in the encoding that a Python file names, else as UTF-8."""
    plain = text.encode("utf-8", "replace")
    encoding = Source(path, plain).encoding
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return plain

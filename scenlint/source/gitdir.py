"""What the refs of a Git folder point at, read as plain files; nothing of Git is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scenlint.source import trace
from scenlint.source.regex import regex

_REF = regex(r"([0-9a-f]{40,64}) (refs/\S+)")
_MOST = 500  # refs that are read


def refs(folder: Path) -> dict[str, str]:
    """Name -> commit of every branch, tag and remembered head in a `.git` folder; HEAD's own commit under "HEAD"."""
    out = dict(_packed(folder)) | dict(_loose(folder))
    for name in ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD"):
        if found := re.match(r"[0-9a-f]{40,64}", _text(folder / name)):
            out[name] = found[0]
    head = _text(folder / "HEAD").strip()
    out["HEAD"] = out.get(head.removeprefix("ref: "), head)
    return out


def _packed(folder: Path) -> Iterator[tuple[str, str]]:
    for line in _text(folder / "packed-refs").splitlines()[:_MOST]:
        if found := _REF.match(line):
            yield found[2], found[1]


def _loose(folder: Path) -> Iterator[tuple[str, str]]:
    waiting = [folder / "refs"]
    for _ in range(_MOST):
        if not waiting:
            return
        path = waiting.pop()
        if path.is_symlink():
            continue
        if path.is_dir():
            waiting += [path / name for name in trace.names_in(path)]
        elif found := re.match(r"[0-9a-f]{40,64}", _text(path)):
            yield path.relative_to(folder).as_posix(), found[0]


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or not trace.is_file(path):
            return ""
        return trace.read_bytes(path, 200_000).decode("utf-8", "replace")
    except OSError:
        return ""

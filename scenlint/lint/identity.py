"""What findings depend on beside the tasks: the code that makes them, what is installed, and the settings."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import scenlint
from scenlint.config import Settings
from scenlint.source.text import Span

FORMAT = 1  # of what is kept
# What does not bear on what is found in a task.
_ASIDE = {"file", "fail_on", "exclude", "baseline", "agents"}


def code_digest() -> str:
    """A digest of scenlint's own code, that of installed plug-ins, what else is installed, and Python."""
    out = blake2b(digest_size=16)
    roots = [Path(scenlint.__file__).parent, *plugins()]
    installed = sorted(
        name for place in sys.path if os.path.isdir(place) for name in os.listdir(place) if name.endswith(".dist-info")
    )
    out.update(repr((FORMAT, scenlint.__version__, sys.version, sys.platform, installed)).encode())
    for root in roots:
        for name, path in _sources(str(root), ""):
            with open(path, "rb") as file:
                data = file.read()
            out.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return out.hexdigest()


def _sources(path: str, name: str) -> Iterator[tuple[str, str]]:
    """The files of a package, or a single module."""
    if not os.path.isdir(path):
        yield os.path.basename(path), path
        return
    with os.scandir(path) as scan:
        entries = sorted(scan, key=lambda e: e.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in ("__pycache__", "_rulebook", ".git"):
                yield from _sources(entry.path, f"{name}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith((".pyc", ".md")):
            yield name + entry.name, entry.path


def plugins() -> list[Path]:
    """The packages (or single modules) of rules and formats that are not scenlint's own."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    points = [*entry_points(group="scenlint.rules"), *entry_points(group="scenlint.formats")]
    out = []
    for name in sorted({point.module.partition(".")[0] for point in points} - {"scenlint"}):
        with suppress(ImportError, ValueError):
            spec = find_spec(name)
            places = list(spec.submodule_search_locations or []) if spec else []
            out += [Path(place) for place in places or ([spec.origin] if spec and spec.origin else [])]
    return out


def plain(value: Any) -> Any:
    """Settings as JSON values. Places in the configuration file are left out: they are not stored in outcomes."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value) if not (isinstance(value, Settings) and f.name in _ASIDE)]
        return {name: plain(getattr(value, name)) for name in names if not isinstance(getattr(value, name), Span)}
    if isinstance(value, Mapping):
        return [[plain(k), plain(v)] for k, v in value.items()]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(str(plain(item)) for item in value)
    if value is None or isinstance(value, str | int | float | Path):
        return str(value) if isinstance(value, Path) else value
    raise TypeError(f"{type(value).__name__} in the settings has no plain form")


def digest_of(value: Any) -> str:
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).hexdigest()

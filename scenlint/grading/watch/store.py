"""Keeps what a watch needs to go on, in one small file for each stream, which one process at a time may use."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenlint.source.writing import RefusedError, replace

FOLDER = "watch"  # in the ledger's folder


class WatchError(Exception):
    """A stream cannot be watched; the text says why and what to do."""


class Store:
    """The state of one stream."""

    def __init__(self, path: Path, *, own_folder: bool = False) -> None:
        self.path, self.own_folder = path, own_folder

    @classmethod
    def beside(cls, ledger: Path, stream: Path | None) -> Store:
        """In a ledger's folder, under a name for the stream (None: the ledger itself)."""
        if stream is None:
            return cls(ledger / FOLDER / "ledger.json", own_folder=True)
        digest = hashlib.sha256(os.fsencode(stream.absolute())).hexdigest()[:8]
        return cls(ledger / FOLDER / f"{stream.name}-{digest}.json", own_folder=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other process watches this stream meanwhile; WatchError where one does."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.own_folder and not (ignore := self.path.parent / ".gitignore").exists():
                ignore.write_text("*\n", "utf-8")
            lock = self.path.with_suffix(".lock").open("w")
        except OSError as exc:
            raise WatchError(f"`{self.path.parent}` cannot be written: {exc.strerror}") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WatchError(f"another process watches this stream already (`{self.path}` is in use)") from None
            yield

    def load(self) -> dict[str, Any]:
        """What was saved; {} at first. WatchError for a file that is none of ours."""
        try:
            data = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise WatchError(f"`{self.path}` cannot be read ({exc}); delete it to begin anew") from None
        if not isinstance(data, dict):
            raise WatchError(f"`{self.path}` is no state of a watch; delete it to begin anew")
        return data

    def save(self, data: Mapping[str, Any]) -> None:
        """All of it or, when the machine falls, what was there before."""
        try:
            replace(self.path, (json.dumps(data, separators=(",", ":")) + "\n").encode())
        except RefusedError as exc:
            raise WatchError(str(exc)) from None

"""Where the ledger lies."""

from __future__ import annotations

from pathlib import Path

from scenlint import config
from scenlint.harness.ledger import FOLDER


def ledger_folder(named: Path | None = None) -> Path:
    """Where the ledger lies: as named, else beside the configuration at or above the current directory, else in it.

    It does not hang on the paths that are run, so that every command finds the same one.
    """
    if named is not None:
        return named
    file = config.find(Path.cwd())
    return (file.parent if file else Path.cwd()) / FOLDER

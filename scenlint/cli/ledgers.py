"""What commands share that use a ledger: where it lies, and its faults as messages for the user."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scenlint.harness.ledger import Ledger

Folder = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FOLDER", help="Where trials are recorded (default: .scenlint)."),
]
Workers = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Trials at once (default: cores / 2).")]
Cluster = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Run trials on this Dask cluster: tcp://… or tls://… (scenlint[dask]).")
]
Unsafe = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Allow what a task asks for and is refused, by the name in the refusal."),
]


@contextmanager
def reported() -> Iterator[None]:
    """A ledger, or a cluster, that cannot be used ends the command with status 2."""
    from scenlint.harness.cluster import ClusterError
    from scenlint.harness.ledger import LedgerError

    try:
        yield
    except (LedgerError, ClusterError) as exc:
        print(f"scenlint: {exc}", file=sys.stderr)
        raise typer.Exit(2) from None


@contextmanager
def existing(folder: Path | None) -> Iterator[Ledger]:
    """The ledger that is there."""
    from scenlint.dynamic.place import ledger_folder
    from scenlint.harness.ledger import Ledger

    with reported():
        ledger = Ledger(ledger_folder(folder), create=False)
        try:
            yield ledger
        finally:
            ledger.close()


def names(texts: list[str] | None) -> frozenset[str]:
    """Names that may be repeated and comma separated."""
    return frozenset(part.strip() for text in texts or () for part in text.split(",") if part.strip())

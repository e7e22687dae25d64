"""`scenlint clean`: removes what runs that died left on the engine, and old trials where asked to."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, existing

_AGE = re.compile(r"(\d+)([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    images: Annotated[bool, typer.Option("--images", help="Also remove the images that were built for tasks.")] = False,
    ledger_before: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Also forget trials from before a date (2025-01-31) or an age (30d, 12h)."),
    ] = "",
    ledger: Folder = None,
) -> None:
    """Remove the containers, networks and volumes of runs that died. What a living run uses stays.

    Exit status: 0 done, 1 something could not be removed, 2 usage error, or no engine answers.
    """
    from scenlint.report.style import visible, write

    before = _moment(ledger_before) if ledger_before else None
    verb = "would remove" if dry_run else "removed"
    if before is not None:
        with existing(ledger) as book:
            old = [e for e in book.entries() if e.record.started < before.isoformat() and not e.running]
            if not dry_run:
                book.remove(old)
        write(f"{verb} {len(old)} trial{'' if len(old) == 1 else 's'} from the ledger\n")
    gone, problem = _engine(dry_run, images)
    for kind, names in gone.items():
        for name in names:
            write(f"{verb} {kind} {visible(name)}\n")
    if problem:
        write(f"scenlint: {visible(problem)}\n", sys.stderr)
        raise typer.Exit(2 if not gone else 1)
    if not any(gone.values()) and before is None:
        write("nothing was left behind\n")


def _engine(dry_run: bool, images: bool) -> tuple[dict[str, list[str]], str]:
    """What was removed by kind ({} where no engine answers), and what went wrong."""
    from scenlint.harness.engine import connect
    from scenlint.harness.environment import Fault
    from scenlint.harness.reap import reap, remove_images

    try:
        engine = connect()
        left = reap(engine, dry_run=dry_run)
        built = remove_images(engine, dry_run=dry_run) if images else left
    except Fault as exc:
        return {}, str(exc)
    gone = {"container": left.containers, "network": left.networks, "volume": left.volumes, "image": built.images}
    return gone, "; ".join(dict.fromkeys([*left.failed, *built.failed]))


def _moment(text: str) -> datetime:
    if age := _AGE.fullmatch(text):
        return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is neither a date (2025-01-31) nor an age (30d, 12h)") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)

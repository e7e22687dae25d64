"""`scenlint clean`: removes what runs that died left on the engine, and old trials or the cache where asked to."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
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
    cache: Annotated[
        bool, typer.Option("--cache", help="Empty the cache of `scenlint check`; the engine is left alone.")
    ] = False,
) -> None:
    """Remove the containers, networks, volumes and sandboxes of runs that died. What a living run uses stays.

    Exit status: 0 done, 1 something could not be removed, 2 usage error, or no engine answers.
    """
    from scenlint.grading.audit.chain import FOLDER, SUFFIX
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    if cache:
        _empty_cache(dry_run)
        if not (images or ledger_before):
            return
    before = moment(ledger_before) if ledger_before else None
    verb = "would remove" if dry_run else "removed"
    if before is not None:
        with existing(ledger) as book:
            audited = {path.stem for path in (book.folder / FOLDER).glob(f"*{SUFFIX}")}
            past = [row for row in book.rows(before=before.isoformat()) if not row.running]
            old = [row for row in past if row.kind != "grade" or row.name not in audited]
            kept = len(past) - len(old)
            if not dry_run:
                book.remove(old)
        write(f"{verb} {count(len(old), 'trial')} from the ledger\n")
        if kept:
            write(f"kept {count(kept, 'trial')} of runs with an audit record (see `scenlint audit list`)\n")
    sandboxes, stuck = _sandboxes(ledger, dry_run)
    gone, problem = _engine(dry_run, images)
    for kind, names in {"sandbox of trial": sandboxes, **gone}.items():
        for name in names:
            write(f"{verb} {kind} {visible(name)}\n")
    for fault in filter(None, (stuck, problem)):
        write(f"scenlint: {visible(fault)}\n", sys.stderr)
    if stuck or problem:
        raise typer.Exit(1 if gone else 2)
    if not (sandboxes or any(gone.values()) or before):
        write("nothing was left behind\n")


def _sandboxes(folder: Path | None, dry_run: bool) -> tuple[list[str], str]:
    """The recorded trials whose sandbox was removed, and what went wrong."""
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.harness import local

    if not (ledger_folder(folder) / "ledger.db").exists():
        return [], ""
    with existing(folder) as book:
        folders = (book.folder_of(row.id) for row in book.rows() if not row.running)
        found = [place for place in folders if local.left(place)]
    if not dry_run:
        for place in found:
            local.clear(place)
    stuck = [str(path) for place in found for path in local.left(place) if not dry_run]
    gone = [place.name for place in found if dry_run or not local.left(place)]
    return gone, f"cannot be removed: {', '.join(stuck)}" if stuck else ""


def _empty_cache(dry_run: bool) -> None:
    from scenlint.lint.cache import remove
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    try:
        place, number = remove(dry_run=dry_run)
    except OSError as exc:
        write(f"scenlint: the cache cannot be removed: {visible(str(exc))}\n", sys.stderr)
        raise typer.Exit(1) from None
    verb = "would remove" if dry_run else "removed"
    write(f"{verb} {count(number, 'task')} from the cache in {visible(str(place))}\n")


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


def moment(text: str) -> datetime:
    """A date or an age as the user writes them."""
    if age := _AGE.fullmatch(text):
        return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is neither a date (2025-01-31) nor an age (30d, 12h)") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)

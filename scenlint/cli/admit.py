"""`scenlint admit`: the one-page decision on a task, and its entry in the suite's manifest."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, existing
from scenlint.cli.options import configured
from scenlint.cli.run import Listing


def admit(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="The task.")],
    manifest: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The suite's manifest (default: scenlint-suite.json beside the ledger)."),
    ] = None,
    role: Annotated[str, typer.Option(help="The role of who decides, for the manifest.")] = "maintainer",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the page only.")] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")] = None,
    ledger: Folder = None,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print the page.")] = Listing.TEXT,
) -> None:
    """Say on one page what speaks for and against a task, from its records, and enter it in the suite's manifest.

    Nothing is run: `validate --deep` and `calibrate` do that before. A task that calibration retired as too easy goes
    to the regression set of the same manifest.

    Exit status: 0 admitted (or entered in the regression set), 1 not admitted, 2 usage or internal error.
    """
    from scenlint.calibration import admission
    from scenlint.dynamic import stage
    from scenlint.dynamic.gate import Gate
    from scenlint.harness.engine import Options
    from scenlint.lint import run as lint
    from scenlint.lint.engine import Engine
    from scenlint.report.style import visible, write
    from scenlint.source.writing import RefusedError
    from scenlint.task.plan import NotRunnableError

    if not task.exists():
        write(f"scenlint: {visible(str(task))}: no such file or folder\n", sys.stderr)
        raise typer.Exit(2)
    settings = configured([task], config)
    with existing(ledger) as book:
        try:
            ref, subject = stage.single(task, settings, Gate(Options(substitutes=settings.policy.substitutes), book))
        except NotRunnableError as exc:
            write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
            raise typer.Exit(2) from None
        if subject.plan is None:
            write(f"scenlint: {visible(subject.obstacle)}\n", sys.stderr)
            raise typer.Exit(2)
        found = admission.page(subject, lint.check([task], settings), book, Engine(settings))
        path = manifest or book.folder.parent / admission.MANIFEST
    entered = ""
    if (found.admitted or found.retired) and not dry_run:
        try:
            entered = admission.enter(path, found, stage.place_of(ref, path.absolute()), role)
        except (OSError, ValueError, RefusedError) as exc:
            write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
            raise typer.Exit(2) from None
    if output is Listing.JSON:
        points = [{"name": p.name, "met": p.met, "text": p.text} for p in found.points]
        told = {"task": found.task, "task_digest": found.digest, "admitted": found.admitted, "entered": entered}
        write(json.dumps({**told, "points": points}, indent=2) + "\n")
    else:
        verdict = "admitted" if found.admitted else "regression set" if found.retired else "not admitted"
        write(f"{visible(found.task)}: {verdict}\n")
        for point in found.points:
            mark = {True: "met", False: "not met", None: "missing"}[point.met]
            write(f"  {point.name}: {mark}: {visible(point.text)}\n")
        if entered:
            write(f"entered under `{entered}` in {visible(str(path))}\n")
    raise typer.Exit(0 if found.admitted or found.retired else 1)

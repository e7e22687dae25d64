"""`scenlint baseline`: records today's findings, so that from now on only new ones fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.options import ConfigFile, Exclude, Paths, ProfileName, configured

if TYPE_CHECKING:
    from scenlint.config import Settings
    from scenlint.report.model import Report


def baseline(
    paths: Paths = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file (default: as configured, else beside it)."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Record the checked tasks anew; what is known of others stays.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Only take out what is gone; nothing new is added.")] = False,
    trials: Annotated[
        bool, typer.Option("--validate", help="Also record the findings of `scenlint validate`; runs what is missing.")
    ] = False,
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULES", help="Record the findings of these rules only.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not record those of these.")] = None,
    extend_select: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Of these as well.")] = None,
    profile: ProfileName = None,
    config: ConfigFile = None,
    exclude: Exclude = None,
) -> None:
    """Record today's findings in scenlint-baseline.json; `check` and `validate` then hide them where it is configured.

    A known finding stays hidden when its line moves or its file is renamed, and comes back when its line is edited.

    Exit status: 0 recorded, 2 usage, configuration or internal error, 3 nothing to check.
    """
    from scenlint import config as configuration
    from scenlint.lint.baseline import FILE_NAME, Baseline
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    paths = paths or [Path()]
    given = configured(paths, config)
    settings = given.override(
        profile=profile, select=select, ignore=ignore, extend_select=extend_select, exclude=exclude, no_baseline=True
    )
    folder = settings.root if settings.file else Path()
    file = output or given.baseline or folder / FILE_NAME
    if file.exists() and not (update or prune):
        write(
            f"scenlint: {visible(str(file))} exists; `--update` records anew, `--prune` takes out what is gone\n",
            sys.stderr,
        )
        raise typer.Exit(2)
    known = Baseline.read(file) if file.exists() else Baseline(file)
    new = gone = 0
    for report in _reports(paths, settings, trials):
        for message in [*(f"{p}: no such file or folder" for p in report.missing), *report.crashes]:
            write(f"scenlint: {visible(message)}\n", sys.stderr)
        if report.missing or report.crashes:
            raise typer.Exit(2)
        if not report.tasks:
            write("scenlint: no task was found, so nothing is recorded\n", sys.stderr)
            raise typer.Exit(3)
        added, removed = known.renew(report, paths, add=update or not prune)
        new, gone = new + added, gone + removed
    known.write()
    total = sum(k.count for k in known.known)
    write(f"wrote {visible(str(file))}: {count(total, 'known finding')}, {new} of them new; {gone} gone\n")
    if given.baseline is None:
        name = visible(os.path.relpath(file, folder).replace(os.sep, "/"))
        write(f'to have `check` read it, write `baseline = "{name}"` into {configuration.FILE_NAME}\n')


def _reports(paths: Sequence[Path], settings: Settings, trials: bool) -> Iterator[Report]:
    from scenlint.lint import run

    yield run.check(paths, settings)
    if trials:
        from scenlint.cli.ledgers import reported
        from scenlint.cli.live import watching
        from scenlint.dynamic import stage
        from scenlint.dynamic.first_look import WISHES

        with reported(), watching() as watcher:
            yield stage.validate(stage.Request(paths, settings, watcher, deep=WISHES))

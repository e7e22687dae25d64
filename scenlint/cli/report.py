"""`scenlint report`: everything that is known of a suite or a run as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, reported
from scenlint.cli.options import ConfigFile, configured


def report(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Tasks, folders of tasks, or a suite's manifest (or its folder).")
    ] = None,
    run: Annotated[str, typer.Option(metavar="ID", help="Show this run of `scenlint grade` as well.")] = "",
    baseline: Annotated[str, typer.Option(metavar="ID", help="Compare the run with this earlier one.")] = "",
    output_file: Annotated[
        Path, typer.Option("--output-file", "-o", metavar="FILE", help="Write the page there.")
    ] = Path("scenlint-report.html"),
    config: ConfigFile = None,
    ledger: Folder = None,
) -> None:
    """Write one HTML page about tasks, a suite or a run: findings, criteria and checks, trials, probes, calibration.

    Nothing is run. The page needs no script, no network and no other file; with `--run` alone it is about that run's
    suite.

    Exit status: 0 written, 2 usage, configuration or internal error, 3 nothing to show.
    """
    from scenlint import config as configuration
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.grading.diff.sides import SideError
    from scenlint.grading.model import SuiteError
    from scenlint.grading.page.gather import Request, gather
    from scenlint.grading.page.render import render
    from scenlint.grading.runs import RunError
    from scenlint.harness.ledger import Ledger
    from scenlint.report.style import visible, write
    from scenlint.source.writing import RefusedError, replace

    paths = paths or ([] if run else [Path()])
    if baseline and not run:
        write("scenlint: --baseline is what a run is compared with: name that by --run\n", sys.stderr)
        raise typer.Exit(2)
    for missing in (p for p in paths if not p.exists()):
        write(f"scenlint: {visible(str(missing))}: no such file or folder\n", sys.stderr)
        raise typer.Exit(2)
    folder = ledger_folder(ledger)
    with reported():
        there = run or ledger is not None or (folder / "ledger.db").exists()
        book = Ledger(folder, create=False) if there else None
        try:
            made = gather(Request(paths, configured(paths or [Path()], config), book, run, baseline))
        except (RunError, SideError, SuiteError) as exc:
            write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
            raise typer.Exit(2) from None
        finally:
            if book is not None:
                book.close()
    if not made.tasks:
        write("scenlint: no task of a known format is there, so there is nothing to show\n", sys.stderr)
        raise typer.Exit(3)
    try:
        replace(output_file, render(made).encode())
    except RefusedError as exc:
        raise configuration.ConfigError(str(exc)) from None
    except OSError as exc:
        raise configuration.ConfigError(f"{output_file} cannot be written: {exc.strerror}") from None
    write(f"wrote {visible(str(output_file))}\n")

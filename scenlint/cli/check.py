"""`scenlint check`: the static stage on the given paths."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.output import Output, emit, status
from scenlint.task.finding import Severity
from scenlint.task.policy import Profile


def check(
    paths: Annotated[list[Path] | None, typer.Argument(help="Tasks, folders of tasks, or files inside tasks.")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Run only these: names, codes, prefixes (SL3), families or ALL."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not run these.")] = None,
    extend_select: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Run these as well.")] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="Settles the places where the field disagrees (default: seed).")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Leave these paths out, as in .gitignore.")
    ] = None,
    force_exclude: Annotated[
        bool, typer.Option("--force-exclude", help="Apply exclusions to paths named here too (for hooks).")
    ] = False,
    output: Annotated[Output, typer.Option("--format", "-f", help="How to print findings.")] = Output.TEXT,
    output_file: Annotated[
        Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write there, not to standard output.")
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print how often each rule fired, not the findings.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List what could not be assessed, and why.")] = False,
    fail_on: Annotated[
        Severity | None, typer.Option(help="Mildest severity that makes the exit status 1 (default: error).")
    ] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever was found.")] = False,
    require_complete: Annotated[
        bool, typer.Option("--require-complete", help="Exit with 4 when a selected rule could not be assessed.")
    ] = False,
    no_ignores: Annotated[
        bool, typer.Option("--no-ignores", help="Show what suppressions and per-path ignores hide.")
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes (default: one per core).")] = None,
    color: Annotated[
        bool | None, typer.Option("--color/--no-color", help="Default: when printing to a terminal.")
    ] = None,
) -> None:
    """Lint tasks without running anything of theirs.

    Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration or internal error,
    3 nothing to check, 4 something could not be assessed (--require-complete only).
    """
    from scenlint import config as configuration
    from scenlint.lint import run

    paths = paths or [Path()]
    first = paths[0] if os.path.isdir(paths[0]) else paths[0].parent
    settings = configuration.load(first, config).override(
        profile=profile,
        select=select,
        extend_select=extend_select,
        ignore=ignore,
        fail_on=fail_on,
        exclude=exclude,
        no_ignores=no_ignores,
    )
    report = run.check(
        paths, settings, jobs=jobs, force_exclude=force_exclude, on_progress=_progress, pages=output is Output.SARIF
    )
    emit(report, output, output_file, color=color, verbose=verbose, statistics=statistics)
    code = status(report, settings.fail_on, exit_zero, require_complete)
    if force_exclude and code == 3:
        code = 0  # a hook is handed every changed file; that none of them belongs to a task is no fault
    raise typer.Exit(code)


def _progress(done: int, total: int) -> None:
    """One line on the terminal that says how far the run is, wiped at the end; nothing where nobody looks."""
    if total < 50 or not sys.stderr.isatty() or os.environ.get("CI"):
        return
    end = "\r\033[K" if done == total else ""
    sys.stderr.write(f"\r{done} of {total} tasks{end}")
    sys.stderr.flush()

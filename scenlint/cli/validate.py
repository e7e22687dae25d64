"""`scenlint validate`: the dynamic stage on the given paths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, Unsafe, names, reported
from scenlint.cli.output import Output, emit, status
from scenlint.task.finding import Severity
from scenlint.task.policy import Profile


def validate(
    paths: Annotated[list[Path] | None, typer.Argument(help="Tasks, folders of tasks, or files inside tasks.")] = None,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Trials of each agent for each task.")] = 1,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Trials at once (default: cores / 2).")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Judge by these only: names, codes, prefixes (SL7), families or ALL."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not judge by these.")] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="Settles the places where the field disagrees (default: seed).")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Leave these paths out, as in .gitignore.")
    ] = None,
    ledger: Folder = None,
    no_resume: Annotated[
        bool, typer.Option("--no-resume", help="Run every trial, also those whose record still serves.")
    ] = False,
    allow_unsafe: Unsafe = None,
    output: Annotated[Output, typer.Option("--format", "-f", help="How to print findings.")] = Output.TEXT,
    output_file: Annotated[
        Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write there, not to standard output.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List what could not be assessed, and why.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only findings.")] = False,
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
    color: Annotated[
        bool | None, typer.Option("--color/--no-color", help="Default: when printing to a terminal.")
    ] = None,
) -> None:
    """Run the oracle and an agent that does nothing on each task, and judge what the trials show.

    Every trial is recorded as it goes; called again, it runs only what is missing or was edited.

    Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration or internal error, 3 no trial could
    be judged, 4 something could not be assessed (--require-complete only), 130 interrupted.
    """
    from scenlint import config as configuration
    from scenlint.cli.live import watching
    from scenlint.dynamic import stage
    from scenlint.harness.executor import Interrupt

    paths = paths or [Path()]
    first = paths[0] if paths[0].is_dir() else paths[0].parent
    settings = configuration.load(first, config).override(
        profile=profile, select=select, ignore=ignore, fail_on=fail_on, exclude=exclude, no_ignores=no_ignores
    )
    with reported(), Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        report = stage.validate(
            stage.Request(
                paths,
                settings,
                watcher,
                trials=trials,
                workers=jobs,
                ledger=ledger,
                allow_unsafe=names(allow_unsafe),
                resume=not no_resume,
                pages=output is Output.SARIF,
                stop=interrupt.stop,
            )
        )
    emit(report, output, output_file, color=color, verbose=verbose)
    raise typer.Exit(interrupt.exit_code or status(report, settings.fail_on, exit_zero, require_complete))

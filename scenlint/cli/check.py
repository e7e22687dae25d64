"""`scenlint check`: the static stage on the given paths."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli import fixing
from scenlint.cli.options import (
    Baseline,
    Color,
    ConfigFile,
    Exclude,
    ExitZero,
    FailOn,
    Findings,
    NoBaseline,
    NoIgnores,
    OutputFile,
    Paths,
    ProfileName,
    RequireComplete,
    Verbose,
    configured,
)
from scenlint.cli.output import Output, emit, status

if TYPE_CHECKING:
    from scenlint.report.model import Report


def check(
    paths: Paths = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Run only these: names, codes, prefixes (SL3), families or ALL."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not run these.")] = None,
    extend_select: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Run these as well.")] = None,
    profile: ProfileName = None,
    config: ConfigFile = None,
    exclude: Exclude = None,
    force_exclude: Annotated[
        bool, typer.Option("--force-exclude", help="Apply exclusions to paths named here too (for hooks).")
    ] = False,
    output: Findings = Output.TEXT,
    output_file: OutputFile = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print how often each rule fired, not the findings.")
    ] = False,
    verbose: Verbose = False,
    fail_on: FailOn = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    no_ignores: NoIgnores = False,
    baseline: Baseline = None,
    no_baseline: NoBaseline = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes, then report what remains.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: those too that somebody has to look at.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what --fix would change, write nothing; exit with 1 if anything.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Judge every task anew, and keep nothing for the next run.")
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes (default: one per core).")] = None,
    color: Color = None,
) -> None:
    """Lint tasks without running anything of theirs.

    Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration or internal error,
    3 nothing to check, 4 something could not be assessed (--require-complete only).
    """
    from scenlint.lint import baseline as known
    from scenlint.lint import run
    from scenlint.lint.cache import open_cache

    if unsafe_fixes and not (fix or diff):
        raise typer.BadParameter("it adds to --fix or --diff, and neither is given", param_hint="--unsafe-fixes")
    paths = paths or [Path()]
    settings = configured(paths, config).override(
        profile=profile,
        select=select,
        extend_select=extend_select,
        ignore=ignore,
        fail_on=fail_on,
        exclude=exclude,
        no_ignores=no_ignores,
        baseline=baseline,
        no_baseline=no_baseline,
    )

    cache = None if no_cache else open_cache(settings)

    def checked() -> Report:
        report = run.check(
            paths,
            settings,
            jobs=jobs,
            force_exclude=force_exclude,
            on_progress=_progress,
            pages=output is Output.SARIF,
            cache=cache,
        )
        known.apply(report, settings.baseline, paths)
        return report

    if diff:
        raise typer.Exit(fixing.preview(checked, unsafe=unsafe_fixes))
    report = fixing.fix(checked, unsafe=unsafe_fixes) if fix else checked()
    emit(report, output, output_file, color=color, verbose=verbose, statistics=statistics)
    if verbose and cache and (problem := cache.problem or cache.unwritable):
        print(f"scenlint: the cache is not used: {problem}", file=sys.stderr)
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

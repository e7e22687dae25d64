"""`scenlint validate`: the dynamic stage on the given paths."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.ledgers import Cluster, Folder, Unsafe, Workers, names, reported
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
    from scenlint.dynamic.experiments import Wishes
    from scenlint.report.model import Report


def validate(
    paths: Paths = None,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Trials of each agent for each task.")] = 1,
    jobs: Workers = None,
    cluster: Cluster = "",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Judge by these only: names, codes, prefixes (SL7), families or ALL."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not judge by these.")] = None,
    profile: ProfileName = None,
    config: ConfigFile = None,
    exclude: Exclude = None,
    ledger: Folder = None,
    no_resume: Annotated[
        bool, typer.Option("--no-resume", help="Run every trial, also those whose record still serves.")
    ] = False,
    allow_unsafe: Unsafe = None,
    gate: Annotated[
        bool,
        typer.Option("--gate", help="Only the oracle and doing nothing: leave out the first look at simple attacks."),
    ] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Attack the verifier, alter the oracle's results, move the world; implied by the next five."
        ),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(metavar="N|TIME", help="At most so many experiments for each task (100), or so long (90s, 20m)."),
    ] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Only these experiments, by name or kind (probe, mutant, world, environment)."
        ),
    ] = None,
    skip_probe: Annotated[
        list[str] | None, typer.Option(metavar="NAMES", help="Leave out these experiments: names or kinds.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Times that the oracle's frozen work is graded (default: 5).")
    ] = None,
    no_engine: Annotated[
        bool,
        typer.Option("--no-engine", help="Use no containers: local tasks, and dead environments (see --probe)."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides which experiments are drawn where there are too many.")] = 0,
    report_folder: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Write a page about each task there (HTML).")
    ] = None,
    state_rule: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run nothing: write this rule into the brief of one task, show and keep it for "
            "`calibrate --state-rule`.",
        ),
    ] = None,
    output: Findings = Output.TEXT,
    output_file: OutputFile = None,
    verbose: Verbose = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only findings.")] = False,
    fail_on: FailOn = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    no_ignores: NoIgnores = False,
    baseline: Baseline = None,
    no_baseline: NoBaseline = False,
    color: Color = None,
) -> None:
    """Run the oracle and an agent that does nothing on each task, and judge what the trials show.

    A first look tries simple attacks (empty files, copied inputs) for half a minute; --deep tries all.

    Every trial is recorded as it goes; called again, it runs only what is missing or was edited.

    Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration or internal error, 3 no trial could
    be judged, 4 something could not be assessed (--require-complete only), 130 interrupted.
    """
    from scenlint.cli.live import watching
    from scenlint.dynamic import stage
    from scenlint.dynamic.first_look import WISHES
    from scenlint.harness.executor import Interrupt
    from scenlint.lint import baseline as known

    wishes = None if gate else WISHES
    probe = probe or (["environment"] if no_engine and not deep else None)
    if deep or budget or probe or skip_probe or repeats:
        wishes = wanted(budget, names(probe), names(skip_probe), repeats, seed)
    paths = paths or [Path()]
    settings = configured(paths, config).override(
        profile=profile,
        select=select,
        ignore=ignore,
        fail_on=fail_on,
        exclude=exclude,
        no_ignores=no_ignores,
        baseline=baseline,
        no_baseline=no_baseline,
    )
    if state_rule is not None:
        from scenlint.cli.state_rule import show

        if output not in (Output.TEXT, Output.JSON):
            raise typer.BadParameter("with --state-rule the output is text or json", param_hint="--format")
        show(paths, settings, state_rule, ledger, as_json=output is Output.JSON)
        return
    with reported(), Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        report = stage.validate(
            stage.Request(
                paths,
                settings,
                watcher,
                trials=trials,
                workers=jobs,
                cluster=cluster,
                ledger=ledger,
                allow_unsafe=names(allow_unsafe),
                resume=not no_resume,
                pages=output is Output.SARIF,
                deep=wishes,
                engine=not no_engine,
                stop=interrupt.stop,
            )
        )
    known.apply(report, settings.baseline, paths)
    if report_folder is not None:
        write_pages(report, report_folder)
    emit(report, output, output_file, color=color, verbose=verbose)
    raise typer.Exit(interrupt.exit_code or status(report, settings.fail_on, exit_zero, require_complete))


def wanted(budget: str | None, only: frozenset[str], skip: frozenset[str], repeats: int | None, seed: int) -> Wishes:
    """What the options ask of the deep stage."""
    from scenlint.dynamic.experiments import DEFAULT_BUDGET, DEFAULT_REPEATS, Wishes

    found = re.fullmatch(r"(\d+)\s*(s|m|min|h)?", budget or str(DEFAULT_BUDGET))
    if found is None:
        raise typer.BadParameter(f"`{budget}` is neither a number of experiments nor a time (90s, 20m, 2h)")
    number, unit = int(found[1]), {"s": 1, "m": 60, "min": 60, "h": 3600}.get(found[2] or "")
    return Wishes(
        budget=DEFAULT_BUDGET if unit else number,
        seconds=number * unit if unit else None,
        seed=seed,
        probes=only,
        skip=skip,
        repeats=repeats or DEFAULT_REPEATS,
    )


def write_pages(report: Report, folder: Path) -> None:
    """A page about each task."""
    from scenlint.grading.page import folder as pages
    from scenlint.stats.words import count

    try:
        written = pages.write(report, folder)
    except OSError as exc:
        print(f"scenlint: the pages could not be written to `{folder}`: {exc.strerror}", file=sys.stderr)
        raise typer.Exit(2) from exc
    print(f"{count(len(written), 'page')} in {folder}", file=sys.stderr)

"""`scenlint grade`: an agent against an admitted suite, many trials a scenario. Pass 2 of the handbook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.ledgers import Cluster, Folder, Unsafe, Workers, names, reported
from scenlint.cli.options import ConfigFile, configured
from scenlint.cli.run import Listing, named

if TYPE_CHECKING:
    from scenlint.grading.run import Graded, Request


def grade(
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="The suite's manifest, or the folder that holds it.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent", "-a", help="An agent of `[agents]` in the configuration, `harbor:NAME`, `oracle` or `nop`."
        ),
    ],
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Graded trials of each scenario.")],
    regression: Annotated[
        bool, typer.Option("--regression", help="Grade the regression set: what was too easy to be admitted.")
    ] = False,
    run: Annotated[
        str, typer.Option("--run", metavar="ID", help="Go on with this run (default: the last one, if unfinished).")
    ] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin a new run although one is unfinished.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be run, and what that is expected to cost and take.")
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(metavar="USD", min=0, help="Start no trial once the run has cost as much.")
    ] = None,
    reruns: Annotated[
        int | None, typer.Option(min=0, help="Of excluded trials, for each scenario (default: as many as --trials).")
    ] = None,
    keep_work: Annotated[
        bool, typer.Option("--keep-work/--no-keep-work", help="Keep what the agent changed, to grade it again later.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Although tasks changed since, or cannot be run here; it is recorded.")
    ] = False,
    jobs: Workers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    ledger: Folder = None,
    allow_unsafe: Unsafe = None,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print the figures.")] = Listing.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run an agent on every scenario of an admitted suite, and tell its pass rates, consistency, cost and failures.

    Infrastructure and provider faults are no outcome: such trials are listed and run again. A task that is not the one
    that was admitted is refused. An interrupted run goes on where it was, by the same command.

    Exit status: 0 every scenario has its trials, 2 refused, usage or internal error, 4 trials are missing (too many
    were excluded, the cost's limit was reached, the agent is not set up right), 130 interrupted.
    """
    from scenlint.cli.live import watching
    from scenlint.grading import run as grading
    from scenlint.grading.audit import ChainError
    from scenlint.grading.model import SuiteError, suite_of
    from scenlint.grading.runs import RunError
    from scenlint.harness.executor import Interrupt
    from scenlint.report.style import visible, write

    settings = configured([suite], config)
    who = named(agent, settings)
    with reported(), Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        try:
            request = grading.Request(
                suite_of(suite, regression=regression), settings, who, trials, watcher, ledger, jobs,
                names(allow_unsafe), force, run, fresh, reruns, max_cost, keep_work, interrupt.stop, cluster,
            )  # fmt: skip
            if dry_run:
                _outline(request, output)
                return
            done = grading.grade(request)
        except (grading.RefusedError, SuiteError, RunError, ChainError) as exc:
            for line in str(exc).splitlines():
                write(f"scenlint: {visible(line)}\n", sys.stderr)
            raise typer.Exit(2) from None
    _print(done, output)
    if interrupt.exit_code or done.crashes:
        raise typer.Exit(interrupt.exit_code or 2)
    raise typer.Exit(0 if done.summary.complete else 4)


def _print(done: Graded, output: Listing) -> None:
    from scenlint.grading.output import summary_json, summary_text
    from scenlint.report.style import visible, write

    if output is Listing.JSON:
        told = summary_json(done.summary) | {"interrupted": done.interrupted, "stopped": list(done.stopped)}
        write(json.dumps(told, indent=2) + "\n")
    else:
        write("".join(visible(line) + "\n" for line in summary_text(done.summary).splitlines()))
    lines = [*done.notes, *(f"stopped: {why}" for why in done.stopped), *done.crashes]
    if done.interrupted:
        lines.append(f"interrupted: the same command, or --run {done.run.id}, goes on")
    for line in lines:
        write(f"scenlint: {visible(line)}\n", sys.stderr)


def _outline(request: Request, output: Listing) -> None:
    from scenlint.grading.output import plan_json, plan_text
    from scenlint.grading.run import HINT, outline
    from scenlint.report.style import visible, write

    plan, run, begun = outline(request)
    if output is Listing.JSON:
        write(json.dumps(plan_json(plan, run, begun), indent=2) + "\n")
    else:
        write("".join(visible(line) + "\n" for line in plan_text(plan, run, begun).splitlines()))
    if any(p.problem for p in plan.planned) and not request.force:
        write(f"scenlint: it would be refused: {HINT}\n", sys.stderr)
        raise typer.Exit(2)

"""`scenlint calibrate`: does a scenario discriminate? Pass 1 of the handbook, on one task with one agent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.cli.ledgers import Cluster, Folder, Unsafe, Workers, existing, names, reported
from scenlint.cli.options import Findings, OutputFile, configured
from scenlint.cli.output import Output, emit, write_file
from scenlint.cli.run import named

if TYPE_CHECKING:
    from scenlint.calibration.run import Request
    from scenlint.report.model import Report


def calibrate(
    task: Annotated[Path | None, typer.Argument(metavar="TASK", help="The task.")] = None,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="An agent of `[agents]` in the configuration, or `harbor:NAME`.")
    ] = "",
    suite: Annotated[
        bool, typer.Option("--suite", help="Run nothing: say what all recorded trials tell about each scenario.")
    ] = False,
    weak: Annotated[list[str] | None, typer.Option(help="With --suite: agents of the weak arm.")] = None,
    strong: Annotated[list[str] | None, typer.Option(help="With --suite: agents of the strong arm.")] = None,
    curtail: Annotated[
        bool,
        typer.Option("--curtail", help="End a stage as soon as its verdict is settled; fewer trials, same verdict."),
    ] = False,
    state_rule: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run stage two once more with this text in the brief: does it become easy?"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Although the gate is not clean, or once more; it is recorded.")
    ] = False,
    jobs: Workers = None,
    cluster: Cluster = "",
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")] = None,
    ledger: Folder = None,
    allow_unsafe: Unsafe = None,
    output: Findings = Output.TEXT,
    output_file: OutputFile = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run the two-stage rule: two trials with at least one genuine failure, then eight fresh ones with at least four.

    The task must be clean first (`check`, oracle 1.0, nop below); what is missing is run. An interrupted calibration
    goes on where it was. The decision is printed as text or JSON with what the rules about calibrations (SL8) find; the
    other formats print these findings.

    Exit status: 0 admissible, 1 retired, rejected, never solved or blocked, 2 refused, usage or internal error,
    4 nothing decided (inconclusive, budget-bound, stopped, or a person must look first), 130 interrupted.
    """
    from scenlint.calibration import run, summary
    from scenlint.cli.live import watching
    from scenlint.harness.executor import Interrupt
    from scenlint.report.style import visible, write
    from scenlint.rulings.decision import Decided
    from scenlint.rulings.misalignment import holds_up, signals
    from scenlint.task.plan import NotRunnableError

    if suite:
        if task is not None or agent:
            write("scenlint: --suite looks at all recorded trials; it takes no task and no --agent\n", sys.stderr)
            raise typer.Exit(2)
        _suite(ledger, weak or [], strong or [], output)
        return
    if task is None or not agent:
        write("scenlint: a calibration needs a task and `--agent`; `--suite` looks at recorded trials\n", sys.stderr)
        raise typer.Exit(2)
    if agent in ("oracle", "nop"):
        write(f"scenlint: `{agent}` is no agent to calibrate with: name one of `[agents]`\n", sys.stderr)
        raise typer.Exit(2)
    if not task.exists():
        write(f"scenlint: {visible(str(task))}: no such file or folder\n", sys.stderr)
        raise typer.Exit(2)
    settings = configured([task], config)
    who = named(agent, settings)
    with reported(), Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        request = run.Request(
            task, settings, who, watcher, ledger, jobs, names(allow_unsafe), curtail, force, interrupt.stop, cluster
        )
        try:
            if state_rule is not None:
                _stated(request, state_rule, output, output_file)
            done = run.calibrate(request)
        except (run.RefusedError, NotRunnableError) as exc:
            for line in str(exc).splitlines():
                write(f"scenlint: {visible(line)}\n", sys.stderr)
            raise typer.Exit(interrupt.exit_code or 2) from None
    found = signals(done.subject.task, done.records)
    for message in done.crashes:
        write(f"scenlint: {visible(message)}\n", sys.stderr)
    report = run.judged(done.subject, done.records, settings, pages=output is Output.SARIF)
    listed = any(f.rule == "misaligned" for f in report.findings)
    _print(summary.as_text(done, found, listed=listed), summary.as_json(done, found), report, output, output_file)
    if interrupt.exit_code or done.crashes:
        raise typer.Exit(interrupt.exit_code or 2)
    match done.decision.decided:
        case Decided.ADMISSIBLE:
            raise typer.Exit(4 if holds_up(found) else 0)
        case Decided.RETIRED | Decided.REJECTED | Decided.NEVER_SOLVED | Decided.BLOCKED:
            raise typer.Exit(1)
    raise typer.Exit(4)


def _print(text: str, data: dict[str, Any], report: Report, output: Output, file: Path | None) -> None:
    """The decision and the findings, or in the other formats the findings alone."""
    from scenlint.report import render
    from scenlint.report.style import visible, write

    if output not in (Output.TEXT, Output.JSON):
        emit(report, output, file, color=None)
        return
    if output is Output.JSON:
        findings = json.loads(render(report, "json"))["findings"]
        printed = json.dumps({**data, "findings": findings}, indent=2) + "\n"
    else:
        printed = "".join(visible(line) + "\n" for line in text.splitlines())
    if file is not None:
        if report.findings and output is Output.TEXT:
            printed += "\n" + render(report, "text")
        write_file(file, printed)
        return
    write(printed)
    if report.findings and output is Output.TEXT:
        write("\n")
        emit(report, output, None, color=None)


def _stated(request: Request, file: Path, output: Output, output_file: Path | None) -> None:
    """Print the ablation and end: status 1 where the difficulty was fake, 4 where too few trials decide."""
    from scenlint.calibration import run, summary
    from scenlint.calibration.stated import state_rule
    from scenlint.calibration.stated_brief import NothingStatedError
    from scenlint.cli.state_rule import read_rule
    from scenlint.report.style import visible, write

    try:
        done = state_rule(request, read_rule(file))
    except NothingStatedError as exc:
        raise run.RefusedError(str(exc)) from None
    for message in done.crashes:
        write(f"scenlint: {visible(message)}\n", sys.stderr)
    report = run.judged(done.subject, done.records, request.settings, pages=output is Output.SARIF)
    _print(summary.stated_text(done), summary.stated_json(done), report, output, output_file)
    raise typer.Exit(2 if done.crashes else 1 if done.found.fake else 0 if done.found.complete else 4)


def _suite(ledger: Path | None, weak: list[str], strong: list[str], output: Output) -> None:
    from scenlint.calibration.discrimination import scenarios
    from scenlint.calibration.triage import confirmed
    from scenlint.report.style import visible, write

    with existing(ledger) as book:
        records = (e.record for e in book.each(finished=True))
        found = scenarios(records, weak=weak, strong=strong, said=confirmed(book.folder))
    if output is Output.JSON:
        write(json.dumps({"scenarios": [s.as_json() for s in found]}, indent=2) + "\n")
        return
    for scenario in found:
        write(f"{visible(scenario.task)}: {scenario.label}" + "".join(f" [{f}]" for f in scenario.flags) + "\n")
        for agent, rate in scenario.rates.items():
            low, high = rate.interval
            excluded = f", {rate.excluded} excluded" if rate.excluded else ""
            write(f"  {visible(agent)}: {rate.passes} of {rate.trials} ({low:.2f} to {high:.2f}){excluded}\n")
            write(f"      by the two-stage rule: {visible(rate.rule)}\n")
        if scenario.arms:
            low, high = scenario.arms.interval
            write(f"  D = {scenario.arms.difference:.2f} ({low:.2f} to {high:.2f}), AUC {scenario.arms.auc:.2f}, ")
            write(f"p = {scenario.arms.p:.3g}, q = {scenario.q:.3g}\n")
        if scenario.item_rest and scenario.item_rest.kendall is not None:
            write(f"  with the rest of the suite: tau = {scenario.item_rest.kendall:.2f}\n")
        if scenario.curve:
            kind = " (exploratory: fewer than 30 agents)" if scenario.curve.exploratory else ""
            curve = scenario.curve
            a, b = (
                f"{v:.2f}" + (f" ± {e:.2f}" if e else "") for v, e in ((curve.a, curve.error), (curve.b, curve.error_b))
            )
            write(f"  2PL: a = {a}, b = {b}{kind}\n")
        for name, why in scenario.lacks.items():
            write(f"  no {name.replace('_', '-')}: {visible(why)}\n")

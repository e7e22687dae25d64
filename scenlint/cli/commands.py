"""The commands of `scenlint`, gathered for Typer."""

from __future__ import annotations

import gc

import typer

import scenlint
from scenlint.cli import (
    admit,
    audit,
    baseline,
    calibrate,
    check,
    clean,
    diff,
    doctor,
    explain,
    grade,
    import_,
    init,
    lsp,
    map,
    new,
    pin,
    report,
    rules,
    run,
    triage,
    trials,
    validate,
    watch,
)

app = typer.Typer(
    name="scenlint",
    help="Decides whether a scenario of an AI-agent benchmark measures what it claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check.check)
app.command("pin", short_help="Pin images by digests that are known here.")(pin.pin)
app.command("validate", short_help="Run the oracle and an agent that does nothing on each task.")(validate.validate)
app.command("run", short_help="Run an agent on a task.")(run.run)
app.command("calibrate", short_help="Find out with an agent whether a task discriminates.")(calibrate.calibrate)
app.command("grade", short_help="Run an agent on an admitted suite, many trials a scenario.")(grade.grade)
app.command("import", short_help="Read the trials that other harnesses ran.")(import_.import_)
app.command("triage", short_help="List the trials that a person must look at, or decide.")(triage.triage)
app.command("admit", short_help="Say on one page what speaks for and against a task.")(admit.admit)
app.command("report", short_help="Write one HTML page about tasks, a suite or a run.")(report.report)
app.command("diff", short_help="Say what changed from a baseline to a run, and decide about it.")(diff.diff)
app.command("watch", short_help="Raise an alert when production goes wrong.")(watch.watch)
app.add_typer(audit.app, name="audit", help="The records of graded runs: verify, export, grade again.")
app.command("trials", short_help="List the recorded trials, or show one.")(trials.trials)
app.command("baseline", short_help="Record today's findings, so that only new ones fail.")(baseline.baseline)
app.command("clean", short_help="Remove what runs that died have left behind.")(clean.clean)
app.command("doctor", short_help="Say what trials need and this machine lacks.")(doctor.doctor)
app.command("explain", short_help="Print the page of a rule or probe.")(explain.explain)
app.command("map", short_help="Print the criteria of a brief beside the checks of each.")(map.map_)
app.command("rules", short_help="List the rules.")(rules.rules)
app.command("lsp", short_help="Show findings in an editor.")(lsp.lsp)
app.command("init")(init.init)
app.command("new", short_help="Make a sound task to begin with.")(new.new)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"scenlint {scenlint.__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Decides whether a scenario of an AI-agent benchmark measures what it claims."""
    if context.invoked_subcommand != "check":  # which collects between tasks
        gc.enable()

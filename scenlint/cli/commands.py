"""The commands of `scenlint`, gathered for Typer."""

from __future__ import annotations

import gc

import typer

import scenlint
from scenlint.cli import (
    admit,
    baseline,
    calibrate,
    check,
    clean,
    doctor,
    explain,
    import_,
    init,
    map,
    new,
    pin,
    rules,
    run,
    triage,
    trials,
    validate,
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
app.command("pin")(pin.pin)
app.command("validate")(validate.validate)
app.command("run")(run.run)
app.command("calibrate")(calibrate.calibrate)
app.command("import")(import_.import_)
app.command("triage")(triage.triage)
app.command("admit")(admit.admit)
app.command("trials")(trials.trials)
app.command("baseline")(baseline.baseline)
app.command("clean")(clean.clean)
app.command("doctor")(doctor.doctor)
app.command("explain")(explain.explain)
app.command("map")(map.map_)
app.command("rules")(rules.rules)
app.command("init")(init.init)
app.command("new")(new.new)


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

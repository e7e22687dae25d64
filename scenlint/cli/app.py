"""The `scenlint` command: gathers the commands and turns faults into messages for the user."""

from __future__ import annotations

import os
import sys

import typer

import scenlint
from scenlint.cli import check, clean, doctor, explain, init, rules, run, trials, validate
from scenlint.config import ConfigError

app = typer.Typer(
    name="scenlint",
    help="Decides whether a scenario of an AI-agent benchmark measures what it claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check.check)
app.command("validate")(validate.validate)
app.command("run")(run.run)
app.command("trials")(trials.trials)
app.command("clean")(clean.clean)
app.command("doctor")(doctor.doctor)
app.command("explain")(explain.explain)
app.command("rules")(rules.rules)
app.command("init")(init.init)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"scenlint {scenlint.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Decides whether a scenario of an AI-agent benchmark measures what it claims."""


def main() -> None:
    """Run the command line; exit status 2 for usage, configuration and internal errors, 130 when interrupted."""
    # Briefs hold any character, terminals and pipes do not: a character that cannot be shown must not end the run.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lives as long as the process
        getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        app()
    except ConfigError as exc:
        print(f"scenlint: {exc}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # `scenlint check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as exc:
        if os.environ.get("SCENLINT_TRACEBACK"):
            raise
        print(f"scenlint: internal error: {type(exc).__name__}: {exc}", file=sys.stderr)
        print("scenlint: please report it; SCENLINT_TRACEBACK=1 shows where it happened", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("scenlint: interrupted", file=sys.stderr)
        raise SystemExit(130) from None

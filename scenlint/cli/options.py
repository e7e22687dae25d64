"""The options that several commands share, and the configuration that they start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.output import Output
from scenlint.task.finding import Severity
from scenlint.task.policy import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenlint.config import Settings

Paths = Annotated[list[Path] | None, typer.Argument(help="Tasks, folders of tasks, or files inside tasks.")]
ConfigFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")]
ProfileName = Annotated[
    Profile | None, typer.Option(help="Settles the places where the field disagrees (default: seed).")
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Leave these paths out, as in .gitignore.")]
Findings = Annotated[Output, typer.Option("--format", "-f", help="How to print findings.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write there, not to standard output.")
]
Color = Annotated[bool | None, typer.Option("--color/--no-color", help="Default: when printing to a terminal.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="List what could not be assessed, and why.")]
FailOn = Annotated[
    Severity | None, typer.Option(help="Mildest severity that makes the exit status 1 (default: error).")
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever was found.")]
RequireComplete = Annotated[
    bool, typer.Option("--require-complete", help="Exit with 4 when a selected rule could not be assessed.")
]
NoIgnores = Annotated[bool, typer.Option("--no-ignores", help="Show what suppressions and per-path ignores hide.")]
Baseline = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Hide the findings that this file knows (see `scenlint baseline`).")
]
NoBaseline = Annotated[
    bool, typer.Option("--no-baseline", help="Show known findings, whatever the configuration says.")
]


def configured(paths: Sequence[Path], file: Path | None) -> Settings:
    """The configuration that is named, or the one at or above the first path."""
    from scenlint import config

    return config.load(paths[0] if os.path.isdir(paths[0]) else paths[0].parent, file)

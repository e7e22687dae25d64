"""`scenlint map`: criteria of the brief beside the checks that cover each."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.options import Color, ConfigFile, OutputFile, configured


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    HTML = "html"


def map_(
    paths: Annotated[list[Path], typer.Argument(help="Tasks, folders of tasks, or files inside tasks.")],
    config: ConfigFile = None,
    output: Annotated[Output, typer.Option("--format", "-f", help="How to print the mapping.")] = Output.TEXT,
    output_file: OutputFile = None,
    color: Color = None,
) -> None:
    """Print the criteria of a brief beside the checks that cover each, and what is left over on either side.

    Explicit marks ("Criterion 3", ids, docstrings) come first, then shared paths, keys, values and words; each pair
    says which of them ties it, and where both ends stand.
    Exit status: 0 mapped, 2 usage, configuration or internal error, 3 no task.
    """
    from scenlint import config as configuration
    from scenlint.lint.mapping import mappings
    from scenlint.report.mapping import render
    from scenlint.report.style import Style, visible, wants_color, write

    settings = configured(paths, config)
    report = mappings(paths, settings)
    colored = output_file is None and (wants_color(sys.stdout) if color is None else color)
    text = render(report, output.value, Style(colored, shutil.get_terminal_size().columns))
    if output_file is None:
        if report.tables or output is Output.JSON:
            write(text)
    else:
        try:
            output_file.write_text(text, "utf-8")
        except OSError as exc:
            raise configuration.ConfigError(f"{output_file} cannot be written: {exc.strerror}") from None
    for message in [*report.skipped, *(f"{p}: no such file or folder" for p in report.missing), *report.crashes]:
        write(f"scenlint: {visible(message)}\n", sys.stderr)
    raise typer.Exit(2 if report.missing or report.crashes else 0 if report.tables else 3)

"""What commands that end in findings share: how a report is printed, and the exit status it means."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.config import ConfigError
from scenlint.task.finding import Severity

if TYPE_CHECKING:
    from scenlint.report.model import Report


class Output(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"


def emit(
    report: Report,
    output: Output,
    file: Path | None,
    *,
    color: bool | None,
    verbose: bool = False,
    statistics: bool = False,
) -> None:
    """Print the report, or write it to a file; what scenlint could not do goes to standard error."""
    from scenlint.report import render, wants_color, write

    text = render(
        report,
        output.value,
        color=file is None and (wants_color(sys.stdout) if color is None else color),
        width=shutil.get_terminal_size().columns,
        verbose=verbose,
        statistics=statistics,
        encoding=(sys.stdout.encoding or "utf-8") if file is None else "utf-8",
    )
    if file is None:
        write(text)
    else:
        write_file(file, text)
    for message in [*(f"{p}: no such file or folder" for p in report.missing), *report.crashes]:
        print(f"scenlint: {message}", file=sys.stderr)
    if report.crashes:
        print("scenlint: this is a fault of scenlint or of an installed rule; please report it", file=sys.stderr)


def write_file(file: Path, text: str) -> None:
    """Write an output; ConfigError where it cannot be."""
    try:
        file.write_text(text, "utf-8")
    except OSError as exc:
        raise ConfigError(f"{file} cannot be written: {exc.strerror}") from None


def status(report: Report, fail_on: Severity, exit_zero: bool, require_complete: bool) -> int:
    """0 clean, 1 findings, 2 faults, 3 nothing was checked, 4 something could not be assessed."""
    if report.missing or report.crashes:
        return 2
    # Trials that show nothing, or none at all, are no pass.
    if not report.tasks or (report.trials is not None and not any(report.ran.values())):
        return 3
    if exit_zero:
        return 0
    if any(report.severity(f).rank <= fail_on.rank for f in report.findings):
        return 1
    return 4 if require_complete and report.not_assessed else 0

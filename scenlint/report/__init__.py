"""Renderers: one module per output, each with `render(report, style) -> str`; imported when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from scenlint.report.model import Report, RuleCard
from scenlint.report.style import Style, wants_color, write

# Output format -> its module.
FORMATS = {
    "text": "scenlint.report.text",
    "concise": "scenlint.report.concise",
    "json": "scenlint.report.json",
    "sarif": "scenlint.report.sarif",
    "github": "scenlint.report.github",
    "gitlab": "scenlint.report.gitlab",
    "junit": "scenlint.report.junit",
    "statistics": "scenlint.report.statistics",
}


def render(
    report: Report,
    format: str,
    *,
    color: bool = False,
    width: int = 100,
    verbose: bool = False,
    statistics: bool = False,
    encoding: str = "utf-8",
) -> str:
    """The report in one of FORMATS, ending in a line end. `encoding` is that of the stream it is meant for.

    `statistics` puts counts in the place of findings where the output is for people.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown output format `{format}`; known: {', '.join(FORMATS)}")
    if statistics and format in ("text", "concise"):
        format = "statistics"
    printer: Callable[[Report, Style], str] = import_module(FORMATS[format]).render
    return printer(report, Style(color, width, verbose, encoding))


__all__ = ["FORMATS", "Report", "RuleCard", "render", "wants_color", "write"]

"""GitHub Actions workflow commands: an annotation per finding, errors first, since a step shows only ten of a kind."""

from __future__ import annotations

import os
from pathlib import Path

from scenlint.report.model import Report, relative
from scenlint.report.style import Style, decoded, spelled
from scenlint.report.summary import summary
from scenlint.source.regex import regex
from scenlint.task.finding import Finding, Severity

_CONTROLS = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # a log would act on them
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, style: Style) -> str:
    # Annotations are placed relative to the checkout, which need not be the current directory.
    root = Path(os.environ.get("GITHUB_WORKSPACE") or report.root)
    ordered = sorted(report.ordered(), key=lambda f: report.severity(f).rank)
    lines = [_command(f, report.severity(f), relative(report.root / f.location.path, root)) for f in ordered]
    return "\n".join([*lines, summary(report, Style())]) + "\n"


def _command(finding: Finding, severity: Severity, path: str) -> str:
    place = finding.location
    fields: dict[str, str | int] = {"file": path}
    if place.excerpt:
        fields |= {"line": place.line, "endLine": place.end_line}
        if place.end_line == place.line:  # columns are allowed only there
            fields |= {"col": place.column, "endColumn": place.end_column}
    fields["title"] = f"{finding.code} {finding.rule}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items())
    text = f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message
    return f"::{_COMMANDS[severity]} {properties}::{_data(text)}"


def _data(text: str) -> str:
    text = _CONTROLS.sub(lambda m: spelled(m[0]), decoded(text))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

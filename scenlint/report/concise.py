"""One line per finding, `path:line:column: E SL301 unpinned-image message`, for editors and grep."""

from __future__ import annotations

from scenlint.report.model import Report
from scenlint.report.style import Style, visible
from scenlint.report.summary import notes, summary


def render(report: Report, style: Style) -> str:
    colors = {"E": "red", "W": "yellow", "I": "cyan"}
    lines = []
    for finding in report.ordered():
        place = finding.location
        letter = report.severity(finding)[0].upper()
        lines.append(
            f"{style(visible(report.path(place.path)), 'bold')}:{place.line}:{place.column}: "
            f"{style(letter, 'bold', colors[letter])} {finding.code} {finding.rule} {visible(finding.message)}"
        )
    lines += [line for line in notes(report, style) if line]
    return "\n".join([*lines, summary(report, style)]) + "\n"

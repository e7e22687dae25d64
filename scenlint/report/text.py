"""The output for people: every finding with its code frame, related places and help, then one honest summary line."""

from __future__ import annotations

from scenlint.report.frame import frame
from scenlint.report.model import Report
from scenlint.report.style import Style, visible
from scenlint.report.summary import notes, summary
from scenlint.task.finding import Confidence, Finding, Kind, Location, Severity

COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def render(report: Report, style: Style) -> str:
    blocks = ["\n".join(_finding(f, report, style)) for f in report.ordered()]
    blocks.append("\n".join([*notes(report, style), summary(report, style)]))
    return "\n\n".join(blocks) + "\n"


def _finding(finding: Finding, report: Report, style: Style) -> list[str]:
    severity = report.severity(finding)
    color = COLORS[severity]
    label = f"{style(severity, 'bold', color)} {style(finding.code, 'bold')} {style(finding.rule, 'bold')}"
    lines = [f"{_place(finding.location, report, style)}: {label}: {visible(finding.message)}"]
    lines += frame(finding.location, style, "^", color)
    for place in finding.related:
        lines.append(f"  {_place(place, report, style)}: {visible(place.message)}")
        lines += (f"  {row}" for row in frame(place, style, "-", "blue"))
    if finding.help:
        first, *rest = finding.help.splitlines()
        lines.append(f"  {style('help', 'bold', 'cyan')}: {visible(first)}")
        lines += (f"        {visible(row)}".rstrip() for row in rest)
    if finding.fix:
        how = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        lines.append(f"  {style('fix', 'bold', 'cyan')}: {visible(finding.fix.title)} (fixable with `{how}`)")
    if grounds := _grounds(finding, report):
        lines.append("  " + style(grounds, "dim"))
    return lines


def _place(place: Location, report: Report, style: Style) -> str:
    path = style(visible(report.path(place.path)), "bold")
    return f"{path}:{place.line}:{place.column}" if place.excerpt else path


def _grounds(finding: Finding, report: Report) -> str:
    """How far the finding can be trusted: said where it is more than a plain fact."""
    confidence = report.confidence(finding)
    parts = []
    if finding.kind is not Kind.FACT or confidence is not Confidence.HIGH:
        parts.append(f"{finding.kind}, {confidence} confidence")
    if finding.policy:
        parts.append(f"under the profile `{visible(finding.policy)}`")
    if finding.refute:
        parts.append(f"refuted by: {visible(finding.refute)}")
    return "; ".join(parts)

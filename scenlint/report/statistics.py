"""How often each rule fired and on how many tasks, most frequent first."""

from __future__ import annotations

from collections import defaultdict

from scenlint.report.model import Report
from scenlint.report.style import Style
from scenlint.report.summary import notes, summary
from scenlint.task.finding import Finding, Severity


def render(report: Report, style: Style) -> str:
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in report.findings:
        groups[finding.code, finding.rule].append(finding)
    rows = [
        (
            str(len(found)),
            str(len({f.task for f in found})),
            min((report.severity(f) for f in found), key=_rank),
            code,
            rule,
        )
        for (code, rule), found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    table = [("findings", "tasks", "severity", "code", "rule"), *rows] if rows else []
    wide = [max(len(row[n]) for row in table) for n in range(5)] if table else []
    lines = [
        f"{row[0]:>{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:<{wide[2]}}  {row[3]:<{wide[3]}}  {row[4]}" for row in table
    ]
    if lines:
        lines = [style(lines[0], "bold"), *lines[1:], ""]
    return "\n".join([*lines, *notes(report, style), summary(report, style)]) + "\n"


def _rank(severity: Severity) -> int:
    return severity.rank

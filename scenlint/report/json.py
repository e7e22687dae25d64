"""Everything a run found, as one JSON object; its shape is a contract (keys are added, never changed)."""

from __future__ import annotations

import json
from typing import Any

from scenlint.report.experiments import figures, sums
from scenlint.report.model import Report, TrialLine
from scenlint.report.style import Style, decoded
from scenlint.source.secrets import redact
from scenlint.task.finding import Finding, Location, Severity
from scenlint.task.fix import Fix


def render(report: Report, style: Style) -> str:
    counts = report.counts()
    data: dict[str, Any] = {
        "version": report.version,
        "findings": [_finding(f, report) for f in report.ordered()],
        "not_assessed": [
            {"rule": n.rule, "code": n.code, "task": decoded(n.task), "reason": decoded(n.reason)}
            for n in report.not_assessed
        ],
        "skipped": [decoded(message) for message in report.skipped],
        "missing": [decoded(path) for path in report.missing],
        "crashes": [decoded(message) for message in report.crashes],
        "summary": {
            "tasks": report.tasks,
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "infos": counts[Severity.INFO],
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "not_assessed": len(report.not_assessed),
            "rules": len(report.rules),
            "crashes": len(report.crashes),
            "fixed": sum(report.fixed.values()),
            "fixable": report.fixable()[0],
            "fixable_unsafely": report.fixable()[1],
        },
    }
    if report.fixed:
        data["fixed"] = dict(sorted(report.fixed.items()))
    if report.baseline is not None:
        gone = [
            {
                "rule": k.rule,
                "task": decoded(k.task),
                "path": decoded(report.path(report.gone_place(k))),
                "message": decoded(k.message),
                "count": k.count,
            }
            for k in report.gone
        ]
        data["baseline"] = {"file": decoded(report.path(report.baseline)), "hidden": report.baselined, "gone": gone}
    if report.trials is not None:
        data["trials"] = [trial(line, report) for line in report.trials]
        data["summary"]["trials"] = len(report.trials)
        data["summary"]["unfinished"] = report.unfinished
        if made := sums(report):
            data["experiments"] = [_decoded(figures(one)) for one in made]
    # ASCII escapes: the same bytes whatever the stream's encoding.
    return json.dumps(data, indent=2) + "\n"


def trial(line: TrialLine, report: Report) -> dict[str, Any]:
    """A trial's record as it is kept, with where its outputs are and whether it is from an earlier run."""
    record: dict[str, Any] = _decoded(line.record.to_json())
    return {**record, "folder": decoded(report.path(line.folder)) if line.record.id else None, "reused": line.reused}


def _decoded(value: Any) -> Any:
    if isinstance(value, str):
        return decoded(redact(value))
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    return [_decoded(item) for item in value] if isinstance(value, list) else value


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "code": finding.code,
        "severity": report.severity(finding),
        "confidence": report.confidence(finding),
        "kind": finding.kind,
        "task": decoded(finding.task),
        **_place(finding.location, report),
        "message": decoded(finding.message),
        "help": decoded(finding.help),
        "related": [{**_place(p, report), "message": decoded(p.message)} for p in finding.related],
        "quote": decoded(finding.quote),
        "refute": decoded(finding.refute),
        "policy": decoded(finding.policy),
        "byte": finding.location.byte,
        "fix": _fix(finding.fix, report) if finding.fix else None,
    }


def _fix(fix: Fix, report: Report) -> dict[str, Any]:
    """Columns and offsets count characters; an edit replaces [start, end) of the file's text, byte order mark aside."""
    edits = [
        {
            "path": decoded(report.path(c.path)),
            "line": c.line,
            "column": c.column,
            "end_line": c.end_line,
            "end_column": c.end_column,
            "start": c.start,
            "end": c.end,
            "text": decoded(c.text),
        }
        for c in fix.changes
    ]
    return {"title": decoded(fix.title), "safe": fix.safe, "edits": edits, "imports": list(fix.imports)}


def _place(place: Location, report: Report) -> dict[str, Any]:
    return {
        "path": decoded(report.path(place.path)),
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }

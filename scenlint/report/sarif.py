"""SARIF 2.1.0: results, the pages of the rules that ran as help, and what was not assessed as notifications."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scenlint.report.model import Report, RuleCard
from scenlint.report.style import Style, decoded
from scenlint.report.summary import count, unjudged
from scenlint.source.secrets import redact
from scenlint.task.finding import Finding, Location, Severity
from scenlint.task.fingerprint import fingerprints
from scenlint.task.fix import Fix

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, style: Style) -> str:
    cards = dict(report.cards)
    for finding in report.findings:  # a finding never lacks its rule
        cards.setdefault(finding.rule, RuleCard(finding.rule, finding.code, finding.rule, report.severity(finding)))
    rules = sorted(cards.values(), key=lambda card: (card.code, card.name))
    place = {card.name: n for n, card in enumerate(rules)}
    found = report.ordered()
    results = [_result(f, mark, place, report) for f, mark in zip(found, fingerprints(found, report.root), strict=True)]
    run = {
        "tool": {"driver": {"name": "scenlint", "version": report.version, "rules": [_rule(card) for card in rules]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"uri": _absolute(report.root).rstrip("/") + "/"}},
        "invocations": [
            {"executionSuccessful": not report.crashes, "toolExecutionNotifications": _notifications(report, place)}
        ],
        "results": results,
        "properties": {
            "tasks": report.tasks,
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "notAssessed": len(report.not_assessed),
        },
    }
    # ASCII escapes: the same bytes whatever the stream's encoding.
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(card: RuleCard) -> dict[str, Any]:
    page = {"help": {"text": decoded(card.help), "markdown": decoded(card.help)}} if card.help else {}
    return {
        "id": card.code or card.name,
        "name": card.name,
        "shortDescription": {"text": decoded(card.summary or card.name)},
        **page,
        "defaultConfiguration": {"level": _LEVELS[card.severity]},
        "properties": {
            "precision": card.confidence,  # the name GitHub reads
            "kind": card.kind,
            "aliases": list(card.aliases),
        },
    }


def _result(finding: Finding, fingerprint: str, place: dict[str, int], report: Report) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.code or finding.rule,
        "ruleIndex": place[finding.rule],
        "level": _LEVELS[report.severity(finding)],
        "message": {"text": decoded(text)},
        "locations": [_location(finding.location, report)],
        "partialFingerprints": {"scenlint/v1": fingerprint},
        "properties": {
            "task": decoded(finding.task),
            "kind": finding.kind,
            "confidence": report.confidence(finding),
            **{k: decoded(v) for k, v in (("policy", finding.policy), ("refute", finding.refute)) if v},
        },
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": n, **_location(other, report), "message": {"text": decoded(other.message or "see also")}}
            for n, other in enumerate(finding.related)
        ]
    if finding.fix:
        result["fixes"] = [_fix(finding.fix, report)]
    return result


def _fix(fix: Fix, report: Report) -> dict[str, Any]:
    changes = [
        {
            "deletedRegion": {
                "startLine": c.line,
                "startColumn": c.column,
                "endLine": c.end_line,
                "endColumn": c.end_column,
            },
            "insertedContent": {"text": decoded(c.text)},
        }
        for c in fix.changes
    ]
    title = fix.title if fix.safe else f"{fix.title} (unsafe: look at the result)"
    return {
        "description": {"text": decoded(title)},
        "artifactChanges": [{"artifactLocation": _artifact(fix.path, report), "replacements": changes}],
        "properties": {"safe": fix.safe, "imports": list(fix.imports)},
    }


def _location(place: Location, report: Report) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path, report)}
    if place.excerpt:  # without a region the whole file is meant
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
    return {"physicalLocation": physical}


def _artifact(path: Path, report: Report) -> dict[str, str]:
    relative = report.path(path)
    if relative.startswith("/") or relative.split("/")[0] == "..":  # no dot segments in a URI
        return {"uri": _absolute(report.root / redact(str(path)))}
    uri = "./" if relative == "." else _encoded(relative)
    # A colon in the first segment would read as the end of a scheme.
    return {"uri": f"./{uri}" if ":" in relative.split("/")[0] else uri, "uriBaseId": BASE}


def _absolute(path: Path) -> str:
    whole = os.path.abspath(path).replace(os.sep, "/")
    return "file:///" + _encoded(whole.lstrip("/"))


def _encoded(path: str) -> str:
    """Every segment percent-encoded as UTF-8; bytes that were no text are encoded as they are."""
    path = re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", path)  # half of a character: a name in code, not of a file
    return "/".join(quote(segment, safe="", errors="surrogateescape") for segment in path.split("/"))


def _notifications(report: Report, place: dict[str, int]) -> list[dict[str, Any]]:
    said = [
        *(("error", text) for text in report.crashes),
        *(("warning", f"{path}: no such file or folder") for path in report.missing),
        *(("note", text) for text in report.skipped),
    ]
    out: list[dict[str, Any]] = [{"level": level, "message": {"text": decoded(text)}} for level, text in said]
    for (code, rule, reason), tasks in unjudged(report).items():
        associated: dict[str, Any] = {"id": code or rule}
        if rule in place:
            associated["index"] = place[rule]
        out.append(
            {
                "level": "note",
                "message": {"text": decoded(f"{rule} not assessed for {count(len(tasks), 'task')}: {reason}")},
                "associatedRule": associated,
                "properties": {"tasks": [decoded(task) for task in tasks]},
            }
        )
    return out

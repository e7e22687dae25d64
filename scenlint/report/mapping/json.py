"""The mapping as one JSON object; its shape is a contract, `schema.json` (keys are added, never changed)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scenlint.report.mapping import MappingReport, absent
from scenlint.report.style import Style, decoded
from scenlint.source.text import Span

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.mapping.table import Pair, Table, Tie


def render(report: MappingReport, style: Style) -> str:
    data = {
        "version": report.version,
        "tasks": [_task(table, report) for table in report.tables],
        "skipped": [decoded(message) for message in report.skipped],
        "missing": [decoded(path) for path in report.missing],
        "crashes": [decoded(message) for message in report.crashes],
    }
    return json.dumps(data, indent=2) + "\n"


def _task(table: Table, report: MappingReport) -> dict[str, Any]:
    return {
        "task": decoded(table.task.id),
        "format": table.task.format,
        "path": decoded(report.path(table.task.folder)),
        "criteria": [
            {**_criterion(c, report), "checks": [_pair(p, report) for p in table.of(c)]} for c in table.criteria
        ],
        "checks": [_check(c, report) for c in table.checks],
        "criteria_without_check": [c.id for c in table.uncovered],
        "checks_without_criterion": [_check(c, report) for c in table.unclaimed],
        "not_assessed": [decoded(reason) for reason in absent(table)],
    }


def _criterion(criterion: Criterion, report: MappingReport) -> dict[str, Any]:
    return {
        "id": criterion.id,
        "number": criterion.number,
        "kind": criterion.kind,
        "text": decoded(criterion.text),
        "section": decoded(criterion.section),
        **_place(criterion.span, report),
    }


def _check(check: Check, report: MappingReport) -> dict[str, Any]:
    return {
        "id": decoded(check.id),
        "label": decoded(check.label),
        "dialect": check.dialect,
        "weight": check.weight,
        "existence_only": check.existence_only,
        **_place(check.span, report),
    }


def _pair(pair: Pair, report: MappingReport) -> dict[str, Any]:
    return {
        **_check(pair.check, report),
        "strength": pair.strength,
        "named_outright": pair.marked,
        "weak": pair.weak,
        "evidence": [_tie(tie, report) for tie in pair.ties],
    }


def _tie(tie: Tie, report: MappingReport) -> dict[str, Any]:
    return {
        "by": tie.by,
        "shared": [decoded(term) for term in tie.shared],
        "strength": tie.strength,
        "at_criterion": _place(tie.at_criterion, report),
        "at_check": _place(tie.at_check, report),
    }


def _place(span: Span, report: MappingReport) -> dict[str, Any]:
    return {
        "path": decoded(report.path(span.source.path)),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }

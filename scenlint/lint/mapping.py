"""Makes the mapping report: loads the tasks behind some paths and lays criteria beside checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import scenlint
from scenlint.config import Settings
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.engine import crash
from scenlint.report.mapping import MappingReport
from scenlint.task.mapping.table import Table


def mappings(paths: Sequence[Path], settings: Settings) -> MappingReport:
    """The tables of every task behind the paths. Never raises for a task: a fault is kept as a crash."""
    found = Finder(settings).discover(paths)
    report = MappingReport(scenlint.__version__, Path.cwd(), skipped=found.messages, missing=found.missing)
    for ref in found.refs:
        try:
            made = Table(format_named(ref.format).load(ref, settings.policy))
            made.pairs  # noqa: B018  (a fault of the mapping shows here, where it is caught)
            report.tables.append(made)
        except Exception as exc:
            report.crashes.append(crash(f"while {ref.folder.name} was mapped", exc))
    return report

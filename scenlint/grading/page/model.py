"""What the HTML report shows, gathered: each task with everything that is known of it, and a run with its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scenlint.calibration.discrimination import Scenario as Discrimination
from scenlint.grading.diff import Diff
from scenlint.grading.dispositions import Decision as Decided
from scenlint.grading.results import Result, Summary
from scenlint.report.experiments import Sum
from scenlint.report.model import Report
from scenlint.rulings.decision import Decision
from scenlint.task.finding import Finding, NotAssessed, Severity
from scenlint.task.mapping.table import Table
from scenlint.task.record import TrialRecord


@dataclass
class TaskPart:
    """One task. What is not known is empty, and the page says so."""

    id: str
    place: str  # its path, as a reader would type it
    format: str = ""
    digest: str = ""
    image_digest: str = ""
    report: Report | None = None  # by which its findings' paths and severities are read
    findings: list[Finding] = field(default_factory=list)
    not_assessed: list[NotAssessed] = field(default_factory=list)
    table: Table | None = None  # criteria beside checks
    trials: list[TrialRecord] = field(default_factory=list)  # all but experiments, in launch order
    experiments: Sum | None = None
    points: Sequence[tuple[str, bool | None, str]] = ()  # what admission asks for: name, met, why
    calibrations: dict[str, Decision] = field(default_factory=dict)  # agent -> its last one
    discrimination: Discrimination | None = None
    result: Result | None = None  # in the run
    obstacle: str = ""  # why it could not be looked at

    def count(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return sum(self.report.severity(f) is severity for f in self.findings) if self.report else 0


@dataclass
class Book:
    """The whole report."""

    title: str
    scenlint: str
    made: str  # ISO 8601, UTC
    tasks: list[TaskPart] = field(default_factory=list)
    summary: Summary | None = None
    diff: Diff | None = None
    decisions: dict[str, Decided | None] = field(default_factory=dict)  # name of a changed line -> what stands
    notes: list[str] = field(default_factory=list)

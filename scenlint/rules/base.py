"""What a rule is made with: `@rule(...)` turns a function (task) -> findings into a Rule; RULES holds those loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scenlint.task.card import Card
from scenlint.task.finding import Confidence, Finding, Kind, Severity
from scenlint.task.model import Role, Task
from scenlint.task.policy import Profile
from scenlint.task.record import TrialRecord

TaskCheck = Callable[[Task], Iterable[Finding]]
TrialCheck = Callable[[Task, Sequence[TrialRecord]], Iterable[Finding]]
SuiteCheck = Callable[[Sequence[Card]], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """One rule: its identity (the name; the code is an alias), its defaults, what it needs, and the function."""

    name: str
    code: str
    summary: str  # the first line of its module's docstring
    severity: Severity
    confidence: Confidence
    kind: Kind
    needs: frozenset[Role]
    formats: frozenset[str]  # empty: every format in which the roles exist
    profiles: frozenset[Profile]  # empty: every profile
    aliases: tuple[str, ...]  # names other linters give it
    refute: str  # what would show that a finding is wrong
    since: str
    preview: bool
    late: bool  # runs once suppressions have been applied, on what they did
    module: str
    fix: str = ""  # "safe" or "unsafe" where it offers fixes of that kind
    check: TaskCheck | None = None
    suite_check: SuiteCheck | None = None
    trial_check: TrialCheck | None = None
    deep: bool = False  # about the experiments of `validate --deep` only
    calibration: bool = False  # about calibrations

    @property
    def command(self) -> str:
        """The command that judges by it: "check", or "validate" or "calibrate" for rules about trials."""
        return "check" if self.trial_check is None else "calibrate" if self.calibration else "validate"

    @property
    def family(self) -> str:
        """The folder it lies in: "brief", "verifier", …; the package's name where it lies in none."""
        return self.module.rpartition(".")[0].rpartition(".")[2] or self.module

    @property
    def page(self) -> Path:
        """Its page, relative to the rule book."""
        return Path(self.family, self.module.split(".")[-1] + ".md")

    def inapplicable(self, task: Task) -> str | None:
        """Why this rule cannot judge the task (reported as not assessed), or None."""
        lacking = [role for role in self.needs if task.lacks(role)]
        return task.lacks(min(lacking, key=list(Role).index)) if lacking else None


def rule(
    name: str,
    code: str,
    *,
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.MEDIUM,
    kind: Kind = Kind.CLAIM,
    needs: Iterable[Role] = (),
    formats: Iterable[str] = (),
    profiles: Iterable[Profile] = (),
    aliases: Iterable[str] = (),
    refute: str = "",
    since: str = "0.1",
    preview: bool = False,
    late: bool = False,
    fix: Literal["", "safe", "unsafe"] = "",
) -> Callable[[TaskCheck], Rule]:
    """Make the decorated function a rule about one task.

    `needs`: roles without which the rule is *not assessed*. `formats`: only where a rule is bound to one format's own
    grammar; elsewhere it does not exist (neither run nor counted). `profiles`: only where profiles disagree.
    `fix`: the kind of fix that its findings may carry (`Finding.at(…, fix=Fix.of(…))`).
    The function gets a Task and yields `Finding.at(...)`; it may override severity and confidence per finding.
    """

    def wrap(check: TaskCheck) -> Rule:
        return Rule(
            name=name,
            code=code,
            summary=_summary(check),
            severity=severity,
            confidence=confidence,
            kind=kind,
            needs=frozenset(needs),
            formats=frozenset(formats),
            profiles=frozenset(profiles),
            aliases=tuple(aliases),
            refute=refute,
            since=since,
            preview=preview,
            late=late,
            fix=fix,
            module=check.__module__,
            check=check,
        )

    return wrap


def suite_rule(
    name: str,
    code: str,
    *,
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.MEDIUM,
    kind: Kind = Kind.CLAIM,
    aliases: Iterable[str] = (),
    refute: str = "",
    since: str = "0.1",
    preview: bool = False,
) -> Callable[[SuiteCheck], Rule]:
    """Make the decorated function a rule about all checked tasks at once; it gets a Card per task."""

    def wrap(check: SuiteCheck) -> Rule:
        return Rule(
            name=name,
            code=code,
            summary=_summary(check),
            severity=severity,
            confidence=confidence,
            kind=kind,
            needs=frozenset(),
            formats=frozenset(),
            profiles=frozenset(),
            aliases=tuple(aliases),
            refute=refute,
            since=since,
            preview=preview,
            late=False,
            module=check.__module__,
            suite_check=check,
        )

    return wrap


def trial_rule(
    name: str,
    code: str,
    *,
    severity: Severity = Severity.ERROR,
    confidence: Confidence = Confidence.HIGH,
    needs: Iterable[Role] = (),
    aliases: Iterable[str] = (),
    refute: str = "",
    since: str = "0.1",
    preview: bool = False,
    deep: bool = False,
    calibration: bool = False,
) -> Callable[[TrialCheck], Rule]:
    """Make the decorated function a rule about the recorded trials of one task, all of the task as it now stands.

    The function gets the Task and the records, and raises NotAssessableError where these trials show nothing of what
    it asks. (`scenlint.task.trials` picks them and says so.) A `deep` rule is about experiments (`record.experiment`)
    and judges only where there are some, or were to be; a `calibration` rule is about what a calibration came to.
    """

    def wrap(check: TrialCheck) -> Rule:
        return Rule(
            name=name,
            code=code,
            summary=_summary(check),
            severity=severity,
            confidence=confidence,
            kind=Kind.EVIDENCE,
            needs=frozenset(needs),
            formats=frozenset(),
            profiles=frozenset(),
            aliases=tuple(aliases),
            refute=refute,
            since=since,
            preview=preview,
            late=False,
            module=check.__module__,
            trial_check=check,
            deep=deep,
            calibration=calibration,
        )

    return wrap


def _summary(function: TaskCheck | SuiteCheck | TrialCheck) -> str:
    """The first line of the docstring of the rule's module."""
    doc = (sys.modules[function.__module__].__doc__ or "").strip()
    return doc.splitlines()[0] if doc else ""

"""A Report: everything one run found, as plain data that every renderer prints."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scenlint.source.secrets import redact
from scenlint.task.finding import Confidence, Finding, Kind, NotAssessed, Severity
from scenlint.task.fingerprint import Known
from scenlint.task.record import TrialRecord


@dataclass(frozen=True)
class RuleCard:
    """What a report says of a rule that ran; `help` is its page in Markdown."""

    name: str
    code: str
    summary: str
    severity: Severity = Severity.WARNING
    confidence: Confidence = Confidence.MEDIUM
    kind: Kind = Kind.CLAIM
    help: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrialLine:
    """A trial behind the findings: its record, the folder with its outputs, and whether it is from an earlier run."""

    record: TrialRecord
    folder: Path
    reused: bool = False


@dataclass
class Report:
    """The result of one run. Paths are printed relative to `root`, the directory scenlint was started in."""

    version: str
    root: Path
    tasks: int = 0  # tasks checked
    findings: list[Finding] = field(default_factory=list)
    not_assessed: list[NotAssessed] = field(default_factory=list)
    suppressed: int = 0
    baselined: int = 0  # findings that the baseline hides
    baseline: Path | None = None  # its file
    gone: list[Known] = field(default_factory=list)  # what it knows and this run found no more
    skipped: list[str] = field(default_factory=list)  # messages: paths that are no task, …
    missing: list[str] = field(default_factory=list)  # paths that do not exist
    fixed: dict[str, int] = field(default_factory=dict)  # rule -> how many of its findings were fixed before this
    crashes: list[str] = field(default_factory=list)  # faults of scenlint itself, one message each
    elapsed: float = 0.0  # seconds
    rules: list[RuleCard] = field(default_factory=list)  # of every rule that ran
    ran: dict[str, Sequence[str]] = field(default_factory=dict)  # task -> names of the rules that judged it
    trials: list[TrialLine] | None = None  # None: nothing was to be run
    unfinished: int = 0  # trials that an interruption cut off

    @cached_property
    def cards(self) -> dict[str, RuleCard]:
        """The rules by name."""
        return {card.name: card for card in self.rules}

    def severity(self, finding: Finding) -> Severity:
        """The finding's severity, or its rule's default."""
        card = self.cards.get(finding.rule)
        return finding.severity or (card.severity if card else Severity.WARNING)

    def confidence(self, finding: Finding) -> Confidence:
        """The finding's confidence, or its rule's default."""
        card = self.cards.get(finding.rule)
        return finding.confidence or (card.confidence if card else Confidence.MEDIUM)

    def counts(self) -> dict[Severity, int]:
        """How many findings there are of each severity, zero included."""
        seen = Counter(self.severity(f) for f in self.findings)
        return {severity: seen[severity] for severity in Severity}

    def fixable(self) -> tuple[int, int]:
        """How many findings have a fix that is safe, and how many one that is not."""
        safe = [f.fix.safe for f in self.findings if f.fix is not None]
        return sum(safe), len(safe) - sum(safe)

    def ordered(self) -> list[Finding]:
        """The findings by path and place."""
        return sorted(self.findings, key=lambda f: (*f.sort_key, f.message))

    def gone_place(self, known: Known) -> Path:
        """Where a finding of the baseline was."""
        return Path(os.path.normpath((self.baseline or self.root).absolute().parent / known.path))

    def path(self, path: Path) -> str:
        """A path as it is printed: posix, relative to `root` where it lies below it (or beside it), else absolute.

        Documents name paths, so one may hold a secret.
        """
        return redact(relative(path, self.root))


def relative(path: Path, root: Path) -> str:
    """Relative posix path; absolute only where the two share no more than the file system's root."""
    if not path.is_absolute():
        return os.path.normpath(path).replace(os.sep, "/")
    try:
        out = os.path.relpath(path, root)
    except ValueError:  # another drive
        return path.as_posix()
    shared = os.path.commonpath([os.path.abspath(path), os.path.abspath(root)])
    return path.as_posix() if out.startswith("..") and shared == os.sep else out.replace(os.sep, "/")

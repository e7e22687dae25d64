"""What a task's mutants came to: how much wrong work was noticed, how much free variation was let be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scenlint.task.record import TrialRecord

CRUDE = frozenset({"delete-file", "empty-file", "untouched-input"})
BAR = 0.8  # of wrong work that has to be noticed


@dataclass
class Score:
    """Counts over mutants that got a verdict; open ones are listed and not scored."""

    killed: list[TrialRecord] = field(default_factory=list)  # of those that must die
    survived: list[TrialRecord] = field(default_factory=list)
    tolerated: list[TrialRecord] = field(default_factory=list)  # of those that must live
    rejected: list[TrialRecord] = field(default_factory=list)
    open: list[TrialRecord] = field(default_factory=list)

    @property
    def kill(self) -> float | None:
        """The share of wrong work that was noticed; None without any."""
        return _share(len(self.killed), len(self.survived))

    @property
    def tolerance(self) -> float | None:
        """The share of free variation that was let be; None without any."""
        return _share(len(self.tolerated), len(self.rejected))

    @property
    def youden(self) -> float | None:
        """Kill + tolerance - 1: 0 for a verifier that throws a coin."""
        return None if self.kill is None or self.tolerance is None else self.kill + self.tolerance - 1


def score(records: Sequence[TrialRecord]) -> Score:
    """The score of all mutants among these records; those without a verdict count for nothing."""
    out = Score()
    for record in records:
        made = record.experiment
        if made is None or made.kind != "mutant" or made.outcome not in ("killed", "survived"):
            continue
        died = made.outcome == "killed"
        match made.expected:
            case "must-die":
                (out.killed if died else out.survived).append(record)
            case "must-live":
                (out.rejected if died else out.tolerated).append(record)
            case _:
                out.open.append(record)
    return out


def by_criterion(records: Sequence[TrialRecord]) -> dict[str, Score]:
    """The score for each criterion of the brief that mutants are about; those about none or several are left out."""
    groups: dict[str, list[TrialRecord]] = {}
    for record in records:
        if record.experiment is not None and record.experiment.criterion:
            groups.setdefault(record.experiment.criterion, []).append(record)
    scores = {name: score(group) for name, group in sorted(groups.items(), key=lambda item: _natural(item[0]))}
    return {name: one for name, one in scores.items() if one.kill is not None or one.tolerance is not None or one.open}


def _natural(name: str) -> list[tuple[int, str]]:
    """10 after 9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _share(yes: int, no: int) -> float | None:
    return yes / (yes + no) if yes + no else None

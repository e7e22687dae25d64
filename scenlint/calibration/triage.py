"""What people decided about trials and suspicions, with reason and role: appended to a file, never taken out of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from scenlint.calibration.classes import Effect, Ruling
from scenlint.task.record import FailureClass

FILE = "triage.jsonl"  # in the ledger's folder


class Verdict(StrEnum):
    """What a person can decide."""

    GENUINE = "genuine"  # about a trial: the agent's own failure
    EXCLUDED = "excluded"  # about a trial: not the agent's doing
    CHEATING = "cheating"  # about a trial
    MISALIGNED = "misaligned"  # about a task's digest: brief and verifier disagree, all its trials are void
    ALIGNED = "aligned"  # about a task's digest: the suspicion was looked into and is none


@dataclass(frozen=True)
class Disposition:
    """A decision about a trial (`about` is its id) or a task as it stood (`about` is its digest)."""

    about: str
    verdict: Verdict
    reason: str
    role: str  # of who decided: "maintainer", "reviewer" …
    at: str = ""  # ISO 8601, UTC

    @property
    def voids(self) -> bool:
        return self.verdict is Verdict.MISALIGNED

    def apply(self, ruling: Ruling) -> Ruling:
        """The ruling as it stands after this decision; the table's own stays on record with the trial."""
        told = f"{self.role}: {self.reason}"
        match self.verdict:
            case Verdict.GENUINE:
                return replace(ruling, effect=Effect.FAILURE, evidence=told, person="")
            case Verdict.EXCLUDED:
                return replace(ruling, effect=Effect.EXCLUDED, evidence=told, person="")
            case Verdict.CHEATING:
                return replace(
                    ruling, effect=Effect.EXCLUDED, failure_class=FailureClass.CHEATING, evidence=told, person=""
                )
        return ruling


def command(digest: str) -> str:
    """How a person settles signs of misalignment."""
    return f"scenlint triage {digest[:19]} --as aligned|misaligned --reason … --role …"


def applied(rulings: Sequence[Ruling], said: Sequence[Disposition]) -> list[Ruling]:
    """The rulings as they stand after what was decided about their trials."""
    by_trial = {d.about: d for d in said}
    return [by_trial[r.record.id].apply(r) if r.record.id in by_trial else r for r in rulings]


def decide(folder: Path, about: str, verdict: Verdict, reason: str, role: str) -> Disposition:
    """Record a decision; ValueError without a reason or a role."""
    if not reason.strip() or not role.strip():
        raise ValueError("a disposition needs a reason, and the role of who decides")
    made = Disposition(about, verdict, reason.strip(), role.strip(), datetime.now(UTC).isoformat(timespec="seconds"))
    with (folder / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(made)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return made


def history(folder: Path) -> list[Disposition]:
    """Every decision in the order in which they were made; a line that was cut off is left out."""
    out = []
    try:
        lines = (folder / FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            data = json.loads(line)
            out.append(Disposition(**{**data, "verdict": Verdict(data["verdict"])}))
        except (ValueError, TypeError, KeyError):
            continue
    return out


def confirmed(folder: Path) -> Sequence[Disposition]:
    """What holds now: the last decision about each trial and digest."""
    return list({d.about: d for d in history(folder)}.values())

"""What a person must decide: trials that the table cannot settle, and tasks held up by signs of misalignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scenlint.calibration.known import known, noted
from scenlint.calibration.triage import command, confirmed
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.gate import Gate, Subject
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger
from scenlint.rulings.calibrations import CONTROLS, KIND, attempts, rulings
from scenlint.rulings.misalignment import beside, holds_up, signals
from scenlint.task.record import TrialRecord


@dataclass(frozen=True)
class Waiting:
    """One thing to decide, and how."""

    task: str
    task_digest: str
    person: str  # why a person should look
    command: str
    trial: str = ""  # "" where it is about the task
    agent: str = ""
    evidence: str = ""  # lines


def waiting(ledger: Ledger, settings: Callable[[Path], Settings]) -> list[Waiting]:
    """All that is open about the tasks that were calibrated; `settings` are those that a path is under.

    A task that was edited since is not asked about any more: its trials are of another version. Of one that is no
    longer there nothing but trials can be listed.
    """
    out: list[Waiting] = []
    for place in dict.fromkeys(row.place for row in ledger.rows(kind=KIND, finished=True)):
        under = settings(ledger.folder.parent / place)
        gate = Gate(Options(substitutes=under.policy.substitutes), ledger, engine=False)
        subject = stage.at(place, under, gate)
        records = known(ledger, subject) if subject and subject.plan else _recorded(ledger, place)
        if any(d.voids for r in records for d in r.dispositions):
            continue
        out += _trials(records)
        if subject is not None and attempts(records):
            out += _signs(subject, records)
    return out


def _recorded(ledger: Ledger, place: str) -> list[TrialRecord]:
    kinds = [ledger.entries(place=place, kind=KIND, finished=True)]
    kinds += [ledger.entries(place=place, agent=agent, finished=True) for agent in CONTROLS]
    return noted((e.record for entries in kinds for e in entries), confirmed(ledger.folder))


def _trials(records: list[TrialRecord]) -> list[Waiting]:
    return [
        Waiting(
            r.record.task, r.record.task_digest, r.person, command(r.record.id), r.record.id, r.record.agent, r.evidence
        )
        for own in rulings(records).values()
        for r in own
        if r.person and r.record.experiment is not None and r.record.experiment.kind == KIND
    ]  # fmt: skip


def _signs(subject: Subject, records: list[TrialRecord]) -> list[Waiting]:
    found = signals(subject.task, records)
    if not holds_up(found):
        return []
    digest = attempts(records)[-1].task_digest
    lines = [line for s in found for line in (f"{s.name}: {s.text}", *(f"    {b}" for b in beside(s)))]
    told = "signs of misalignment hold it up"
    return [Waiting(subject.task.id, digest, told, command(digest), evidence="\n".join(lines))]

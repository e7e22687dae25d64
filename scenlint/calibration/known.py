"""What is on record of a task as it stands: its trials, what people decided, how strong its agents are elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scenlint.calibration.triage import confirmed
from scenlint.dynamic.gate import Subject, stands
from scenlint.harness.ledger import Ledger, Row
from scenlint.rulings.calibrations import CONTROLS, KIND, STATED
from scenlint.task.record import AS_IT_IS, Disposition, FailureClass, Status, TrialRecord

LEAST = 8  # valid trials of other scenarios that say how strong an agent is


def known(ledger: Ledger, subject: Subject) -> list[TrialRecord]:
    """All trials of the task as it stands in the order of their start; of one that was run again the last."""
    assert subject.plan is not None
    found: dict[tuple[str, ...], TrialRecord] = {}
    for entry in ledger.each(place=subject.place, finished=True):
        if stands(entry.record, subject.plan):
            found.pop(_which(entry.record), None)
            found[_which(entry.record)] = entry.record
    strong = strengths(ledger, subject)
    return noted(found.values(), confirmed(ledger.folder), strong)


def _which(record: TrialRecord) -> tuple[str, ...]:
    """What tells trials apart that are wanted side by side. Every attempt of a calibration is one of its own."""
    made = record.experiment
    if made is not None and made.kind in AS_IT_IS:
        return (record.id,)
    return (record.agent, str(record.attempt), *((made.kind, made.name, made.target) if made else ()))


def noted(
    records: Iterable[TrialRecord], said: Sequence[Disposition], strong: dict[str, float] | None = None
) -> list[TrialRecord]:
    """Records with what was decided about each and its task, and with the strength of their agents."""
    by_name: dict[str, list[Disposition]] = defaultdict(list)
    for decision in said:
        by_name[decision.about].append(decision)
    return [
        replace(
            record,
            dispositions=[*by_name.get(record.id, ()), *by_name.get(record.task_digest or "-", ())],
            strength=(strong or {}).get(record.agent),
        )
        for record in records
    ]


def strengths(ledger: Ledger, subject: Subject) -> dict[str, float]:
    """The pass rates of agents over the valid trials of all other tasks; only of those that have enough."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for row in ledger.rows(finished=True):
        if row.place != subject.place and row.task != subject.task.id and _counts(row):
            counts[row.agent].append(row.status == Status.PASSED)
    return {agent: sum(passed) / len(passed) for agent, passed in counts.items() if len(passed) >= LEAST}


def _counts(row: Row) -> bool:
    """Whether a trial is an agent's, of the task as it is, and ended with a pass or a genuine failure."""
    as_it_is = (not row.kind or row.kind in AS_IT_IS) and not (row.kind == KIND and row.name == STATED)
    valid = row.status == Status.PASSED or row.failure_class == FailureClass.WRONG_ANSWER
    return as_it_is and row.agent not in CONTROLS and valid

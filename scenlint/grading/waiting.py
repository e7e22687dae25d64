"""Which graded trials a person must decide about, for `scenlint triage`."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.calibration.triage import command, confirmed
from scenlint.calibration.waiting import Waiting
from scenlint.grading.model import KIND
from scenlint.grading.summary import CONTROLS, rulings_of
from scenlint.harness.ledger import Ledger
from scenlint.task.record import FailureClass

# Only trials of these classes can want a person; of many trials the others need not be read.
_CLASSES = (
    *(FailureClass.CHEATING, FailureClass.VERIFIER_ERROR, FailureClass.TOOL_ERROR, FailureClass.INFRASTRUCTURE),
    *(FailureClass.CONFIGURATION, FailureClass.MISALIGNMENT),
)


def waiting(ledger: Ledger) -> Iterator[Waiting]:
    """Trials of all runs that nobody has decided about, in the order of their classes and start."""
    said = confirmed(ledger.folder)
    for failure_class in _CLASSES:
        for entry in ledger.each(kind=KIND, failure_class=failure_class.value, finished=True):
            record = entry.record
            found = [
                e.record
                for agent in CONTROLS
                for e in ledger.each(task=record.task, agent=agent, task_digest=record.task_digest, finished=True)
                if e.record.experiment is None
            ]
            (ruling,) = rulings_of([record], {record.task_digest: found}, said)
            if ruling.person:
                yield Waiting(
                    *(record.task, record.task_digest, ruling.person, command(record.id), record.id, record.agent),
                    evidence=ruling.evidence,
                )

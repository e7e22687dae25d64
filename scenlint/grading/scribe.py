"""Watches a run: writes each trial that has ended to the audit record, counts its cost, and knows when to stop."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from scenlint.dynamic.driver import Watcher
from scenlint.dynamic.gate import Job
from scenlint.grading.audit.artefacts import trial_data
from scenlint.grading.audit.chain import Chain
from scenlint.grading.model import KIND, Run
from scenlint.harness.ledger import Ledger
from scenlint.rulings.classes import rule_on
from scenlint.task.record import FailureClass, Phase, PhaseName, TrialRecord


class Scribe:
    """A watcher that hands everything on to another one. Safe for the threads of the run."""

    def __init__(
        self,
        watcher: Watcher,
        ledger: Ledger,
        chain: Chain,
        run: Run,
        stop: threading.Event,
        max_cost: float | None = None,
    ) -> None:
        self._watcher, self._ledger, self._chain, self._run = watcher, ledger, chain, run
        self._stop, self._max = stop, max_cost
        self._lock = threading.Lock()
        self._costs: list[float] = []
        self._unknown = 0
        self.halted = ""  # why no further trial of any scenario makes sense

    @property
    def full(self) -> str:
        """Why no further trial may start, where the cost has reached its limit; "" while it has not."""
        spent = math.fsum(self._costs)
        if self._max is None or spent < self._max:
            return ""
        unknown = f" (and {self._unknown} trials whose cost is not known)" if self._unknown else ""
        return f"the trials have cost {spent:.2f} of {self._max:.2f} USD{unknown}"

    def spent_before(self, records: Sequence[TrialRecord]) -> None:
        """What the run's trials on record have cost."""
        with self._lock:
            self._costs = [r.cost_usd for r in records if r.cost_usd is not None]
            self._unknown = len(records) - len(self._costs)

    def goes_on(self) -> bool:
        """Asked before each trial."""
        with self._lock:
            return not self.halted and not self.full

    # As a watcher

    def planned(self, jobs: Sequence[Job], reused: int) -> None:
        self._watcher.planned(jobs, reused)

    def began(self, job: Job, trial: str) -> None:
        self._watcher.began(job, trial)

    def phase(self, job: Job, trial: str, phase: Phase) -> None:
        self._watcher.phase(job, trial, phase)

    def ended(self, job: Job, record: TrialRecord) -> None:
        self._chain.append("trial", trial_data(record, self._ledger.folder_of(record.id)))
        ruling = rule_on([record])[0]
        with self._lock:
            if record.cost_usd is not None:
                self._costs.append(record.cost_usd)
            else:
                self._unknown += 1
            began = any(p.name == PhaseName.AGENT for p in record.phases)
            if began and ruling.stops and ruling.failure_class is FailureClass.CONFIGURATION:
                # Whatever the scenario, it would end like this.
                self.halted = f"{ruling.person}: {ruling.evidence}"
        self._watcher.ended(job, record)

    def left_out(self, job: Job) -> None:
        self._watcher.left_out(job)

    def note(self, text: str) -> None:
        self._watcher.note(text)


def catch_up(chain: Chain, ledger: Ledger, run: Run) -> None:
    """Write the trials that ended, and that a run which was killed did not come to write."""
    written = {line.data["record"]["id"] for line in chain.lines("trial")}
    ended = [row.id for row in ledger.rows(kind=KIND, name=run.id, finished=True)]
    for trial in ended:
        if trial not in written:
            (entry,) = (e for e in ledger.entries(id=trial) if e.id == trial)
            chain.append("trial", trial_data(entry.record, entry.folder))

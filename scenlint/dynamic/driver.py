"""Runs the trials that are wanted, many at once, each into the ledger as it goes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol

from scenlint.dynamic.gate import Job, Shown, needs_engine
from scenlint.harness import local, trial
from scenlint.harness.cluster.client import Cluster
from scenlint.harness.engine import Options, connect
from scenlint.harness.environment import Fault
from scenlint.harness.executor import run_all
from scenlint.harness.ledger import Ledger, LedgerError, Wanted
from scenlint.harness.reap import Reaped, reap
from scenlint.stats.words import count
from scenlint.task.record import Phase, TrialRecord


class Watcher(Protocol):
    """Is told how the run goes; called from several threads."""

    def planned(self, jobs: Sequence[Job], reused: int) -> None: ...
    def began(self, job: Job, trial: str) -> None: ...
    def phase(self, job: Job, trial: str, phase: Phase) -> None: ...
    def ended(self, job: Job, record: TrialRecord) -> None: ...
    def left_out(self, job: Job) -> None: ...
    def note(self, text: str) -> None: ...


@dataclass
class Driver:
    """One run: its options, its ledger, who watches, and the wish to stop."""

    ledger: Ledger
    options: Options
    watcher: Watcher
    workers: int = 1  # trials at once; 0: as many as the cluster runs
    stop: threading.Event = field(default_factory=threading.Event)
    left: int = 0  # jobs that were no longer wanted when their turn came
    _cluster: Cluster | None = None
    _opened: bool = False
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def open(self, command: str) -> None:
        """Tell the ledger that the run begins, and mark what runs that died left unfinished as interrupted."""
        if not self._opened:
            self._opened = True
            for entry in self.ledger.open_run(self.options.run, command):
                local.clear(entry.folder)

    def run(self, jobs: Sequence[Job], command: str) -> list[BaseException]:
        """Run them all and add each to its subject; returns faults of scenlint's own. LedgerError ends the run."""
        self.open(command)
        errors: list[BaseException] = []
        with self._machines(jobs):
            workers = self.workers or (self._cluster.slots if self._cluster else 1)
            for done in run_all(jobs, self._work, workers=workers, stop=self.stop):
                if isinstance(done.error, LedgerError):
                    self.stop.set()  # what cannot be recorded must not be run
                if done.error is not None:
                    errors.append(done.error)
        broken = next((e for e in errors if isinstance(e, LedgerError)), None)
        if broken is not None:
            raise broken
        return errors

    @contextmanager
    def _machines(self, jobs: Sequence[Job]) -> Iterator[None]:
        """While entered, there is what trials run on; nothing of theirs is left on it afterwards."""
        if self.options.cluster and jobs:
            self._cluster = Cluster(self.options.cluster, self.options.run, self.watcher.note)
            try:
                yield
            finally:
                if failed := self._cluster.close():
                    self.watcher.note(f"not removed on the cluster: {'; '.join(failed)}")
                self._cluster = None
            return
        in_containers = any(plan and needs_engine(plan) for plan in (job.plan or job.subject.plan for job in jobs))
        if in_containers:
            self._tidy()
        try:
            yield
        finally:
            if in_containers:
                self._tidy(self.options.run)

    def _work(self, job: Job) -> None:
        if job.wanted is not None and not job.wanted():
            self.left += 1
            self.watcher.left_out(job)
        elif job.partner is None:
            self._one(job)
        else:
            with ThreadPoolExecutor(1) as pool:
                other = pool.submit(self._one, job.partner)
                try:
                    self._one(job)
                finally:
                    other.result()

    def _one(self, job: Job) -> None:
        subject, plan = job.subject, job.plan or job.subject.plan
        assert plan is not None
        place, agent = subject.place, job.agent.name
        wanted = Wanted(place, plan.task, plan.format, agent, job.attempt, job.settings, job.experiment, job.suite)
        name, folder = self.ledger.begin(self.options.run, next(self._numbers), wanted)
        self.watcher.began(job, name)
        experiment = deepcopy(job.experiment)

        def on_phase(record: TrialRecord, phase: Phase) -> None:
            record.attempt, record.experiment, record.suite = job.attempt, experiment, job.suite
            self.ledger.phase(record, phase)
            self.watcher.phase(job, name, phase)

        run = self._cluster.run if self._cluster is not None else trial.run
        record = run(
            *(plan, job.agent, folder),
            options=self.options,
            on_phase=on_phase,
            stop=self.stop,
            trial=name,
        )
        record.attempt, record.experiment, record.suite = job.attempt, experiment, job.suite
        try:
            if job.conclude is not None:
                job.conclude(record, folder)
        finally:
            self.ledger.finish(record)
            subject.trials.append(Shown(record, folder, reused=False))
            self.watcher.ended(job, record)

    def _tidy(self, run: str | None = None) -> None:
        """Remove what runs that died left behind, or at the end what is left of this one."""
        with suppress(Fault):  # an engine that does not answer is reported by the trials
            gone = reap(connect(), run=run)
            if run is None and gone:
                self.watcher.note(f"removed what earlier runs left behind: {told(gone)}")


def told(gone: Reaped) -> str:
    """What was removed, in words."""
    kinds = {"container": gone.containers, "network": gone.networks, "volume": gone.volumes, "image": gone.images}
    parts = [count(len(names), kind) for kind, names in kinds.items() if names]
    parts += [f"not removed: {text}" for text in gone.failed]
    return ", ".join(parts) or "nothing"

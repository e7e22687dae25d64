"""Grades saved work again: what an agent left, restored into a fresh environment of its task as it stands now.

Nothing that is recorded is altered. A regrade is a trial of its own in the ledger, and a line of the run's chain that
says how its verdict stands to the first one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenlint.calibration.admission import MANIFEST
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.driver import Driver, Watcher
from scenlint.dynamic.gate import Gate, Job, settings_digest
from scenlint.grading.audit.artefacts import trial_data
from scenlint.grading.audit.chain import Chain, chain_of
from scenlint.grading.model import KIND, Run, Suite, SuiteError
from scenlint.grading.plan import Planned, prepare
from scenlint.harness.agents import Nop
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Entry, Ledger
from scenlint.harness.replay import Replay
from scenlint.harness.snapshot import Snapshot
from scenlint.lint.engine import crash
from scenlint.task.plan import NotRunnableError
from scenlint.task.record import Experiment, Status, TrialRecord

REGRADE = "regrade"  # kind of the experiment, and of the chain's line


@dataclass
class Request:
    """What is to be graded again. `scenario` is a key of the manifest, or a task's id; "" for all."""

    run: Run
    settings: Settings
    watcher: Watcher
    scenario: str = ""
    suite: Path | None = None  # where the manifest lies now; None: where it lay
    workers: int | None = None
    allow_unsafe: frozenset[str] = frozenset()
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Again:
    """One trial beside its regrade, or why there is none."""

    trial: str
    scenario: str
    before: TrialRecord
    after: TrialRecord | None = None
    why: str = ""  # why its work was not graded again
    edited: str = ""  # how the task differs from the one that was admitted

    @property
    def differs(self) -> bool:
        return self.after is not None and _verdict(self.after) != _verdict(self.before)

    @property
    def checks(self) -> list[str]:
        """The checks whose verdicts differ."""
        if self.after is None:
            return []
        first, second = ({c.id: c.passed for c in r.checks} for r in (self.before, self.after))
        return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values, without the records."""
        return {
            "trial": self.trial, "scenario": self.scenario, "by": self.after.id if self.after else "",
            "before": _told(self.before), "after": _told(self.after) if self.after else None,
            "differs": self.differs, "checks": self.checks, "edited": self.edited, "why": self.why,
        }  # fmt: skip


@dataclass
class Regraded:
    """What came of it."""

    trials: list[Again] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return (
            not self.crashes and bool(self.trials) and all(t.after and t.after.reward is not None for t in self.trials)
        )


def regrade(request: Request, ledger: Ledger) -> Regraded:
    """Grade every saved work of the run again. SuiteError or ChainError where that cannot begin."""
    options = Options(substitutes=request.settings.policy.substitutes, allow_unsafe=request.allow_unsafe)
    clerk, out = Clerk(request.watcher, ledger, chain_of(ledger, request.run.id)), Regraded()
    planned = {one.scenario.key: one for one in _scenarios(request, Gate(options, ledger), ledger)}
    jobs: list[Job] = []
    for entry in ledger.each(kind=KIND, name=request.run.id, finished=True):
        made = entry.record.experiment
        one = planned.get(made.target if made else "")
        if one is None:
            continue
        clerk.before[entry.id] = Again(entry.id, one.scenario.key, entry.record, edited=one.changed)
        job = _job(entry, one, request.run, options)
        if isinstance(job, Job):
            jobs.append(job)
        else:
            clerk.before[entry.id] = replace(clerk.before[entry.id], why=job)
    driver = Driver(ledger, options, clerk, request.workers or stage.default_workers(), request.stop)
    clerk.planned(jobs, 0)
    out.crashes = [crash("while a trial was run", e) for e in driver.run(jobs, f"regrade {request.run.id}")]
    for trial, first in clerk.before.items():
        out.trials.append(clerk.after.get(trial, replace(first, why=first.why or "interrupted")))
    return out


class Clerk:
    """A watcher that writes each regrade to the run's chain as it ends. Safe for the threads of the run."""

    def __init__(self, watcher: Watcher, ledger: Ledger, chain: Chain) -> None:
        self._watcher, self._ledger, self._chain = watcher, ledger, chain
        self.planned, self.began, self.phase = watcher.planned, watcher.began, watcher.phase
        self.left_out, self.note = watcher.left_out, watcher.note
        self.before: dict[str, Again] = {}
        self.after: dict[str, Again] = {}

    def ended(self, job: Job, record: TrialRecord) -> None:
        assert job.experiment is not None
        again = replace(self.before[job.experiment.target], after=record)
        data = trial_data(record, self._ledger.folder_of(record.id))
        self._chain.append(REGRADE, {**again.as_json(), **data})
        self.after[again.trial] = again
        self._watcher.ended(job, record)


def _scenarios(request: Request, gate: Gate, ledger: Ledger) -> list[Planned]:
    """The tasks as they stand now."""
    run, place = request.run, request.suite or ledger.folder.parent / request.run.manifest
    chosen = tuple(s for s in run.scenarios if request.scenario in ("", s.key, s.task))
    if not chosen:
        raise SuiteError(f"run {run.id} has no scenario `{request.scenario}`")
    file = place / MANIFEST if place.is_dir() else place
    if not file.is_file():
        raise SuiteError(f"the suite's manifest is not at `{file}`: name it by --suite")
    return prepare(Suite(file, chosen, run.regression), request.settings, gate, Nop())


def _job(entry: Entry, one: Planned, run: Run, options: Options) -> Job | str:
    """The trial that grades a saved work again, or why there is none."""
    if one.obstacle or one.subject is None:
        return one.obstacle
    snapshot = Snapshot.load(entry.folder)
    if snapshot is None:
        why = Snapshot.problem(entry.folder)
        return f"its work could not be kept: {why}" if why else "its work was not kept"
    agent = Replay(f"{REGRADE}:{entry.record.agent}", snapshot)
    try:
        agent.check(one.plan)
    except NotRunnableError as exc:
        return str(exc)
    did = "restored what the agent had left, and graded that again"
    experiment = Experiment(REGRADE, run.id, entry.id, expected="same", did=did)
    settings = settings_digest(one.plan, agent, options)
    first = _verdict(entry.record)

    def conclude(record: TrialRecord, _folder: Path) -> None:
        assert record.experiment is not None
        record.experiment.outcome = "same" if _verdict(record) == first else "differs"

    return Job(
        *(one.subject, agent, entry.attempt, settings), experiment=experiment, suite=run.suite, conclude=conclude
    )


def _verdict(record: TrialRecord) -> tuple[float | None, Status]:
    return record.reward, record.status


def _told(record: TrialRecord) -> dict[str, Any]:
    failure = record.failure_class.value if record.failure_class else ""
    return {"reward": record.reward, "status": record.status.value, "failure_class": failure}

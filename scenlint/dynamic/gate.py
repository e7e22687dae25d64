"""The gate before admission: which trials of a task are wanted, what stands in their way, which recorded ones serve."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

import scenlint
from scenlint.harness import backends, bubblewrap
from scenlint.harness.agents import Agent, Nop, OracleAgent
from scenlint.harness.engine import Options, connect
from scenlint.harness.environment import Fault
from scenlint.harness.ledger import Entry, Ledger
from scenlint.task.model import Task
from scenlint.task.plan import NotRunnableError, RunPlan, Where
from scenlint.task.record import AS_IT_IS, Experiment, FailureClass, TrialRecord
from scenlint.task.trials import obstacle

AGENTS: tuple[Agent, ...] = (OracleAgent(), Nop())
_RERUN = ("brief", "environment", "oracle")


class Action(StrEnum):
    """What an edit means for a recorded trial."""

    REUSE = "reuse"
    REGRADE = "regrade"  # the work stands, its grading does not
    RERUN = "rerun"


@dataclass(frozen=True)
class Shown:
    """A trial that counts for the task as it stands: run just now, or recorded before and reused."""

    record: TrialRecord
    folder: Path
    reused: bool


@dataclass
class Subject:
    """A task that is to be run: how, or why it cannot be; and where it lies, which tells tasks of one name apart."""

    task: Task
    place: str
    plan: RunPlan | None = None
    obstacle: str = ""
    refused: dict[str, str] = field(default_factory=dict)  # agent -> why it has nothing to do with such a task
    trials: list[Shown] = field(default_factory=list)


@dataclass(frozen=True)
class Job:
    """One trial to run, and why it is run although one is recorded ("" where none is)."""

    subject: Subject
    agent: Agent
    attempt: int
    settings: str
    why: str = ""
    plan: RunPlan | None = None  # instead of the subject's
    experiment: Experiment | None = None  # what the trial does beside an ordinary one
    suite: str = ""  # version of the suite that it is a trial of
    conclude: Callable[[TrialRecord, Path], None] | None = None  # fills in what came of the experiment
    wanted: Callable[[], bool] | None = None  # asked when its turn comes; False: it is left out
    partner: Job | None = None  # is run at the same time


class Gate:
    """Decides for one run, under its options and with its ledger."""

    def __init__(self, options: Options, ledger: Ledger, *, engine: bool = True) -> None:
        self.options, self.ledger = options, ledger
        self._missing: dict[str, str] = {}
        if not engine:
            self._missing["engine"] = "it needs an engine, and none is used (--no-engine)"

    def prepare(self, task: Task, place: str, make: Callable[[Task], RunPlan]) -> Subject:
        """The task with its plan, or with what stands in the way of running it here at all."""
        subject = Subject(task, place)
        try:
            subject.plan = plan = make(task)
            backends.check(plan, self.options)
        except (NotRunnableError, Fault) as exc:
            subject.obstacle = str(exc)
            return subject
        if self.options.cluster:
            return subject  # what this machine has does not matter
        needs = ["engine"] if needs_engine(plan) else ["sandbox"]
        needs += ["sandbox" for step in plan.steps if step.verify.where is Where.LOCAL]
        subject.obstacle = next((problem for need in needs if (problem := self._lacks(need))), "")
        return subject

    def _lacks(self, need: str) -> str:
        """Why this machine has no engine or sandbox; looked for once, as a thousand tasks may want it."""
        if need not in self._missing:
            try:
                connect() if need == "engine" else bubblewrap.identity()
                self._missing[need] = ""
            except (NotRunnableError, Fault) as exc:
                self._missing[need] = str(exc)
        return self._missing[need]

    def jobs(self, subject: Subject, agents: Sequence[Agent], trials: int, *, resume: bool = True) -> list[Job]:
        """The trials that are still to be run; recorded ones that serve are added to the subject."""
        out: list[Job] = []
        if subject.plan is None or subject.obstacle:
            return out
        for agent in agents:
            try:
                agent.check(subject.plan)
            except NotRunnableError as exc:
                subject.refused[agent.name] = str(exc)
                continue
            settings = settings_digest(subject.plan, agent, self.options)
            recorded = self.ledger.entries(place=subject.place, agent=agent.name) if resume else []
            for attempt in range(1, trials + 1):
                entries = [e for e in reversed(recorded) if e.attempt == attempt]
                decided = [(e, *decide(e, subject.plan, settings)) for e in entries]
                serving = next((e for e, action, _ in decided if action is Action.REUSE), None)
                if serving is not None:
                    subject.trials.append(Shown(serving.record, serving.folder, reused=True))
                else:
                    why = decided[0][2] if decided else ""
                    out.append(Job(subject, agent, attempt, settings, why))
        return out


def needs_engine(plan: RunPlan) -> bool:
    """Whether the task's environment is made of containers."""
    return plan.container is not None or plan.compose is not None or bool(plan.apps)


def decide(entry: Entry, plan: RunPlan, settings: str) -> tuple[Action, str]:
    """Whether a recorded trial still serves, and in words why not (or what was edited without effect)."""
    record = entry.record
    if not entry.finished or (obstacle(record) and not _settled(record)):
        return Action.RERUN, "the recorded trial did not come to its end"
    if entry.settings != settings:
        return Action.RERUN, "the settings or scenlint itself changed"
    if not plan.digests or not record.digests:
        return Action.RERUN, "it is not known what the recorded trial was run on"
    changed = edited(record, plan)
    if decisive := [part for part in changed if part in _RERUN]:
        return Action.RERUN, f"rerun: {' and '.join(decisive)} edited"
    if "verifier" in changed:
        # No workspace is kept, so the work is done once more.
        return Action.REGRADE, "regrade: verifier edited"
    return Action.REUSE, f"reuse: only {' and '.join(changed)} edited" if changed else ""


def edited(record: TrialRecord, plan: RunPlan) -> list[str]:
    """The parts of the task that are no longer what a trial was run on, as far as the trial has to do with them."""
    changed = [part for part, digest in plan.digests if record.digests.get(part) != digest]
    made = record.experiment
    if record.agent != "oracle" and (made is None or made.kind in AS_IT_IS) and "oracle" in changed:
        changed.remove("oracle")  # nobody else ever sees it, but experiments, which are made of its work
    return changed


def stands(record: TrialRecord, plan: RunPlan) -> bool:
    """Whether a trial is one of the task as it stands; an edit of metadata alone changes nothing about it."""
    return bool(plan.digests and record.digests) and set(edited(record, plan)) <= {"metadata"}


def _settled(record: TrialRecord) -> bool:
    """Whether it is known that an experiment cannot be made on such a task, here and on the next occasion."""
    return record.experiment is not None and record.failure_class is FailureClass.CONFIGURATION


def settings_digest(plan: RunPlan, agent: Agent, options: Options) -> str:
    """One digest for what decides about a trial beside the task."""
    decisive = {
        "scenlint": scenlint.__version__,
        "agent": repr(agent),
        "substitutes": sorted(options.substitutes.items()),
        "limits": asdict(options.limits),
        "allowed": sorted(set(plan.unsafe) & options.allow_unsafe),
        "build network": options.build_network,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

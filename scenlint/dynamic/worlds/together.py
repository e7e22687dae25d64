"""Two trials of one task at the same time: each must have its own world."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned, conclude
from scenlint.harness.agents import Agent, OracleAgent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.scene import Scene
from scenlint.task.plan import RunPlan, Step
from scenlint.task.record import Experiment, PhaseName, TrialRecord

NAME = "two-at-once"
_PATIENCE = 300.0  # seconds that one of two trials waits for the other


@dataclass(frozen=True)
class Meeting:
    """An agent that begins only when the other trial's begins, and ends only when that has ended."""

    agent: Agent
    name: str
    barrier: threading.Barrier = field(repr=False)

    def check(self, plan: RunPlan) -> None:
        self.agent.check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        self._meet()
        try:
            return self.agent.act(step, environment, scene)
        finally:
            self._meet()

    def _meet(self) -> None:
        try:
            self.barrier.wait(_PATIENCE)
        except threading.BrokenBarrierError:  # the other one failed to start: then this one goes on alone
            self.barrier.abort()


def two(about: Context) -> Planned:
    """Two oracles, each in an environment of its own, at the same time."""
    barrier = threading.Barrier(2)
    pair: list[TrialRecord] = []

    def judge(record: TrialRecord, folder: Path, about: Context) -> None:
        pair.append(record)
        conclude(record, folder, about)
        if len(pair) == 2:
            _overlapping(*pair)
        else:
            barrier.abort()  # whoever ends first keeps nobody waiting

    def one(attempt: int) -> Planned:
        did = "ran two trials of the reference solution at the same time, each in an environment of its own"
        experiment = Experiment("world", NAME, expected="same", did=did)
        agent = Meeting(OracleAgent(), f"world:{NAME}", barrier)
        return Planned(experiment, agent, judge=judge, attempt=attempt)

    first, second = one(1), one(2)
    return Planned(first.experiment, first.agent, judge=judge, partner=second)


def _overlapping(one: TrialRecord, other: TrialRecord) -> None:
    """Two trials that were not at work at the same time show nothing."""
    spans = [_span(record) for record in (one, other)]
    if all(spans) and max(s[0] for s in spans if s) < min(s[1] for s in spans if s):
        return
    for record in (one, other):
        experiment = record.experiment
        if experiment is not None and experiment.outcome == "same":
            experiment.outcome, experiment.reason = "skipped", "the two trials did not overlap in time"


def _span(record: TrialRecord) -> tuple[datetime, datetime] | None:
    """From the agent's beginning to the end of the grading."""
    times = [
        (began, began + timedelta(seconds=p.duration))
        for p in record.phases
        if p.name in (PhaseName.AGENT, PhaseName.VERIFY) and (began := _moment(p.started))
    ]
    return (min(t[0] for t in times), max(t[1] for t in times)) if times else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

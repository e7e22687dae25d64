"""Experiments of the deep stage: each is an ordinary trial by a special agent, with what it did and what is expected.

A maker plans them (`Maker`), the deep stage runs them through the same driver and ledger as every trial, and a judge
fills in `experiment.outcome` and `experiment.evidence` of the record. Rules then look at the records only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from scenlint.harness.snapshot import Snapshot
from scenlint.task import trials
from scenlint.task.record import Experiment, PhaseName, ProbeOutcome, TrialRecord

if TYPE_CHECKING:
    from scenlint.dynamic.gate import Shown, Subject
    from scenlint.harness.agents import Agent
    from scenlint.harness.engine import Options
    from scenlint.task.plan import RunPlan

DEFAULT_BUDGET = 100  # experiments of one task
DEFAULT_REPEATS = 5  # times that a frozen workspace is graded


@dataclass(frozen=True)
class Wishes:
    """What the user asks of the deep stage."""

    budget: int = DEFAULT_BUDGET  # experiments of one task, all kinds together
    seconds: float | None = None  # or so much time for one task: none is started after it
    seed: int = 0
    probes: frozenset[str] = frozenset()  # only these experiments, by name or kind; empty: all
    skip: frozenset[str] = frozenset()
    repeats: int = DEFAULT_REPEATS
    first_look: bool = False  # only what a plain `validate` tries

    def wants(self, experiment: Experiment) -> bool:
        """Whether it is selected, by its kind ("probe"), its name ("empty-output") or both ("probe:empty-output")."""
        names = {experiment.kind, experiment.name, f"{experiment.kind}:{experiment.name}"}
        return not names & self.skip and (not self.probes or bool(names & self.probes))


@dataclass
class Context:
    """What a maker is given: the task with its plan, its gate's trials, and the snapshot of the oracle's work."""

    subject: Subject  # .task, .plan (never None here), .place
    oracle: Shown  # reward 1.0, passed; .record, .folder
    nop: Shown | None
    snapshot: Snapshot | None  # None where it could not be taken or restored: then `no_replay` says why
    wishes: Wishes
    options: Options
    no_replay: str = ""  # why replays of the snapshot show nothing ("" if a replay scored as the oracle did)
    proven: bool = True  # False: no oracle earned 1.0, `oracle` is the trial of nop, and only probes are run

    @property
    def plan(self) -> RunPlan:
        assert self.subject.plan is not None
        return self.subject.plan

    def random(self, *parts: object) -> random.Random:
        """A generator that gives the same for the same seed, task and parts, on every machine."""
        return random.Random("|".join(map(str, (self.wishes.seed, self.plan.task, *parts))))


Judge = Callable[[TrialRecord, Path, Context], None]


@dataclass(frozen=True)
class Planned:
    """One experiment that is to be run: an agent in the task's plan, or in a changed one.

    The agent's name is `<kind>:<name>` (mutants: `mutant:<operator>#<n>`) and its repr the same for the same work, on
    every run: with the experiment it decides whether a recorded trial still serves. No agent: it is not run, and
    `experiment.reason` says why (outcome "skipped").
    """

    experiment: Experiment
    agent: Agent | None
    plan: RunPlan | None = None  # None: the task's own
    judge: Judge | None = None  # None: `conclude`
    attempt: int = 1
    partner: Planned | None = None  # is run at the same time

    @property
    def name(self) -> str:
        return self.agent.name if self.agent else f"{self.experiment.kind}:{self.experiment.name}"


class Maker(Protocol):
    """Plans the experiments of one kind, the most telling first: a small budget runs only the first ones."""

    def __call__(self, about: Context) -> Iterable[Planned]: ...


def skipped(kind: str, name: str, reason: str, *, target: str = "") -> Planned:
    """An experiment that cannot be made here, which is never counted as passed."""
    return Planned(Experiment(kind, name, target, outcome="skipped", reason=reason), None)


def settled(kind: str, name: str, outcome: str, reason: str) -> Planned:
    """An experiment whose outcome is known without a trial."""
    return Planned(Experiment(kind, name, outcome=outcome, reason=reason), None)


def conclude(record: TrialRecord, folder: Path, about: Context) -> None:
    """Fill in outcome and evidence by the reward alone: what holds for most experiments."""
    experiment = record.experiment
    assert experiment is not None
    if why := trials.obstacle(record):
        experiment.outcome, experiment.reason = "skipped", why
        return
    experiment.evidence = experiment.evidence or said(record)
    match experiment.kind:
        case "probe":
            experiment.outcome = attacked(record, about)
        case "mutant":
            counted = record.harness is not None and record.harness.passed  # a pass with less than full marks too
            if record.reward is None and not counted:
                experiment.outcome, experiment.reason = "skipped", f"no verdict: {record.failure_evidence}"
            else:
                experiment.outcome = "survived" if record.reward == 1.0 or counted else "killed"
        case _ if not_begun(record) and experiment.name != "two-at-once":
            experiment.outcome, experiment.reason = "skipped", record.failure_evidence
        case _:
            experiment.outcome = "same" if same(record, about.oracle.record) else "differs"


def not_begun(record: TrialRecord) -> bool:
    """Whether a trial ended before anybody acted in it: its environment did not start."""
    return record.reward is None and not any(p.name == PhaseName.AGENT for p in record.phases)


def attacked(record: TrialRecord, about: Context) -> ProbeOutcome:
    """How the verifier stood an attack: what counts is a score above what doing nothing earns."""
    free = about.nop.record.reward if about.nop is not None else 0.0
    harness = record.harness.reward if record.harness else None
    if 1.0 in (record.reward, harness) or (record.reward or 0.0) > (free or 0.0):
        return ProbeOutcome.BROKEN
    if record.reward is None and about.nop is not None and free is not None:
        return ProbeOutcome.LAUNDERED
    return ProbeOutcome.HOLDS


def same(one: TrialRecord, other: TrialRecord) -> bool:
    """Whether two trials got the same reward, and every check the same verdict."""
    return one.reward == other.reward and passed(one) == passed(other)


def passed(record: TrialRecord) -> dict[tuple[str, str], bool | None]:
    return {(c.step, c.id): c.passed for c in record.checks}


def said(record: TrialRecord) -> str:
    """What the verifier said, in a line: its verdict, and the words that tell most."""
    reward = "no verdict" if record.reward is None else f"reward {record.reward:g}"
    return reward + trials.quote(record)


def not_run(planned: Planned, about: Context) -> TrialRecord:
    """The record of an experiment that was not run: no phases, no verdict, only the reason."""
    from scenlint.task.record import FailureClass

    experiment = replace(planned.experiment, outcome=planned.experiment.outcome or "skipped")
    return TrialRecord(
        id="",
        task=about.plan.task,
        format=about.plan.format,
        agent=planned.name,
        failure_class=FailureClass.CONFIGURATION,
        failure_evidence=experiment.reason,
        experiment=experiment,
    )

"""The test before shipping: the deciding rule is written into the brief, and the task must stay hard.

"If the scenario becomes easy, the difficulty was fake and the scenario goes back for rework" (handbook, reason 4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scenlint.calibration.classes import rule_on
from scenlint.calibration.run import KIND, Request, attempts_of, latest, prepared
from scenlint.dynamic.driver import Driver
from scenlint.dynamic.gate import Job
from scenlint.dynamic.stage import default_workers
from scenlint.harness.ledger import Entry
from scenlint.lint.engine import crash
from scenlint.stats.compare import boschloo
from scenlint.stats.intervals import Interval, newcombe
from scenlint.stats.twostage import TWO, Count, judge
from scenlint.task.plan import RunPlan
from scenlint.task.record import Experiment, TrialRecord

STAGE = "stated"
LEVEL = 0.05


@dataclass(frozen=True)
class Ablation:
    """Stage two's trials beside as many whose brief states the rule."""

    task: str
    agent: str
    silent: Count
    stated: Count
    p: float  # Boschloo, one-sided: fewer failures once the rule is stated
    drop: float  # of the failure rate
    interval: Interval
    trials: tuple[str, ...]  # ids of the stated ones
    crashes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.silent.complete and self.stated.complete

    @property
    def fake(self) -> bool:
        """Whether the difficulty was that the rule was not stated."""
        return self.complete and self.p <= LEVEL and self.stated.failures < TWO.failures


def with_rule(plan: RunPlan, rule: str) -> RunPlan:
    """The plan whose every brief ends with the rule."""
    steps = tuple(replace(step, brief=f"{step.brief.rstrip()}\n\n{rule.strip()}\n") for step in plan.steps)
    return replace(plan, steps=steps)


def state_rule(request: Request, rule: str) -> Ablation:
    """Run stage two's trials once more with the rule in the brief; those on record with the same rule serve."""
    with prepared(request) as (subject, ledger, settings, options):
        assert subject.plan is not None
        mark = hashlib.sha256(rule.strip().encode()).hexdigest()[:12]
        driver = Driver(ledger, options, request.watcher, request.workers or default_workers(), request.stop)
        crashes: list[str] = []
        while True:
            entries = attempts_of(ledger, subject, request.agent.name)
            silent = _count([e.record for e in latest([e for e in entries if _is(e, "two")])])
            stated = [e.record for e in entries if _is(e, STAGE) and e.record.experiment.did == mark]  # type: ignore[union-attr]
            count = _count(stated)
            missing = min(count.missing, TWO.attempts - len(stated))
            if missing <= 0 or request.stop.is_set() or crashes:
                return _compared(subject.task.id, request.agent.name, silent, count, stated, crashes)
            plan = with_rule(subject.plan, rule)
            jobs = [
                Job(
                    subject, request.agent, 1000 + len(stated) + n, settings, plan=plan,
                    experiment=Experiment(KIND, STAGE, did=mark),
                )
                for n in range(missing)
            ]  # fmt: skip
            request.watcher.planned(jobs, len(stated))
            crashes += [crash("while a trial was run", e) for e in driver.run(jobs, "calibrate --state-rule")]


def _is(entry: Entry, stage: str) -> bool:
    return entry.record.experiment is not None and entry.record.experiment.name == stage


def _count(records: Sequence[TrialRecord]) -> Count:
    return judge(TWO, [r.outcome for r in rule_on(records)])


def _compared(
    task: str, agent: str, silent: Count, stated: Count, records: Sequence[TrialRecord], crashes: Sequence[str]
) -> Ablation:
    before, after = silent.failures + silent.passes, stated.failures + stated.passes
    p = boschloo(silent.failures, before, stated.failures, after, "greater")
    drop = (silent.failures / before if before else 0.0) - (stated.failures / after if after else 0.0)
    interval = newcombe(silent.failures, before, stated.failures, after)
    return Ablation(task, agent, silent, stated, p, drop, interval, tuple(r.id for r in records), tuple(crashes))

"""The test before shipping: the deciding rule is written into the brief, and the task must stay hard."""

from __future__ import annotations

from dataclasses import dataclass

from scenlint.calibration.known import known
from scenlint.calibration.run import Request, prepared
from scenlint.calibration.stated_brief import build, keep
from scenlint.dynamic.driver import Driver
from scenlint.dynamic.gate import Job, Subject
from scenlint.dynamic.stage import default_workers
from scenlint.lint.engine import crash
from scenlint.rulings.ablation import Ablation, ablation
from scenlint.rulings.calibrations import KIND, STATED
from scenlint.stats.twostage import TWO
from scenlint.task.record import Experiment, TrialRecord

_FIRST = 1001  # attempt, so that these stand apart from those of the stages


@dataclass(frozen=True)
class Stated:
    """What came of it."""

    subject: Subject
    found: Ablation
    records: tuple[TrialRecord, ...]  # all trials of the task as it stands
    crashes: tuple[str, ...] = ()


def state_rule(request: Request, rule: str) -> Stated:
    """Run stage two's trials once more with the rule in the brief; those on record with the same text serve.

    NothingStatedError where the rule would change nothing.
    """
    with prepared(request) as (subject, ledger, settings, options):
        assert subject.plan is not None
        brief = build(subject.plan, rule)
        keep(brief, ledger.folder)
        plan, made = brief.plan(subject.plan), Experiment(KIND, STATED, did=brief.digest)
        driver = Driver(ledger, options, request.watcher, request.workers or default_workers(options), request.stop)
        crashes: list[str] = []
        while True:
            records = known(ledger, subject)
            found = ablation(records, request.agent.name, brief.digest)
            launched = len(found.trials)
            missing = min(found.stated.missing, TWO.attempts - launched)
            if missing <= 0 or request.stop.is_set() or crashes:
                return Stated(subject, found, tuple(records), tuple(crashes))
            jobs = [
                Job(subject, request.agent, _FIRST + launched + n, settings, plan=plan, experiment=made)
                for n in range(missing)
            ]
            request.watcher.planned(jobs, launched)
            crashes += [crash("while a trial was run", e) for e in driver.run(jobs, "calibrate --state-rule")]

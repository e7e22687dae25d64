"""Runs a calibration of one task with one agent: the gate in front, then trials stage by stage until it is decided."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import scenlint
from scenlint.calibration.known import known
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.driver import Driver, Watcher
from scenlint.dynamic.gate import Gate, Job, Subject, settings_digest
from scenlint.harness.agents import Agent
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger
from scenlint.lint import run as lint
from scenlint.lint.engine import Engine, crash
from scenlint.report.model import Report
from scenlint.rulings.calibrations import KIND, ONE, TWO, attempts, controls, decision_of, latest, number_of
from scenlint.rulings.decision import Decided, Decision, wanted
from scenlint.rulings.misalignment import doubt
from scenlint.stats import twostage
from scenlint.task.finding import Finding, Severity
from scenlint.task.record import Experiment, Status, TrialRecord

_LOG = 200_000  # characters of an agent's log that are read


class RefusedError(Exception):
    """A calibration that is not made; the text says why and what to do."""


@dataclass
class Request:
    """What is to be calibrated, with whom and how."""

    path: Path
    settings: Settings
    agent: Agent
    watcher: Watcher
    ledger: Path | None = None
    workers: int | None = None
    allow_unsafe: frozenset[str] = frozenset()
    curtail: bool = False
    force: bool = False  # although the gate is not clean, or a calibration of this digest has been decided already
    stop: threading.Event = field(default_factory=threading.Event)
    cluster: str = ""  # address of a scheduler whose workers run the trials


@dataclass
class Calibration:
    """What came of it."""

    subject: Subject
    agent: str
    number: int  # which calibration of this digest with this agent it is, from 1
    decision: Decision
    gate: list[Finding]  # what stood against it at the gate, if it was forced
    forced: str = ""  # what was overruled by --force; every trial's record says so too
    records: list[TrialRecord] = field(default_factory=list)  # all trials of the task as it stands
    trials: list[TrialRecord] = field(default_factory=list)  # those of this calibration, in launch order
    interrupted: bool = False
    crashes: list[str] = field(default_factory=list)

    @property
    def controls(self) -> list[TrialRecord]:
        return controls(self.records)

    @property
    def digest(self) -> str:
        """That of the task as it stands."""
        return next((r.task_digest for r in (*self.trials, *self.controls) if r.task_digest), "")


def calibrate(request: Request) -> Calibration:
    """Run what is missing, decide, and return it; RefusedError where there is nothing to be decided."""
    against, why = _gate(request)
    with prepared(request) as (subject, ledger, decisive, options):
        agent = request.agent.name
        number = _number(request, ledger, subject, decisive)
        forced = "; ".join([why] * bool(why) + ["decided before, and made again"] * (number > 1))
        workers = request.workers or stage.default_workers(options)
        driver = Driver(ledger, options, request.watcher, workers, request.stop)
        out = Calibration(subject, agent, number, decision_of([], [], curtail=request.curtail), against, forced)
        while True:
            out.records = known(ledger, subject)
            out.trials = [r for r in attempts(out.records, agent) if number_of(r) == number]
            out.decision = decision_of(out.trials, out.records, curtail=request.curtail)
            launched = [sum(bool(r.experiment and r.experiment.name == s) for r in out.trials) for s in (ONE, TWO)]
            name, missing = wanted(out.decision, *launched)
            if not missing or request.stop.is_set() or out.crashes:
                out.interrupted = request.stop.is_set() and not out.decision.final
                return out
            first = len(out.trials) + 1
            made = Experiment(KIND, name, str(number), reason=f"forced: {forced}" if forced else "")
            asked = (lambda: not _settled(ledger, subject, agent, number)) if request.curtail else None
            jobs = [
                Job(subject, request.agent, first + n, decisive, experiment=made, conclude=weighed, wanted=asked)
                for n in range(missing)
            ]
            before = [r for r in out.trials if r.id.rpartition("-")[0] != options.run]
            request.watcher.planned(jobs, len(before))
            out.crashes += [crash("while a trial was run", e) for e in driver.run(jobs, "calibrate")]


def _settled(ledger: Ledger, subject: Subject, agent: str, number: int) -> bool:
    """Whether the trials that have ended by now settle a calibration, whatever the others come to."""
    records = known(ledger, subject)
    own = [r for r in attempts(records, agent) if number_of(r) == number]
    return decision_of(own, records, curtail=True).final


def weighed(record: TrialRecord, folder: Path) -> None:
    """Keep with a trial the line of the agent's log in which it weighs two readings of the brief."""
    if record.experiment is None:
        return
    for log in sorted([*folder.glob("agent.log"), *folder.glob("steps/*/agent.log")]):
        try:
            with log.open(encoding="utf-8", errors="replace") as file:
                record.experiment.evidence = record.experiment.evidence or doubt(file.read(_LOG))
        except OSError:
            continue


@contextmanager
def prepared(request: Request) -> Iterator[tuple[Subject, Ledger, str, Options]]:
    """The task with its plan, the open ledger, the digest of what else decides, and the harness's options."""
    substitutes = request.settings.policy.substitutes
    options = Options(substitutes=substitutes, allow_unsafe=request.allow_unsafe, cluster=request.cluster)
    ledger = Ledger(stage.ledger_folder(request.ledger))
    try:
        _, subject = stage.single(request.path, request.settings, Gate(options, ledger))
        if subject.obstacle or subject.plan is None:
            raise RefusedError(f"`{subject.task.id}` cannot be run here: {subject.obstacle}")
        request.agent.check(subject.plan)
        yield subject, ledger, settings_digest(subject.plan, request.agent, options), options
    finally:
        ledger.close()


# ---------------------------------------------------------------- the gate in front


def _gate(request: Request) -> tuple[list[Finding], str]:
    """What static stage, oracle and nop say against the task as it stands: findings, and all of it in words."""
    static = lint.check([request.path], request.settings)
    dynamic = stage.validate(
        stage.Request(
            [request.path], request.settings, request.watcher, workers=request.workers, ledger=request.ledger,
            allow_unsafe=request.allow_unsafe, stop=request.stop,
        )
    )  # fmt: skip
    if request.stop.is_set():
        raise RefusedError("interrupted before the calibration began")
    against = [f for report in (static, dynamic) for f in report.findings if f.severity is Severity.ERROR]
    missing = _missing(dynamic, [line.record for line in dynamic.trials or [] if line.record.experiment is None])
    if (against or missing) and not request.force:
        told = "".join(f"  {f.rule}: {f.message}\n" for f in against[:10])
        more = f"  and {len(against) - 10} more\n" if len(against) > 10 else ""
        raise RefusedError(
            f"the gate is not clean{': ' + missing if missing else ''}\n{told}{more}"
            "Put it right first (`scenlint check`, `scenlint validate`), or use --force, which is recorded"
        )
    names = dict.fromkeys(f.rule for f in against)
    return against, "; ".join(filter(None, (missing, ", ".join(names))))


def _missing(dynamic: Report, run: Sequence[TrialRecord]) -> str:
    """Why the gate's two trials do not clear the task; "" if they do."""
    if not run:
        return "; ".join(dynamic.skipped) or "no trial of oracle and nop could be run"
    oracle = [c for c in run if c.agent == "oracle"]
    if not oracle or any(c.status is not Status.PASSED for c in oracle):
        return "the oracle does not earn 1.0"
    nop = [c for c in run if c.agent == "nop"]
    return "" if nop and all(c.reward is not None and c.reward < 1.0 for c in nop) else "nop is not below 1.0"


def _number(request: Request, ledger: Ledger, subject: Subject, decisive: str) -> int:
    """The calibration to go on with; a decided one is not made again unless that is forced, which is on record."""
    records = known(ledger, subject)
    own = latest(attempts(records, request.agent.name))
    if not own:
        return 1
    last = number_of(own[-1])
    decision = decision_of(own, records, curtail=request.curtail)
    if decision.decided is Decided.OPEN:
        ids = {r.id for r in own}
        of_agent = ledger.rows(place=subject.place, agent=request.agent.name, kind=KIND, finished=True)
        if all(row.settings == decisive for row in of_agent if row.id in ids):
            return last
        if not request.force:
            raise RefusedError(
                f"`{request.agent.name}` is not what it was when this calibration began (its command, what is allowed, "
                "or scenlint itself changed): give it another name, or begin once more with --force"
            )
        return last + 1
    if decision.decided is Decided.STOPPED or request.force:
        return last + 1
    raise RefusedError(
        f"this digest was calibrated with `{request.agent.name}` already: {decision.decided} ({decision.reason}). "
        f"Calibrating until it passes admits what does not discriminate; --force does it once more, on record "
        f"(calibration {last + 1}; stage two wants {twostage.TWO.failures} genuine failures of "
        f"{twostage.TWO.trials} each time)"
    )


def judged(subject: Subject, records: Sequence[TrialRecord], settings: Settings, *, pages: bool = False) -> Report:
    """What the rules about calibrations find in a task's trials; `pages`: with the rules' pages."""
    engine = Engine(settings)
    outcome = engine.judge_trials(subject.task, records, calibration=True)
    report = Report(version=scenlint.__version__, root=Path.cwd(), tasks=1)
    lint.gather(report, [outcome])
    report.findings = sorted(outcome.findings, key=lambda f: f.sort_key)
    report.rules = [lint.rule_card(r, pages) for r in engine.calibration_rules]
    return report

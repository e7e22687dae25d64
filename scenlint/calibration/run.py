"""Runs a calibration of one task with one agent: the gate in front, then trials stage by stage until it is decided."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scenlint.calibration.classes import Ruling, rule_on
from scenlint.calibration.decision import Decided, Decision, decide, wanted
from scenlint.calibration.misalignment import Signal, signals
from scenlint.calibration.triage import Disposition, applied, confirmed
from scenlint.calibration.triage import Verdict as Looked
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.driver import Driver, Watcher
from scenlint.dynamic.gate import Gate, Job, Subject, settings_digest
from scenlint.harness.agents import Agent
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Entry, Ledger
from scenlint.lint import run as lint
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.engine import crash
from scenlint.report.model import Report
from scenlint.stats.twostage import TWO
from scenlint.task.finding import Finding, Severity
from scenlint.task.record import Experiment, FailureClass, Status, TrialRecord

KIND = "calibration"


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


@dataclass
class Calibration:
    """What came of it."""

    subject: Subject
    agent: str
    number: int  # which calibration of this digest with this agent it is, from 1
    decision: Decision
    gate: list[Finding]  # what stood against it at the gate, if it was forced
    controls: list[TrialRecord]
    entries: list[Entry] = field(default_factory=list)
    interrupted: bool = False
    crashes: list[str] = field(default_factory=list)

    @property
    def forced(self) -> bool:
        return bool(self.gate) or self.number > 1


def calibrate(request: Request) -> Calibration:
    """Run what is missing, decide, and return it; RefusedError where there is nothing to be decided."""
    gate_findings, controls = _gate(request)
    with prepared(request) as (subject, ledger, decisive, options):
        history = [e for e in attempts_of(ledger, subject, request.agent.name) if _of(e)]
        number = _number(request, history, controls, confirmed(ledger.folder))
        driver = Driver(ledger, options, request.watcher, request.workers or stage.default_workers(), request.stop)
        out = Calibration(
            subject,
            request.agent.name,
            number,
            decision_of([], [], (), curtail=request.curtail),
            gate_findings,
            controls,
        )
        while True:
            found = attempts_of(ledger, subject, request.agent.name)
            out.entries = [e for e in found if number and _of(e) == number]
            out.decision = decision_of(out.entries, controls, confirmed(ledger.folder), curtail=request.curtail)
            name, missing = wanted(out.decision, *(len(_stage(out.entries, s)) for s in ("one", "two")))
            if not missing or request.stop.is_set():
                out.interrupted = request.stop.is_set() and not out.decision.final
                return out
            first = len(out.entries) + 1
            jobs = [
                Job(subject, request.agent, first + n, decisive, experiment=Experiment(KIND, name, str(number)))
                for n in range(missing)
            ]
            request.watcher.planned(jobs, len(out.entries))
            out.crashes += [crash("while a trial was run", e) for e in driver.run(jobs, "calibrate")]
            if out.crashes:
                return out


@contextmanager
def prepared(request: Request) -> Iterator[tuple[Subject, Ledger, str, Options]]:
    """The task with its plan, the open ledger, the digest of what else decides, and the harness's options."""
    options = Options(substitutes=request.settings.policy.substitutes, allow_unsafe=request.allow_unsafe)
    ledger = Ledger(stage.ledger_folder(request.ledger))
    try:
        subject = _subject(request, Gate(options, ledger), ledger)
        assert subject.plan is not None
        yield subject, ledger, settings_digest(subject.plan, request.agent, options), options
    finally:
        ledger.close()


def signs(done: Calibration, request: Request) -> list[Signal]:
    """What speaks for misalignment, from these trials, those of other agents, and the deep stage's."""
    ledger = Ledger(stage.ledger_folder(request.ledger))
    try:
        own = {e.id for e in done.entries}
        others = [e.record for e in ledger.entries(place=done.subject.place, finished=True) if e.id not in own]
        said = confirmed(ledger.folder)
    finally:
        ledger.close()
    digest = next((e.record.task_digest for e in done.entries), "")
    if any(d.about == digest and d.verdict is Looked.ALIGNED for d in said):
        return []  # a person has looked
    others = [r for r in others if r.task_digest == digest]
    logs = [e.folder / "agent.log" for e in done.entries]
    return signals(done.subject.task, done.decision.rulings, others, logs)


# ---------------------------------------------------------------- the gate in front


def _gate(request: Request) -> tuple[list[Finding], list[TrialRecord]]:
    """What static stage, oracle and nop say against the task as it stands, and the trials of the two."""
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
    controls = [line.record for line in dynamic.trials or [] if line.record.experiment is None]
    missing = _missing(dynamic, controls)
    if (against or missing) and not request.force:
        told = "".join(f"  {f.rule}: {f.message}\n" for f in against[:10])
        raise RefusedError(
            f"the gate is not clean{': ' + missing if missing else ''}\n{told}"
            "Put it right first (`scenlint check`, `scenlint validate`), or use --force, which is recorded"
        )
    return against, controls


def _missing(dynamic: Report, controls: Sequence[TrialRecord]) -> str:
    """Why the gate's two trials do not clear the task; "" if they do."""
    if not controls:
        return "; ".join(dynamic.skipped) or "no trial of oracle and nop could be run"
    oracle = [c for c in controls if c.agent == "oracle"]
    if not oracle or any(c.status is not Status.PASSED for c in oracle):
        return "the oracle does not earn 1.0"
    nop = [c for c in controls if c.agent == "nop"]
    return "" if nop and all(c.reward is not None and c.reward < 1.0 for c in nop) else "nop is not below 1.0"


def _subject(request: Request, gate: Gate, ledger: Ledger) -> Subject:
    refs = Finder(request.settings).discover([request.path]).refs
    if len(refs) != 1:
        raise RefusedError(f"`{request.path}` holds {len(refs) or 'no'} tasks; a calibration is of one")
    form = format_named(refs[0].format)
    task = form.load(refs[0], request.settings.policy)
    subject = gate.prepare(task, stage.place_of(refs[0], ledger.folder), form.plan)
    if subject.obstacle or subject.plan is None:
        raise RefusedError(subject.obstacle)
    request.agent.check(subject.plan)
    return subject


# ---------------------------------------------------------------- trials on record


def attempts_of(ledger: Ledger, subject: Subject, agent: str) -> list[Entry]:
    """All calibration trials of the task as it stands, in launch order; interrupted ones never were attempts."""
    assert subject.plan is not None
    digests = dict(subject.plan.digests)
    out = []
    for entry in ledger.entries(place=subject.place, agent=agent, finished=True):
        made = entry.record.experiment
        same = all(entry.record.digests.get(k) == v for k, v in digests.items() if k not in ("metadata", "oracle"))
        if made and made.kind == KIND and same and entry.record.failure_class is not FailureClass.INTERRUPTED:
            out.append(entry)
    return sorted(out, key=lambda e: (_of(e), e.attempt))


def latest(entries: Sequence[Entry]) -> list[Entry]:
    """The attempts of the last calibration among some."""
    last = max((_of(e) for e in entries), default=0)
    return [e for e in entries if _of(e) == last]


def _of(entry: Entry) -> int:
    """The number of the calibration that a trial belongs to."""
    made = entry.record.experiment
    return int(made.target) if made and made.target.isdigit() else 0


def _stage(entries: Sequence[Entry], name: str) -> list[TrialRecord]:
    return [e.record for e in entries if e.record.experiment and e.record.experiment.name == name]


def decision_of(
    entries: Sequence[Entry], controls: Sequence[TrialRecord], said: Sequence[Disposition], *, curtail: bool
) -> Decision:
    """What one calibration's attempts come to, with what people have said of them and of the task."""
    rulings = {r.record.id: r for r in rulings_of(entries, controls, said)}
    stages = [[rulings[record.id] for record in _stage(entries, name)] for name in ("one", "two")]
    blocked = next((d.reason for d in said if d.voids and any(d.about == e.record.task_digest for e in entries)), "")
    return decide(*stages, blocked=blocked, curtail=curtail)


def rulings_of(
    entries: Sequence[Entry], controls: Sequence[TrialRecord], said: Sequence[Disposition] = ()
) -> list[Ruling]:
    """A ruling on each trial in launch order; what a person has decided about a trial goes before the table."""
    return applied(rule_on([e.record for e in entries], controls), said)


def _number(
    request: Request, history: Sequence[Entry], controls: Sequence[TrialRecord], said: Sequence[Disposition]
) -> int:
    """The calibration to go on with; a decided one is not made again unless that is forced, which is on record."""
    if not history:
        return 1
    last = _of(latest(history)[0])
    decision = decision_of(latest(history), controls, said, curtail=request.curtail)
    undecided = (Decided.OPEN, Decided.STOPPED)
    if decision.decided in undecided:
        return last + (decision.decided is Decided.STOPPED)
    if not request.force:
        raise RefusedError(
            f"this digest was calibrated with `{request.agent.name}` already: {decision.decided} ({decision.reason}). "
            f"Calibrating until it passes admits what does not discriminate; --force does it once more, on record "
            f"(calibration {last + 1}; stage two wants {TWO.failures} genuine failures of {TWO.trials} each time)"
        )
    return last + 1

"""The dynamic stage: finds the tasks, has their trials run, judges the records, and gathers one Report."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import scenlint
from scenlint.config import Settings
from scenlint.dynamic import first_look
from scenlint.dynamic.deep import Stage
from scenlint.dynamic.driver import Driver, Watcher
from scenlint.dynamic.experiments import Wishes
from scenlint.dynamic.gate import AGENTS, Gate, Subject
from scenlint.dynamic.place import ledger_folder as ledger_folder
from scenlint.formats.base import TaskRef
from scenlint.harness.agents import Agent
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.engine import Engine, Outcome, crash
from scenlint.lint.run import gather, once, rule_card
from scenlint.report.model import Report, TrialLine
from scenlint.task.plan import NotRunnableError
from scenlint.task.record import FailureClass


@dataclass
class Request:
    """What is to be run, and how."""

    paths: Sequence[Path]
    settings: Settings
    watcher: Watcher
    agents: Sequence[Agent] = AGENTS
    trials: int = 1
    workers: int | None = None
    ledger: Path | None = None
    allow_unsafe: frozenset[str] = frozenset()
    resume: bool = True
    command: str = "validate"
    pages: bool = False
    deep: Wishes | None = None  # experiments as well: those of the deep stage, or a first look only
    engine: bool = True  # False: no container engine is used, whether there is one or not
    stop: threading.Event = field(default_factory=threading.Event)
    cluster: str = ""  # address of a scheduler whose workers run the trials


@dataclass
class Run:
    """What came of a request: the tasks with their trials, and what was said on the way."""

    subjects: list[Subject]
    messages: list[str] = field(default_factory=list)  # paths that are no task
    missing: list[str] = field(default_factory=list)  # paths that do not exist
    crashes: list[str] = field(default_factory=list)  # faults of scenlint itself
    unfinished: int = 0  # trials that an interruption kept from being run to their end
    notes: list[str] = field(default_factory=list)  # of the deep stage: what was left out, and why


def run(request: Request) -> Run:
    """Have the trials run, or reuse those recorded; each subject then has its own."""
    settings = request.settings
    found = Finder(settings).discover(request.paths)
    out = Run([], messages=found.messages, missing=found.missing)
    substitutes = settings.policy.substitutes
    options = Options(substitutes=substitutes, allow_unsafe=request.allow_unsafe, cluster=request.cluster)
    folder = ledger_folder(request.ledger)
    ledger = Ledger(folder)
    try:
        gate = Gate(options, ledger, engine=request.engine)
        jobs = []
        for ref in found.refs:
            try:
                form = format_named(ref.format)
                task = form.load(ref, settings.policy)
                subject = gate.prepare(task, place_of(ref, folder), form.plan)
                jobs += gate.jobs(subject, request.agents, request.trials, resume=request.resume)
                out.subjects.append(subject)
            except Exception as exc:
                out.crashes.append(crash(f"while {ref.folder.name} was prepared", exc))
        request.watcher.planned(jobs, sum(len(s.trials) for s in out.subjects))
        driver = Driver(ledger, options, request.watcher, request.workers or default_workers(options), request.stop)
        if jobs:
            out.crashes += [crash("while a trial was run", e) for e in driver.run(jobs, request.command)]
        if request.stop.is_set():
            ended = [t.record for s in out.subjects for t in s.trials if not t.reused]
            out.unfinished = len(jobs) - sum(r.failure_class is not FailureClass.INTERRUPTED for r in ended)
        order = [agent.name for agent in request.agents]
        for subject in out.subjects:
            subject.trials.sort(key=lambda t: (order.index(t.record.agent), t.record.attempt))
        if request.deep is not None:
            deep = Stage(driver, request.deep, request.resume).run(out.subjects)
            out.notes += deep.messages
            out.crashes += deep.crashes
            out.unfinished += deep.unfinished
    finally:
        ledger.close()
    return out


def single(path: Path, settings: Settings, gate: Gate) -> tuple[TaskRef, Subject]:
    """The one task behind a path, prepared; NotRunnableError where there is none, or more than one."""
    refs = Finder(settings).discover([path]).refs
    if len(refs) != 1:
        raise NotRunnableError(f"`{path}` holds {len(refs) or 'no'} tasks; name one")
    form = format_named(refs[0].format)
    task = form.load(refs[0], settings.policy)
    return refs[0], gate.prepare(task, place_of(refs[0], gate.ledger.folder), form.plan)


def at(place: str, settings: Settings, gate: Gate) -> Subject | None:
    """The task that lies at a place of the ledger, prepared; None where there is none any more."""
    folder = gate.ledger.folder
    path = folder.parent / place
    if not path.exists() and "#" in place:
        path = folder.parent / place.rpartition("#")[0]
    refs = Finder(settings).discover([path]).refs if path.exists() else []
    ref = next((r for r in refs if place_of(r, folder) == place), None)
    if ref is None:
        return None
    form = format_named(ref.format)
    return gate.prepare(form.load(ref, settings.policy), place, form.plan)


def validate(request: Request) -> Report:
    """Run oracle and nop on every task and judge what the trials show."""
    began = time.monotonic()
    engine = Engine(request.settings)
    looks = request.deep is not None and request.deep.first_look
    if looks and first_look.RULES.isdisjoint(r.name for r in engine.trial_rules):
        request = replace(request, deep=None)
    done = run(request)
    report = Report(version=scenlint.__version__, root=Path.cwd(), skipped=done.messages, missing=done.missing)
    outcomes: list[Outcome] = []
    for subject in done.subjects:
        records = [shown.record for shown in subject.trials]
        deep = request.deep is not None and not looks
        outcomes.append(engine.judge_trials(subject.task, records, subject.obstacle, deep=deep))
        if looks:  # of the experiments that there might be, it makes few
            rules = {r.name for r in engine.trial_rules if not r.deep}
            outcomes[-1].not_assessed = [n for n in outcomes[-1].not_assessed if n.rule in rules]
        if subject.obstacle:
            report.skipped.append(f"{subject.task.id}: not run: {subject.obstacle}")
        report.trials = [*(report.trials or []), *lines(subject)]
    gather(report, outcomes)
    report.skipped += done.notes
    if not engine.trial_rules:
        calibration = "calibrations: `scenlint calibrate` runs them"
        tasks = "tasks, not trials: `scenlint check` runs them"
        report.skipped.append(f"the selected rules judge {calibration if engine.calibration_rules else tasks}")
    report.crashes += done.crashes
    report.tasks, report.trials = len(done.subjects), report.trials or []
    report.unfinished = done.unfinished
    report.findings = sorted(once([f for o in outcomes for f in o.findings]), key=lambda f: f.sort_key)
    report.rules = [rule_card(r, request.pages) for r in engine.trial_rules]
    report.elapsed = time.monotonic() - began
    return report


def lines(subject: Subject) -> list[TrialLine]:
    """A subject's trials as a report has them."""
    return [TrialLine(shown.record, shown.folder, shown.reused) for shown in subject.trials]


def default_workers(options: Options | None = None) -> int:
    """Trials at once: half of the cores, as a trial that has to share one may run out of time; 0: a cluster's slots."""
    if options is not None and options.cluster:
        return 0
    return max(1, (os.cpu_count() or 1) // 2)


def place_of(ref: TaskRef, folder: Path) -> str:
    """Where a task lies, seen from the ledger, so that both may move together."""
    return os.path.relpath(ref.folder, folder.absolute().parent) + (f"#{ref.key}" if ref.key else "")

"""Makes a run: trials until every scenario has as many graded ones as are wanted, each into ledger and audit record.

An interrupted run goes on where it was: what counts is what the ledger holds of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import scenlint
from scenlint.calibration.triage import confirmed
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.driver import Driver, Watcher
from scenlint.dynamic.gate import Gate, Job, settings_digest
from scenlint.grading.audit.chain import Chain, path_of
from scenlint.grading.model import KIND, Run, Suite
from scenlint.grading.plan import Plan, Planned, expect, prepare
from scenlint.grading.runs import RunError, find, records_of, unfinished
from scenlint.grading.scribe import Scribe, catch_up
from scenlint.grading.summary import Summary, light, rulings_of, summarise
from scenlint.harness.agents import Agent
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger
from scenlint.harness.outcome import budget
from scenlint.harness.replay import Recorder
from scenlint.lint.engine import crash
from scenlint.task.record import FailureClass, TrialRecord

HINT = "put it right (`scenlint admit` enters a task as it now stands), or use --force, which is recorded"


class RefusedError(Exception):
    """A run that is not made; each line of the text says why and what to do."""


@dataclass
class Request:
    """What is to be graded, with whom and how."""

    suite: Suite
    settings: Settings
    agent: Agent
    trials: int  # graded ones wanted of each scenario
    watcher: Watcher
    ledger: Path | None = None
    workers: int | None = None
    allow_unsafe: frozenset[str] = frozenset()
    force: bool = False  # although tasks are not as they were admitted, or cannot be run; it is recorded
    run: str = ""  # the run to go on with; "": the last one of the same kind, if it has not ended
    fresh: bool = False  # begin another run, whatever there is
    reruns: int | None = None  # of excluded trials of a scenario; None: as many as trials are wanted
    max_cost: float | None = None  # USD of the whole run, after which no further trial starts
    keep: bool = True  # what the agent's work changed, so that it can be graded again
    stop: threading.Event = field(default_factory=threading.Event)
    cluster: str = ""  # address of a scheduler whose workers run the trials


@dataclass
class Graded:
    """What came of it."""

    run: Run
    summary: Summary
    before: int = 0  # trials that it had already
    stopped: tuple[str, ...] = ()  # why trials are missing
    interrupted: bool = False
    crashes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def outline(request: Request) -> tuple[Plan, Run, bool]:
    """What would be run, for which run, and whether that run was begun already. Nothing is run or recorded."""
    with _opened(request) as (ledger, options):
        planned, run, begun = _planned(request, ledger, options)
        _miss(planned, run, [light(r) for r in records_of(ledger, run)], request, ledger)
        expect(planned, ledger, run.agent)
        return Plan(tuple(planned), request.workers or stage.default_workers()), run, begun


def grade(request: Request) -> Graded:
    """Run what is missing and sum it up; RefusedError where the suite is not the one that was admitted."""
    with _opened(request) as (ledger, options):
        planned, run, begun = _planned(request, ledger, options)
        problems = [f"{p.scenario.task}: {p.problem}" for p in planned if p.problem]
        if problems and not request.force:
            raise RefusedError("\n".join([*problems, HINT]))
        if all(p.obstacle for p in planned):
            raise RefusedError("\n".join([*problems, "no scenario can be run"]))
        with _alone(ledger.folder, run.id):
            path = path_of(ledger.folder, run.id)
            chain = Chain.open(path, ledger) if begun else Chain.create(path, run.to_json(), ledger)
            return _Grading(request, ledger, options, run, planned, chain).go()


class _Grading:
    def __init__(
        self, request: Request, ledger: Ledger, options: Options, run: Run, planned: list[Planned], chain: Chain
    ) -> None:
        self.request, self.ledger, self.options, self.run = request, ledger, options, run
        self.planned, self.chain = planned, chain
        agent = request.agent
        self.agent = Recorder(agent, agent.name) if request.keep else agent

    def go(self) -> Graded:
        request, ledger = self.request, self.ledger
        scribe = Scribe(request.watcher, ledger, self.chain, self.run, request.stop, request.max_cost)
        driver = Driver(
            ledger, self.options, scribe, request.workers or stage.default_workers(self.options), request.stop
        )
        driver.open(f"grade {self.run.id}")
        catch_up(self.chain, ledger, self.run)
        out = Graded(self.run, summarise(self.run, ()), ledger.count(kind=KIND, name=self.run.id, finished=True))
        out.notes = [f"{p.scenario.task}: {p.note}" for p in self.planned if p.note]
        while True:
            records = [light(r) for r in records_of(ledger, self.run)]
            own = [r for r in records if self.run.owns(r)]
            why = _miss(self.planned, self.run, records, request, ledger, self.options.run)
            scribe.spent_before(own)
            jobs = self._jobs(own, scribe.goes_on)
            if not jobs or request.stop.is_set() or scribe.full or out.crashes or scribe.halted:
                break
            scribe.planned(jobs, len(own))
            out.crashes += [crash("while a trial was run", e) for e in driver.run(jobs, "grade")]
        out.summary = summarise(self.run, records, confirmed(ledger.folder))
        out.stopped = tuple(filter(None, [*why, scribe.halted, scribe.full]))
        out.interrupted = request.stop.is_set() and bool(jobs)
        settled = not jobs and not scribe.halted and not any(p.halt for p in self.planned)
        if settled and (not self.chain.ended or len(own) > out.before):
            self.chain.end(_totals(out.summary))
        return out

    def _jobs(self, own: Sequence[TrialRecord], goes_on: Callable[[], bool]) -> list[Job]:
        """The trials that are missing; first one of each scenario, then the next, so that all come on alike."""
        jobs = []
        for one in self.planned:
            if not one.missing or one.subject is None:
                continue
            taken = [r.attempt for r in own if r.experiment and r.experiment.target == one.scenario.key]
            settings = settings_digest(one.plan, self.request.agent, self.options)
            for number in range(one.missing):
                attempt = max(taken, default=0) + 1 + number
                made = self.run.experiment(one.scenario)
                why = "instead of one that was excluded" if attempt > self.run.trials else ""
                job = Job(
                    *(one.subject, self.agent, attempt, settings, why),
                    experiment=made, suite=self.run.suite, wanted=goes_on,
                )  # fmt: skip
                jobs.append((number, job))
        return [job for _, job in sorted(jobs, key=lambda pair: pair[0])]


def _planned(request: Request, ledger: Ledger, options: Options) -> tuple[list[Planned], Run, bool]:
    """The scenarios as they stand, the run that the request means, and whether it was begun already."""
    gate = Gate(options, ledger)
    planned = prepare(request.suite, request.settings, gate, request.agent, confirmed(ledger.folder))
    now = datetime.now(UTC)
    new = Run(
        id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        suite=request.suite.version,
        scenarios=request.suite.scenarios,
        agent=request.agent.name,
        trials=request.trials,
        regression=request.suite.regression,
        manifest=os.path.relpath(request.suite.path, ledger.folder.parent),
        agent_digest="sha256:" + hashlib.sha256(repr(request.agent).encode()).hexdigest(),
        model=str(getattr(request.agent, "model", "") or ""),
        started=now.isoformat(timespec="milliseconds"),
        scenlint=scenlint.__version__,
        budgets={p.scenario.key: budget(p.plan) for p in planned if p.subject and p.subject.plan},
        forced=tuple(f"{p.scenario.task}: {p.problem}" for p in planned if p.problem) if request.force else (),
    )
    if not request.run:
        known = None if request.fresh else unfinished(ledger.folder, new)
        return planned, known or new, known is not None
    known = find(ledger.folder, request.run)
    if (known.suite, known.regression) != (new.suite, new.regression):
        raise RunError(f"run {known.id} is of another version of the suite ({known.suite[:19]}, here {new.suite[:19]})")
    if (known.agent, known.agent_digest) != (new.agent, new.agent_digest):
        raise RunError(f"run {known.id} was begun with `{known.agent}` as it was configured then: begin another run")
    return planned, known, True


def _miss(
    planned: Sequence[Planned],
    run: Run,
    records: Sequence[TrialRecord],
    request: Request,
    ledger: Ledger,
    session: str = "",
) -> list[str]:
    """Fill in how many trials each scenario still wants; why some are not run although they are missing.

    What stopped a scenario in another session than this one may have been put right since.
    """
    own: dict[str, list[TrialRecord]] = {}
    controls: dict[str, list[TrialRecord]] = {}
    for record in records:
        if run.owns(record) and record.experiment:
            own.setdefault(record.experiment.target, []).append(record)
        else:
            controls.setdefault(record.task_digest, []).append(record)
    said, why = confirmed(ledger.folder), []
    for one in planned:
        rulings = rulings_of(own.get(one.scenario.key, []), controls, said)
        lacking = max(0, run.trials - sum(r.graded is not None for r in rulings))
        made = sum(r.failure_class is not FailureClass.INTERRUPTED for r in rulings)
        cap = run.trials + (run.trials if request.reruns is None else request.reruns)
        stop = next((r for r in rulings if r.stops and session and r.record.id.startswith(session)), None)
        one.halt = f"{stop.person}: {stop.evidence}" if stop and lacking else ""
        one.missing = 0 if stop or one.obstacle else min(lacking, max(0, cap - made))
        if lacking and one.obstacle:
            why.append(f"{one.scenario.task}: not run: {one.obstacle}")
        elif one.halt:
            why.append(f"{one.scenario.task}: {one.halt}")
        elif lacking > one.missing:
            why.append(f"{one.scenario.task}: {lacking - one.missing} trials are missing after {made} attempts")
    return why


def _totals(summary: Summary) -> dict[str, object]:
    return {
        "complete": summary.complete,
        "trials": sum(r.trials for r in summary.results),
        "passes": sum(r.passes for r in summary.results),
        "excluded": sum(r.excluded for r in summary.results),
        "missing": sum(r.missing for r in summary.results),
        "cost_usd": summary.spent,
    }


@contextmanager
def _opened(request: Request) -> Iterator[tuple[Ledger, Options]]:
    options = Options(
        substitutes=request.settings.policy.substitutes, allow_unsafe=request.allow_unsafe, cluster=request.cluster
    )
    ledger = Ledger(stage.ledger_folder(request.ledger))
    try:
        yield ledger, options
    finally:
        ledger.close()


@contextmanager
def _alone(folder: Path, run: str) -> Iterator[None]:
    """No other process is at this run; RunError if one is."""
    place = path_of(folder, run).with_suffix(".lock")
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"run {run} goes on in another process; --fresh begins another one") from None
        yield
        place.unlink(missing_ok=True)

"""The deep stage: experiments on every task whose oracle earned 1.0; orders, budgets and resumes them."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from scenlint.dynamic import dead, experiments, first_look
from scenlint.dynamic.driver import Driver
from scenlint.dynamic.experiments import Context, Maker, Planned, Wishes
from scenlint.dynamic.frozen import no_replay, snapshot_of, verdict
from scenlint.dynamic.gate import Action, Job, Shown, Subject, decide, settings_digest
from scenlint.dynamic.probes import without_control
from scenlint.dynamic.worlds.again import AGAIN, REGRADED, oracle_again, regraded
from scenlint.lint.engine import crash
from scenlint.stats.words import count
from scenlint.task import trials, worlds
from scenlint.task.record import FailureClass, Status, TrialRecord

# In the order in which a budget is dealt out, one of each kind at a time.
MAKERS = {
    "probe": "scenlint.dynamic.probes:plan",
    "world": "scenlint.dynamic.worlds:plan",
    "mutant": "scenlint.dynamic.mutants.maker:plan",
}
KINDS = {**MAKERS, "environment": ""}.keys()


@dataclass
class Deep:
    """What came of it beside the trials: per task what could not be assessed or was left out, and internal faults."""

    messages: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    unfinished: int = 0  # trials that an interruption kept from being run to their end


@dataclass
class Stage:
    """The deep stage of one run."""

    driver: Driver
    wishes: Wishes
    resume: bool = True
    out: Deep = field(default_factory=Deep)
    spent: dict[str, float] = field(default_factory=dict)  # place -> seconds of its experiments
    made: dict[str, int] = field(default_factory=dict)  # place -> number of its experiments
    met: set[str] = field(default_factory=lambda: {AGAIN, REGRADED})  # names of the experiments that there are

    def run(self, subjects: Sequence[Subject]) -> Deep:
        """All experiments of all tasks: first the snapshot and its replay, on which the others stand, then the rest."""
        if self.wishes.probes == {"environment"}:  # these stand on nothing else
            self._lifeless_ones(subjects)
            return self.out
        if self.wishes.first_look:
            subjects = [s for s in subjects if s.plan is not None and first_look.looks_at(s.plan)]
        grounds = [ground for subject in subjects if (ground := self._ground(subject)) is not None]
        self._first((about, oracle_again()) for about in grounds if self._is_remembered(about))
        for about in grounds:
            about.snapshot, about.no_replay = snapshot_of(about)
        self._first((a, regraded(a.snapshot, 1)) for a in grounds if a.snapshot is not None)
        failed = [a for a in grounds if a.snapshot is not None and not a.no_replay and no_replay(a)]
        self._first((a, regraded(a.snapshot, 2)) for a in failed if a.snapshot is not None)  # or was it by chance?
        for about in grounds:
            about.no_replay = about.no_replay or no_replay(about)
            self._set_aside(about)
        # Full marks for no work show a fault whatever the oracle earns; that an attack fails shows nothing then.
        grounds += [bare for subject in subjects if (bare := self._unproven(subject)) is not None]
        self._all([(about, planned) for about in grounds for planned in self._planned(about)])
        if not self.wishes.first_look:
            self._lifeless_ones(subjects)
        for about in grounds:
            self._heed_control(about)
            for shown, why in without_control(about.subject.trials):
                self._skip(shown, why)
            about.subject.trials.sort(key=_order)
        strangers = self.wishes.probes - KINDS - self.met
        if strangers and any(about.proven for about in grounds):
            named = ", ".join(f"`{name}`" for name in sorted(strangers))
            self.out.messages.append(f"no experiment {named} with these tasks; kinds are {', '.join(KINDS)}")
        return self.out

    def _is_remembered(self, about: Context) -> bool:
        """Whether what the oracle changes is to be found out."""
        return not self.wishes.first_look or first_look.remembers(about.oracle.record)

    def _first(self, wanted: Iterable[tuple[Context, Planned]]) -> None:
        """What the others stand on: it counts too."""
        affordable = [(about, planned) for about, planned in wanted if self._left(about) > 0]
        for about, _ in affordable:
            self.made[about.subject.place] = self.made.get(about.subject.place, 0) + 1
        self._all(affordable)

    def _left(self, about: Context) -> int:
        """How many experiments of a task the budget still allows."""
        return self.wishes.budget - self.made.get(about.subject.place, 0)

    def _lifeless_ones(self, subjects: Sequence[Subject]) -> None:
        lifeless = [bare for subject in subjects if (bare := self._lifeless(subject)) is not None]
        self._all([(a, made) for a in lifeless for made in dead.plan(a) if self._wants(made)])

    def _wants(self, planned: Planned) -> bool:
        """Whether it is selected; its name is remembered, so that names which select nothing can be told."""
        made = planned.experiment
        self.met |= {made.name, f"{made.kind}:{made.name}"}
        return self.wishes.wants(made)

    def _heed_control(self, about: Context) -> None:
        """Where the means by which clocks are moved disturbs the task by itself, no moved clock shows anything."""
        made = {t.record.experiment.name: t for t in about.subject.trials if t.record.experiment}
        control = made.get(worlds.CONTROL)
        if control is None or not control.record.experiment or control.record.experiment.outcome != "differs":
            return
        why = f"the library that moves clocks disturbs this task even where it moves none{trials.quote(control.record)}"
        for name in (worlds.CONTROL, *worlds.CLOCKS):
            if (shown := made.get(name)) is not None:
                self._skip(shown, why)

    def _skip(self, shown: Shown, why: str) -> None:
        """What a trial was taken for turned out to be nothing."""
        assert shown.record.experiment is not None
        shown.record.experiment.outcome, shown.record.experiment.reason = "skipped", why
        if not shown.reused and shown.record.id:
            self.driver.ledger.finish(shown.record)

    def _set_aside(self, about: Context) -> None:
        """Gradings of a snapshot that does not stand for the oracle's work are no evidence against the verifier."""
        for shown in about.subject.trials:
            experiment = shown.record.experiment
            if about.no_replay and experiment is not None and experiment.name == REGRADED:
                self._skip(shown, about.no_replay)

    def _ground(self, subject: Subject) -> Context | None:
        """The task as experiments find it, if its gate was passed."""
        if subject.plan is None or subject.obstacle or self.driver.stop.is_set():
            return None
        oracle = next((t for t in subject.trials if t.record.agent == "oracle"), None)
        nop = next((t for t in subject.trials if t.record.agent == "nop" and t.record.reward is not None), None)
        if oracle is None or oracle.record.status is not Status.PASSED:
            why = f"it got {verdict(oracle.record)}" if oracle else subject.refused.get("oracle", "there is none")
            first = "the oracle must earn 1.0 first"
            if not self.wishes.first_look:
                self.out.messages.append(f"{subject.task.id}: no mutants and no worlds: {first}, and {why}")
            return None
        return Context(subject, oracle, nop, None, self.wishes, self.driver.options)

    def _unproven(self, subject: Subject) -> Context | None:
        """The task as attacks find it where no oracle earned 1.0 and doing nothing gets a verdict."""
        if subject.plan is None or subject.obstacle or self.driver.stop.is_set():
            return None
        nop = next((t for t in subject.trials if t.record.agent == "nop" and t.record.status is Status.FAILED), None)
        oracles = [t for t in subject.trials if t.record.agent == "oracle"]
        if nop is None or any(t.record.status is Status.PASSED for t in oracles):
            return None
        why = "no oracle earned 1.0"
        return Context(subject, nop, nop, None, self.wishes, self.driver.options, no_replay=why, proven=False)

    def _lifeless(self, subject: Subject) -> Context | None:
        """A task with applications, as a verifier finds it where none of them runs: that needs no engine, no oracle."""
        if subject.plan is None or not subject.plan.apps or self.driver.stop.is_set():
            return None
        nobody = Shown(TrialRecord("", subject.plan.task, subject.plan.format, "oracle"), Path(), reused=False)
        return Context(subject, nobody, None, None, self.wishes, self.driver.options, proven=False)

    def _planned(self, about: Context) -> Iterator[Planned]:
        """What the makers want, as far as it is selected and the budget goes."""
        kinds: dict[str, list[Planned]] = {}
        only = self.wishes.probes
        for kind, module in MAKERS.items():
            if (not about.proven and kind != "probe") or (kind == "world" and self.wishes.first_look):
                continue
            if kind in self.wishes.skip or (only and only <= MAKERS.keys() and kind not in only):
                continue
            wanted = kinds.setdefault(kind, [])
            try:
                for planned in _maker(module)(about):
                    if self._wants(planned):
                        wanted.append(planned)
            except Exception as exc:
                self.out.crashes.append(crash(f"while the {kind}s of {about.subject.task.id} were planned", exc))
            if self.wishes.first_look:
                kinds[kind] = first_look.chosen(kind, wanted)
        for planned in (p for wanted in kinds.values() for p in wanted if p.agent is None):
            about.subject.trials.append(Shown(experiments.not_run(planned, about), Path(), reused=False))
        queues = {kind: [p for p in wanted if p.agent is not None] for kind, wanted in kinds.items()}
        left = self._left(about)
        while left > 0 and any(queues.values()):
            for queue in queues.values():
                if queue and left > 0:
                    planned = queue.pop(0)
                    left -= 2 if planned.partner else 1
                    yield planned
        if over := {kind: len(queue) for kind, queue in queues.items() if queue}:
            self.out.messages.append(
                f"{about.subject.task.id}: {_counted(over)} left out by `--budget {self.wishes.budget}`"
            )

    def _all(self, wanted: Iterable[tuple[Context, Planned]]) -> None:
        """Run what no recorded trial serves for."""
        jobs, reused = [], 0
        for about, planned in wanted:
            job = self._job(about, planned)
            partner = self._job(about, planned.partner) if planned.partner else None
            found = [self._recorded(about, p, j) for p, j in ((planned, job), (planned.partner, partner)) if p and j]
            if all(found):
                about.subject.trials += [shown for shown in found if shown]
                reused += len(found)
            else:
                jobs.append(replace(job, partner=partner))
        if not jobs or self.driver.stop.is_set():
            return
        self.driver.watcher.planned(jobs, reused)
        late = self.driver.left
        errors = self.driver.run(jobs, "validate --deep")
        self.out.crashes += [crash("while an experiment was run", e) for e in errors]
        self.out.unfinished += sum(2 if job.partner else 1 for job in jobs) - self._ended(jobs)
        if late := self.driver.left - late:
            self.out.unfinished -= late
            if not self.wishes.first_look:
                left = _counted({"experiment": late})
                self.out.messages.append(f"{left} left out: the time of `--budget` was used up")

    def _ended(self, jobs: Sequence[Job]) -> int:
        """How many of some jobs' trials came to their end."""
        names = {(id(j.subject), j.agent.name, j.attempt) for job in jobs for j in (job, job.partner) if j}
        subjects = {id(job.subject): job.subject for job in jobs}.values()
        return sum(
            (id(s), t.record.agent, t.record.attempt) in names
            and not t.reused
            and t.record.failure_class is not FailureClass.INTERRUPTED
            for s in subjects
            for t in s.trials
        )

    def _job(self, about: Context, planned: Planned) -> Job:
        agent, plan = planned.agent, planned.plan or about.plan
        assert agent is not None
        place = about.subject.place

        def conclude(record: TrialRecord, folder: Path) -> None:
            self.spent[place] = self.spent.get(place, 0.0) + record.duration
            (planned.judge or experiments.conclude)(record, folder, about)

        nop = about.nop.record if about.nop else None
        limit = first_look.seconds(nop) if self.wishes.first_look else self.wishes.seconds

        def wanted() -> bool:
            return limit is None or self.spent.get(place, 0.0) < limit

        e = planned.experiment
        told = [settings_digest(plan, agent, self.driver.options), e.kind, e.name, e.target, e.expected, e.did]
        settings = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        return Job(
            *(about.subject, agent, planned.attempt, settings),
            plan=planned.plan,
            experiment=e,
            conclude=conclude,
            wanted=wanted,
        )

    def _recorded(self, about: Context, planned: Planned, job: Job) -> Shown | None:
        """A recorded trial that serves, judged anew."""
        if not self.resume:
            return None
        for entry in reversed(self.driver.ledger.entries(place=about.subject.place, agent=job.agent.name)):
            if entry.attempt == job.attempt and decide(entry, about.plan, job.settings)[0] is Action.REUSE:
                record = entry.record
                record.experiment = deepcopy(planned.experiment)
                (planned.judge or experiments.conclude)(record, entry.folder, about)
                return Shown(record, entry.folder, reused=True)
        return None


def _maker(name: str) -> Maker:
    module, _, function = name.partition(":")
    maker: Maker = getattr(importlib.import_module(module), function)
    return maker


def _counted(kinds: dict[str, int]) -> str:
    return ", ".join(count(n, kind) for kind, n in kinds.items())


_KINDS = ("probe", "mutant", "world", "environment")


def _order(shown: Shown) -> tuple[int, str, int]:
    """The gate's trials first, then the experiments by kind and name."""
    record = shown.record
    if record.experiment is None:
        return (-1, {"oracle": "0", "nop": "1"}.get(record.agent, record.agent), record.attempt)
    return (_KINDS.index(record.experiment.kind), record.agent, record.attempt)

"""Gathers what the HTML report shows: the static findings of tasks, and what a ledger knows of them; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import scenlint
from scenlint.calibration import admission
from scenlint.calibration.admission import MANIFEST
from scenlint.calibration.discrimination import Scenario as Discrimination
from scenlint.calibration.discrimination import scenarios
from scenlint.calibration.triage import confirmed
from scenlint.config import Settings
from scenlint.dynamic.gate import Gate
from scenlint.dynamic.stage import place_of
from scenlint.formats.base import TaskRef
from scenlint.grading.audit import chain_of
from scenlint.grading.diff import diff
from scenlint.grading.diff.sides import side
from scenlint.grading.dispositions import history, standing
from scenlint.grading.model import KIND, Run, Scenario, Suite, suite_of
from scenlint.grading.page.model import Book, TaskPart
from scenlint.grading.runs import find, records_of
from scenlint.grading.summary import Summary, summarise
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger
from scenlint.lint import run as lint
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.engine import Engine, crash
from scenlint.report.experiments import KINDS, Sum
from scenlint.report.model import Report, TrialLine
from scenlint.stats.words import count
from scenlint.task.finding import Finding
from scenlint.task.mapping.table import Table


@dataclass
class Request:
    """What is to be shown. Of `paths` each is a task, a folder of tasks, or a suite's manifest (or its folder)."""

    paths: Sequence[Path]
    settings: Settings
    ledger: Ledger | None = None
    run: str = ""  # a graded run, by its id or the beginning of it
    baseline: str = ""


def gather(request: Request) -> Book:
    """The book; RunError, SideError or SuiteError where a run, baseline or suite that was named is not there."""
    run = find(request.ledger.folder, request.run) if request.ledger and request.run else None
    scenarios, tasks = _named(request, run)
    book = Book(_title(request, run), scenlint.__version__, datetime.now(UTC).isoformat(timespec="seconds"))
    if run is not None and request.ledger:
        said = confirmed(request.ledger.folder)
        book.summary = summarise(run, records_of(request.ledger, run), said)
        if request.baseline:
            book.diff = diff(side(request.baseline, request.ledger, said).summary, book.summary)
            decisions = history(chain_of(request.ledger, run.id), book.diff.baseline.run.id)
            book.decisions = standing(book.diff, decisions)
    there = [p for p in tasks if p.exists()]
    static = lint.check(there, request.settings)
    book.notes += static.crashes
    if request.paths:  # a run's tasks may be gone, and get parts that say so
        book.notes += [f"`{p}` is not there" for p in tasks if not p.exists()]
    book.tasks = _Parts(request, static, run).made(there, _keyed(scenarios))
    _results(book, book.summary)
    return book


def _named(request: Request, run: Run | None) -> tuple[list[tuple[Path, Scenario]], list[Path]]:
    """The scenarios that are to be shown, each with the folder its key is relative to, and where all tasks lie."""
    scenarios, others = list[tuple[Path, Scenario]](), list[Path]()
    for path in request.paths:
        if suite := _suite(path):
            scenarios += [(suite.path.parent, s) for s in suite.scenarios]
        else:
            others.append(path)
    if run is not None and not request.paths and request.ledger:
        above = request.ledger.folder.parent
        scenarios = [((above / run.manifest).parent if run.manifest else above, s) for s in run.scenarios]
    return scenarios, [*(_place(base, s.key) for base, s in scenarios), *others]


def _suite(path: Path) -> Suite | None:
    file = path / MANIFEST if path.is_dir() else path
    return suite_of(file) if file.name == MANIFEST and file.is_file() else None


def _place(base: Path, key: str) -> Path:
    """Where a scenario lies; a task that shares its file or folder with others is named after a `#`."""
    place = base / key
    shared = base / key.rpartition("#")[0]
    return shared if "#" in key and not place.exists() and shared.exists() else place


def _keyed(scenarios: Sequence[tuple[Path, Scenario]]) -> list[tuple[Path, str]]:
    """Of scenarios that share a folder with others: the folder, and which of its tasks they are."""
    shared = ((_place(base, s.key), s.key) for base, s in scenarios if "#" in s.key)
    return [(place.resolve(), key.rpartition("#")[2]) for place, key in shared if "#" not in place.name]


def _title(request: Request, run: Run | None) -> str:
    if run is not None:
        return f"{run.agent} on {count(len(run.scenarios), 'scenario')}"
    return ", ".join(p.resolve().name if p.name != MANIFEST else p.resolve().parent.name for p in request.paths)


class _Parts:
    """Makes the part of each task."""

    def __init__(self, request: Request, static: Report, run: Run | None) -> None:
        self.request, self.static, self.run = request, static, run
        self.engine = Engine(request.settings)
        self.gate = (
            Gate(Options(substitutes=request.settings.policy.substitutes), request.ledger) if request.ledger else None
        )
        self.compared = self._discriminations()
        self.refs: list[TaskRef] = []

    def made(self, paths: Sequence[Path], only: Sequence[tuple[Path, str]]) -> list[TaskPart]:
        """The parts of the tasks behind some paths; of a folder that `only` names just the tasks that it names."""
        folders = {folder for folder, _ in only}
        refs = Finder(self.request.settings).discover(paths).refs
        self.refs = [r for r in refs if (at := r.folder.resolve()) not in folders or (at, r.key) in only]
        left = [format_named(r.format).load(r, self.request.settings.policy).id for r in refs if r not in self.refs]
        parts = [self._part(ref) for ref in self.refs]
        known = {*left, *(p.id for p in parts)}
        rest = [f for f in self.static.findings if f.task not in known]
        if rest:
            parts.append(TaskPart("shared by the tasks", "shared", report=self.static, findings=rest))
        return parts

    def _part(self, ref: TaskRef) -> TaskPart:
        place = self.static.path(ref.folder) + (f"#{ref.key}" if ref.key else "")
        part = TaskPart(ref.key or ref.folder.name, place, ref.format, report=self.static)
        try:
            form = format_named(ref.format)
            task = form.load(ref, self.request.settings.policy)
            part.id, part.table = task.id, Table(task)
            part.findings = [f for f in self.static.findings if f.task == task.id and self._own(f, ref)]
            part.not_assessed = [n for n in self.static.not_assessed if n.task == task.id]
            if self.gate is None or self.request.ledger is None:
                return part
            subject = self.gate.prepare(task, place_of(ref, self.request.ledger.folder), form.plan)
            if subject.plan is None:
                part.obstacle = subject.obstacle
                return part
            own = replace(self.static, findings=part.findings)
            page = admission.page(subject, own, self.request.ledger, self.engine)
            part.digest, part.image_digest, part.calibrations = page.digest, page.image_digest, page.calibrations
            part.points = [(p.name, p.met, p.text) for p in page.points]
            self._trials(part, subject.place)
            part.discrimination = self.compared.get((task.id, part.digest))
            records = [*part.trials, *(part.experiments.records if part.experiments else ())]
            judged = self.engine.judge_trials(task, records)
            part.findings += judged.findings if records else []
        except Exception as exc:  # one task never hides the others
            part.obstacle = crash(f"while the part of {part.id} was made", exc)
        return part

    def _own(self, found: Finding, ref: TaskRef) -> bool:
        """Whether a finding on a task of that name does not lie in another one's folder."""
        others = (other.folder for other in self.refs if other.folder != ref.folder)
        return not any(found.location.path.is_relative_to(folder) for folder in others)

    def _trials(self, part: TaskPart, place: str) -> None:
        assert self.request.ledger is not None
        experiments = Sum(part.id)
        for entry in self.request.ledger.entries(place=place, finished=True):
            record = entry.record
            if part.digest and record.task_digest not in ("", part.digest):
                continue
            made = record.experiment
            if made is not None and made.kind in KINDS:
                experiments.lines.append(TrialLine(record, entry.folder))
            elif made is None or made.kind != KIND or self.run is None or self.run.owns(record):
                part.trials.append(record)
        part.experiments = experiments if experiments.lines else None

    def _discriminations(self) -> dict[tuple[str, str], Discrimination]:
        """By task and digest."""
        if self.request.ledger is None:
            return {}
        records = (e.record for e in self.request.ledger.entries(finished=True))
        found = scenarios(records, said=confirmed(self.request.ledger.folder))
        return {(one.task, one.digest): one for one in found}


def _results(book: Book, summary: Summary | None) -> None:
    """Give each part its result in the run; a scenario whose task is not here gets a part of its own."""
    if summary is None:
        return
    for result in summary.results:
        part = next(_matching(book, result.scenario.key, result.scenario.task), None)
        if part is None:
            part = TaskPart(result.scenario.task, result.scenario.key, digest=result.scenario.task_digest)
            part.obstacle = "the task is not here, so only its results are shown"
            book.tasks.append(part)
        part.result = result


def _matching(book: Book, key: str, task: str) -> Iterator[TaskPart]:
    yield from (p for p in book.tasks if p.id == task and (p.place == key or p.place.endswith("/" + key)))
    yield from (p for p in book.tasks if p.id == task and p.result is None)

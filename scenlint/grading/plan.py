"""What a run would do: which tasks stand as they were admitted, and what their trials have cost and taken so far."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from scenlint.config import Settings
from scenlint.dynamic.gate import Gate, Subject
from scenlint.dynamic.stage import place_of
from scenlint.grading.model import Scenario, Suite
from scenlint.grading.summary import voided
from scenlint.harness.agents import Agent
from scenlint.harness.ledger import Ledger
from scenlint.harness.outcome import task_digest
from scenlint.lint.discover import Finder, format_named
from scenlint.task.plan import NotRunnableError, RunPlan
from scenlint.task.record import Disposition

_LAST = 50  # trials of a scenario from which the next ones' cost and time are expected


@dataclass(frozen=True)
class Expected:
    """What one more trial is expected to cost (USD) and to take (seconds); None: not known."""

    trials: int = 0  # on record, from which it is known
    cost: float | None = None
    seconds: float | None = None


@dataclass
class Planned:
    """A scenario that is to be run, or what stands in the way."""

    scenario: Scenario
    subject: Subject | None = None
    changed: str = ""  # why it is not the task that was admitted; --force grades it all the same
    obstacle: str = ""  # why it cannot be run here
    note: str = ""  # what was edited without effect
    missing: int = 0  # trials that are to be run
    halt: str = ""  # why no further trial makes sense until something is put right
    expected: Expected = field(default_factory=Expected)

    @property
    def problem(self) -> str:
        return self.obstacle or self.changed

    @property
    def plan(self) -> RunPlan:
        assert self.subject is not None
        assert self.subject.plan is not None
        return self.subject.plan


@dataclass(frozen=True)
class Plan:
    """All scenarios of a run, and how many trials run at once."""

    planned: tuple[Planned, ...]
    workers: int

    @property
    def trials(self) -> int:
        """Trials that are to be run."""
        return sum(p.missing for p in self.planned)

    @property
    def unknown(self) -> tuple[int, int]:
        """Of how many scenarios with trials to run neither cost nor time can be told: (cost, time)."""
        wanted = [p.expected for p in self.planned if p.missing]
        return sum(e.cost is None for e in wanted), sum(e.seconds is None for e in wanted)

    @property
    def cost(self) -> float | None:
        """USD of all trials of which it is known; None where it is of none."""
        known = [p.missing * p.expected.cost for p in self.planned if p.missing and p.expected.cost is not None]
        return math.fsum(known) if known else None

    @property
    def seconds(self) -> float | None:
        """Until the last trial has ended, with all workers busy; None where it is known of none."""
        known = [p.missing * p.expected.seconds for p in self.planned if p.missing and p.expected.seconds is not None]
        return math.fsum(known) / min(self.workers, max(self.trials, 1)) if known else None


def prepare(
    suite: Suite, settings: Settings, gate: Gate, agent: Agent, said: Sequence[Disposition] = ()
) -> list[Planned]:
    """Every scenario of a suite with its plan, compared with what was admitted. Nothing is run."""
    return [_prepared(scenario, suite, settings, gate, agent, said) for scenario in suite.scenarios]


def expect(planned: Sequence[Planned], ledger: Ledger, agent: str) -> None:
    """Fill in what trials are expected to cost and to take, from those of this agent on record."""
    for one in planned:
        place = one.subject.place if one.subject else ""
        found = ledger.rows(place=place, agent=agent, finished=True, newest=_LAST) if place else ()
        trials = [row for row in found if row.graded]
        costs = [row.cost_usd for row in trials if row.cost_usd is not None]
        one.expected = Expected(
            len(trials),
            statistics.fmean(costs) if costs else None,
            statistics.fmean(row.duration for row in trials) if trials else None,
        )


def _prepared(
    scenario: Scenario, suite: Suite, settings: Settings, gate: Gate, agent: Agent, said: Sequence[Disposition]
) -> Planned:
    out = Planned(scenario)
    try:
        subject = out.subject = _subject(scenario, suite, settings, gate)
        if subject.plan is not None and not subject.obstacle:
            agent.check(subject.plan)
    except NotRunnableError as exc:
        out.obstacle = str(exc)
        return out
    out.obstacle = subject.obstacle
    if subject.plan is not None:
        out.changed, out.note = _changed(scenario, subject, gate.ledger)
        if void := voided(task_digest(subject.plan), said):
            out.obstacle = out.obstacle or f"misaligned, as a person confirmed, so no trial of it counts: {void}"
    return out


def _subject(scenario: Scenario, suite: Suite, settings: Settings, gate: Gate) -> Subject:
    """The task of a manifest's path, which names one of several in a file or folder after a `#`."""
    folder = suite.path.absolute().parent
    path, key = folder / scenario.key, ""
    if not path.exists() and "#" in scenario.key:
        name, _, key = scenario.key.rpartition("#")
        path = folder / name
    if not path.exists():
        raise NotRunnableError(f"`{path}` is not there any more")
    refs = Finder(settings).discover([path]).refs
    for ref in [r for r in refs if not key or r.key == key]:
        form = format_named(ref.format)
        task = form.load(ref, settings.policy)
        if len(refs) == 1 or key or task.id == scenario.task:
            return gate.prepare(task, place_of(ref, gate.ledger.folder), form.plan)
    raise NotRunnableError(
        f"`{path}` holds no task that scenlint knows the format of"
        if not refs
        else f"`{path}` holds {len(refs)} tasks, of which none is called `{scenario.task}`"
    )


def _changed(scenario: Scenario, subject: Subject, ledger: Ledger) -> tuple[str, str]:
    """Why a task is not the one that was admitted; and what was edited without any effect on trials."""
    assert subject.plan is not None
    now = task_digest(subject.plan)
    if not scenario.task_digest:
        return "the manifest does not say which version of it was admitted; admit it again", ""
    if now == scenario.task_digest:
        return "", ""
    admitted = scenario.digests or _recorded(scenario, subject, ledger)
    if not admitted:
        return f"it is not the task that was admitted ({_short(scenario.task_digest)}, now {_short(now)})", ""
    edited = [part for part, digest in subject.plan.digests if admitted.get(part) != digest]
    if edited == ["metadata"]:
        return "", "metadata edited since it was admitted"
    return f"{_listed(edited) or 'something'} edited since it was admitted", ""


def _recorded(scenario: Scenario, subject: Subject, ledger: Ledger) -> dict[str, str]:
    """The digests of the parts of the task as it was admitted, from a trial of it; {} where none is on record."""
    entries = ledger.entries(place=subject.place, finished=True)
    return next((e.record.digests for e in entries if e.record.task_digest == scenario.task_digest), {})


def _short(digest: str) -> str:
    return digest[:19]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

"""Admission: everything that is known of a task as it stands, on one page; and the suite's manifest, which it enters.

The manifest holds the admitted tasks and the regression set (what was retired as too easy), each with its digests, so
that a later version can be told from the one that was admitted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scenlint.calibration.decision import Decided, Decision
from scenlint.calibration.misalignment import holds_up, signals
from scenlint.calibration.run import KIND, attempts_of, decision_of, latest
from scenlint.calibration.triage import Disposition, Verdict, command, confirmed
from scenlint.dynamic.gate import Subject
from scenlint.harness.ledger import Ledger
from scenlint.lint.engine import Engine
from scenlint.report.model import Report
from scenlint.source.writing import replace
from scenlint.task.finding import Severity
from scenlint.task.record import Status, TrialRecord

MANIFEST = "scenlint-suite.json"
VERSION = 1


@dataclass(frozen=True)
class Point:
    """One thing that admission asks for. `met` None: it has not been looked at, and `text` says what to run."""

    name: str
    met: bool | None
    text: str


@dataclass
class Page:
    """The decision on one task."""

    task: str
    digest: str
    image_digest: str
    points: list[Point] = field(default_factory=list)
    calibrations: dict[str, Decision] = field(default_factory=dict)  # agent -> its last one

    @property
    def admitted(self) -> bool:
        return all(point.met for point in self.points)

    @property
    def retired(self) -> bool:
        """Too easy, and nothing else against it: it goes to the regression set."""
        decided = {d.decided for d in self.calibrations.values()}
        others = [p for p in self.points if p.name != "calibration"]
        return decided == {Decided.RETIRED} and all(p.met for p in others if p.name in ("static", "oracle and nop"))


def page(subject: Subject, static: Report, ledger: Ledger, engine: Engine) -> Page:
    """What speaks for and against admitting a task, from its records; nothing is run."""
    assert subject.plan is not None
    records = current(ledger, subject)
    said = confirmed(ledger.folder)
    first = next((r for r in records if r.agent == "oracle"), None)
    out = Page(subject.task.id, first.task_digest if first else "", first.image_digest if first else "")
    errors = [f for f in static.findings if f.severity is Severity.ERROR]
    told = ", ".join(dict.fromkeys(f.rule for f in errors)) or "no errors"
    out.points.append(Point("static", not errors, told))
    out.points.append(_controls([r for r in records if r.experiment is None]))
    out.points.append(_experiments(subject, records, engine))
    out.points += _calibrations(subject, ledger, records, said, out)
    return out


def current(ledger: Ledger, subject: Subject) -> list[TrialRecord]:
    """The task's records that are of it as it now stands, the last of each agent and attempt."""
    assert subject.plan is not None
    digests = dict(subject.plan.digests)
    found = [
        e.record
        for e in ledger.entries(place=subject.place, finished=True)
        if all(e.record.digests.get(k) == v for k, v in digests.items() if k != "metadata")
    ]
    return list({(r.agent, r.attempt, r.experiment.kind if r.experiment else ""): r for r in found}.values())


def _controls(records: Sequence[TrialRecord]) -> Point:
    oracle, nop = ([r for r in records if r.agent == agent] for agent in ("oracle", "nop"))
    if not oracle or not nop:
        return Point("oracle and nop", None, "no trials of the task as it stands: `scenlint validate`")
    perfect = all(r.status is Status.PASSED for r in oracle)
    below = all(r.reward is not None and r.reward < 1.0 for r in nop)
    return Point("oracle and nop", perfect and below, f"oracle {_rewards(oracle)}, nop {_rewards(nop)}")


def _rewards(records: Sequence[TrialRecord]) -> str:
    return ", ".join("no verdict" if r.reward is None else f"{r.reward:g}" for r in records)


def _experiments(subject: Subject, records: Sequence[TrialRecord], engine: Engine) -> Point:
    made = [r for r in records if r.experiment is not None and r.experiment.kind != KIND]
    if not made:
        return Point("probes", None, "no experiments with the task as it stands: `scenlint validate --deep`")
    ordinary = [r for r in records if r.experiment is None and r.agent in ("oracle", "nop")]
    outcome = engine.judge_trials(subject.task, [*ordinary, *made], "", deep=True)
    errors = [f for f in outcome.findings if f.severity is Severity.ERROR]
    told = ", ".join(dict.fromkeys(f.rule for f in errors)) or f"{len(made)} experiments, no errors"
    return Point("probes", not errors, told)


def _calibrations(
    subject: Subject, ledger: Ledger, records: Sequence[TrialRecord], said: Sequence[Disposition], out: Page
) -> list[Point]:
    controls = [r for r in records if r.experiment is None and r.agent in ("oracle", "nop")]
    agents = dict.fromkeys(r.agent for r in records if r.experiment and r.experiment.kind == KIND)
    persons, held = list[str](), dict[str, str]()  # name of a sign -> what it says
    looked = any(d.about == out.digest and d.verdict is Verdict.ALIGNED for d in said)
    for agent in agents:
        entries = latest(attempts_of(ledger, subject, agent))
        decision = out.calibrations[agent] = decision_of(entries, controls, said, curtail=True)
        persons += [f"{r.record.id}: {r.person}" for r in decision.rulings if r.person]
        others = [r for r in records if r.agent != agent]
        found = [] if looked else signals(subject.task, decision.rulings, others)
        held |= {s.name: s.text for s in found} if holds_up(found) else {}
    if not agents:
        return [Point("calibration", None, "none with the task as it stands: `scenlint calibrate`")]
    told = "; ".join(f"{agent}: {d.decided} ({d.reason})" for agent, d in out.calibrations.items())
    decided = [d.decided for d in out.calibrations.values()]
    points = [Point("calibration", Decided.ADMISSIBLE in decided and Decided.BLOCKED not in decided, told)]
    signs = "; ".join(f"{name}: {text}" for name, text in sorted(held.items()))
    waiting = [*persons, *([f"signs of misalignment ({signs}): `{command(out.digest)}`"] if held else [])]
    points.append(Point("open dispositions", not waiting, "; ".join(waiting) or "none"))
    return points


# ---------------------------------------------------------------- the manifest


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest, or an empty one; ValueError for one that this version cannot read."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {"version": VERSION, "tasks": [], "regression": []}
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError(f"`{path}` is no suite manifest of version {VERSION}")
    return data


def enter(path: Path, decided: Page, place: str, role: str) -> str:
    """Write the task to its list, in the place of an earlier entry; "tasks" or "regression".

    RefusedError where it cannot be written.
    """
    data = read_manifest(path)
    name = "regression" if decided.retired and not decided.admitted else "tasks"
    for key in ("tasks", "regression"):
        data[key] = [entry for entry in data.get(key, []) if entry.get("path") != place]
    data[name].append(
        {
            "id": decided.task,
            "path": place,
            "task_digest": decided.digest,
            "image_digest": decided.image_digest,
            "points": {p.name: p.text for p in decided.points},
            "decided_by": role,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
    )
    data[name].sort(key=lambda entry: str(entry["path"]))
    replace(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    return name

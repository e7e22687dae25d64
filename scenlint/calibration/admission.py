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

from scenlint.calibration.known import known
from scenlint.calibration.triage import command
from scenlint.dynamic import first_look
from scenlint.dynamic.gate import Subject
from scenlint.harness.ledger import Ledger
from scenlint.lint.engine import Engine
from scenlint.report.model import Report
from scenlint.rulings.calibrations import Calibrated, calibrations, controls
from scenlint.rulings.decision import Decided, Decision
from scenlint.rulings.misalignment import holds_up, signals
from scenlint.source.writing import replace
from scenlint.stats.words import count
from scenlint.task.finding import Severity
from scenlint.task.model import Task
from scenlint.task.record import AS_IT_IS, Status, TrialRecord

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
    digests: dict[str, str] = field(default_factory=dict)  # part of the task -> sha256

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
    records = known(ledger, subject)
    first = next((r for r in records if r.agent == "oracle"), None)
    out = Page(subject.task.id, first.task_digest if first else "", first.image_digest if first else "")
    out.digests = dict(first.digests) if first else {}
    errors = [f for f in static.findings if f.severity is Severity.ERROR]
    told = ", ".join(dict.fromkeys(f.rule for f in errors)) or "no errors"
    out.points.append(Point("static", not errors, told))
    out.points.append(_controls(controls(records)))
    out.points.append(_experiments(subject, records, engine))
    out.points += _calibrations(subject.task, records, engine, out)
    return out


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
    made = [r for r in records if r.experiment is not None and r.experiment.kind not in AS_IT_IS]
    if all(first_look.makes(r.experiment) for r in made if r.experiment):
        seen = "a first look only" if made else "no experiments"
        return Point("probes", None, f"{seen} with the task as it stands: `scenlint validate --deep`")
    outcome = engine.judge_trials(subject.task, [*controls(records), *made], deep=True)
    errors = [f for f in outcome.findings if f.severity is Severity.ERROR]
    told = ", ".join(dict.fromkeys(f.rule for f in errors)) or f"{count(len(made), 'experiment')}, no errors"
    return Point("probes", not errors, told)


def _calibrations(task: Task, records: Sequence[TrialRecord], engine: Engine, out: Page) -> list[Point]:
    made = calibrations(records)
    if not made:
        return [Point("calibration", None, "none with the task as it stands: `scenlint calibrate`")]
    out.calibrations = {one.agent: one.decision for one in made}
    found = engine.judge_trials(task, records, calibration=True).findings
    errors = [f for f in found if f.severity is Severity.ERROR]
    admissible = any(d.decided is Decided.ADMISSIBLE for d in out.calibrations.values())
    told = [*map(_told, made), *dict.fromkeys(f"{f.rule}: {f.message}" for f in errors)]
    signs = signals(task, records)
    held = "; ".join(dict.fromkeys(f"{s.name}: {s.text}" for s in signs))
    waiting = [f"{r.record.id}: {r.person}" for one in made for r in one.decision.rulings if r.person]
    waiting += [f"signs of misalignment ({held}): `{command(out.digest)}`"] if holds_up(signs) else []
    return [
        Point("calibration", admissible and not errors, "; ".join(told)),
        Point("open dispositions", not waiting, "; ".join(waiting) or "none"),
    ]


def _told(one: Calibrated) -> str:
    """An agent's calibration in words: its decision, that it is not the first one, what it overruled."""
    forced = next((r.record.experiment.reason for r in one.decision.rulings if r.record.experiment), "")
    parts = [one.decision.reason, f"calibration {one.number} of this digest" if one.number > 1 else "", forced]
    return f"{one.agent}: {one.decision.decided} ({'; '.join(filter(None, parts))})"


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
            "digests": decided.digests,
            "points": {p.name: p.text for p in decided.points},
            "decided_by": role,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
    )
    data[name].sort(key=lambda entry: str(entry["path"]))
    replace(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    return name

"""What the readers share: what they return, how a folder is searched, how a value of unknown make is taken apart."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from scenlint.task.record import FailureClass, Phase, PhaseName, Status, TrialRecord, Verdict

LARGEST = 256 * 1024 * 1024  # bytes of one result file
_NAMES = ("result.json", "results.json")  # which harnesses give their results
READERS = ("harbor", "terminal_bench", "saas_bench", "waza", "deepgym", "inspect")


@dataclass(frozen=True)
class Problem:
    """A file that looked like results and could not be read, or a trial in it that was left out, and why."""

    path: Path
    text: str


@dataclass
class Imported:
    """What was read."""

    records: list[TrialRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


Reader = Callable[[Path], Iterator[TrialRecord | Problem] | None]


def read(path: Path) -> Imported:
    """All trials in a file or below a folder; a file is read by the first reader that knows it."""
    readers: list[Reader] = [import_module(f"scenlint.imports.{name}").read for name in READERS]
    out = Imported()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file.suffix not in (".json", ".eval") or file.stat().st_size > LARGEST:
            continue
        for reader in readers:
            try:
                found = reader(file)
                if found is None:
                    continue
                for one in found:
                    (out.problems if isinstance(one, Problem) else out.records).append(one)  # type: ignore[arg-type]
            except (OSError, ValueError, KeyError, TypeError, RecursionError, BadZipFile) as exc:
                out.problems.append(Problem(file, f"cannot be read: {exc or type(exc).__name__}"))
            break
        else:
            if file.name in _NAMES and not _is_json(file):
                out.problems.append(Problem(file, "cannot be read: this is no JSON; it may have been cut off"))
            elif file == path:
                out.problems.append(Problem(file, "this holds no results of a harness that is known"))
    return out


def _is_json(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return True


def load(path: Path) -> dict[str, Any]:
    """A JSON object; an empty one where the file holds something else, or no JSON at all."""
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def table(value: Any, *keys: str) -> dict[str, Any]:
    """The object at a route of keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def number(value: Any) -> float | None:
    """A finite number; None for everything else, True and False included."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else None


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def between(times: dict[str, Any], began: str, ended: str) -> float | None:
    """Seconds between two times in ISO 8601; None where one is missing."""
    try:
        first, last = (datetime.fromisoformat(text(times[key]).replace("Z", "+00:00")) for key in (began, ended))
        return (last - first).total_seconds()
    except (KeyError, ValueError, TypeError):
        return None


def record(
    source: str, path: Path, task: str, form: str, agent: str, reward: float | None, *parts: object
) -> TrialRecord:
    """A record with the verdict that the other harness gave; `parts` tell its trials apart.

    Its id hangs on where it came from and not on when it was read, so that reading it again is noticed.
    """
    identity = json.dumps([source, task, agent, *map(str, parts)])
    verdict = Verdict(reward, reward == 1.0, confidence="medium")
    out = TrialRecord(
        f"{source}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}",
        task,
        form,
        agent,
        reward,
        Status.NO_VERDICT if reward is None else Status.PASSED if reward == 1.0 else Status.FAILED,
        strict=verdict,
        harness=verdict,
        source=f"{source}: {path}",
        confidence="medium",
    )
    if out.status is Status.FAILED:
        out.failure_class = FailureClass.WRONG_ANSWER
    return out


def failed(made: TrialRecord, failure_class: FailureClass, evidence: str, *, acted: bool = True) -> TrialRecord:
    """The record with why the trial did not pass; `acted`: the agent had begun by then."""
    if made.status is not Status.PASSED:
        made.failure_class, made.failure_evidence = failure_class, evidence
    if acted and not any(p.name == PhaseName.AGENT for p in made.phases):
        made.phases.append(Phase(PhaseName.AGENT.value))
    return made

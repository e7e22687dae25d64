"""What grading speaks of: a suite of admitted scenarios, and a run, which is one suite, one agent and N trials of each.

A run's trials are ordinary ones in the ledger. Each carries `Experiment("grade", name=<run id>, target=<key>)`, where
the key is the scenario's path in the manifest, and `suite`, the suite's version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenlint.calibration.admission import MANIFEST, read_manifest
from scenlint.task.record import Experiment, TrialRecord

KIND = "grade"  # of the experiment that a run's trials carry


class SuiteError(Exception):
    """There is no suite to be graded; the text says why and what to do."""


@dataclass(frozen=True)
class Scenario:
    """An admitted task as the manifest has it. `key` is its path there, which tells it from all others."""

    key: str
    task: str
    task_digest: str = ""
    image_digest: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)  # part of the task -> sha256; {} in older manifests


@dataclass(frozen=True)
class Suite:
    """The scenarios of a manifest, or its regression set."""

    path: Path  # of the manifest, to whose folder the scenarios' paths are relative
    scenarios: tuple[Scenario, ...]
    regression: bool = False

    @property
    def version(self) -> str:
        """`sha256:…` of what makes the suite: each scenario's id, path and digests, in canonical JSON."""
        return version_of(self.scenarios)


@dataclass(frozen=True)
class Run:
    """One run, as the first line of its audit record has it."""

    id: str
    suite: str  # its version
    scenarios: tuple[Scenario, ...]
    agent: str
    trials: int  # graded ones wanted of each scenario
    regression: bool = False
    manifest: str = ""  # where it lay, relative to the folder that holds the ledger
    agent_digest: str = ""  # of the agent's configuration
    model: str = ""
    started: str = ""  # ISO 8601, UTC
    scenlint: str = ""
    budgets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # key of a scenario -> its limits
    forced: tuple[str, ...] = ()  # what --force let through, in words

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Run:
        """The run of `to_json`; fields of newer versions are left out."""
        known = {k: v for k, v in data.items() if k in cls.__dataclass_fields__}
        known["scenarios"] = tuple(Scenario(**s) for s in known["scenarios"])
        known["forced"] = tuple(known.get("forced", ()))
        return cls(**known)

    def experiment(self, scenario: Scenario) -> Experiment:
        """What each of its trials carries."""
        return Experiment(KIND, self.id, target=scenario.key)

    def owns(self, record: TrialRecord) -> bool:
        """Whether a trial is one of this run."""
        made = record.experiment
        return made is not None and made.kind == KIND and made.name == self.id


def suite_of(path: Path, *, regression: bool = False) -> Suite:
    """The suite of a manifest, or of the folder that holds one; SuiteError where there is none or it is empty."""
    file = path / MANIFEST if path.is_dir() else path
    if not file.is_file():
        raise SuiteError(f"`{file}` is not there: `scenlint admit` enters tasks in a suite's manifest")
    try:
        data = read_manifest(file)
        entries = data.get("regression" if regression else "tasks", [])
        scenarios = tuple(
            Scenario(
                e["path"], e["id"], e.get("task_digest", ""), e.get("image_digest", ""), dict(e.get("digests") or {})
            )
            for e in entries
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise SuiteError(f"`{file}` cannot be read as a suite's manifest: {exc}") from None
    if not scenarios:
        which = "regression set" if regression else "list of tasks"
        other = "; --regression grades what was too easy for it" if not regression and data.get("regression") else ""
        raise SuiteError(f"the {which} of `{file}` is empty: `scenlint admit` enters tasks in it{other}")
    return Suite(file, tuple(sorted(scenarios, key=lambda s: s.key)), regression)


def version_of(scenarios: Sequence[Scenario]) -> str:
    """The version of a suite of these scenarios, whatever their order."""
    parts = [
        {"id": s.task, "path": s.key, "task_digest": s.task_digest, "image_digest": s.image_digest}
        for s in sorted(scenarios, key=lambda s: s.key)
    ]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

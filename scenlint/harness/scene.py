"""The scene of one trial: what everything that works for it is told, engine or sandbox, agent or verifier."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path

from scenlint.harness.engine import Options
from scenlint.task.plan import RunPlan, Step


@dataclass(frozen=True)
class Scene:
    """One trial: what is run, under which name, where its logs go, what the site allows, and whether to stop."""

    plan: RunPlan
    trial: str  # unique, and fit for the name of a container
    folder: Path
    options: Options
    stop: threading.Event | None = None

    def log(self, name: str, step: Step | None = None) -> Path:
        """A file in the trial's folder; each named step has a folder of its own."""
        place = self.folder / "steps" / plain(step.name) if step and step.name else self.folder
        return place / name


@dataclass(frozen=True)
class Prepared:
    """What a backend has made ready, as far as it is for the record."""

    reference: str
    digest: str = ""
    substitute: str = ""
    log: str = ""


def plain(name: str) -> str:
    """A name with only what is fit for a file or a container."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "x"

"""Searches the image that the agent gets: files, deleted files in its layers, archives, git objects, history."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scenlint.dynamic.image_search import search_image
from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import LEAKED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.outcome import LEAKED as MARK
from scenlint.harness.engine import faults
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.scene import Scene
from scenlint.task.model import Task
from scenlint.task.needles import Needle, leaks, needles
from scenlint.task.plan import RunPlan, Step

_SHOWN = 5  # places
_GIT = re.compile(r"\bgit\b|\bcommit|\bbranch", re.I)


@dataclass(frozen=True)
class ImageSearch(Attack):
    """Does nothing in the container; the harness reads its image. `asked` decides with the rest whether it is new."""

    task: Task | None = field(default=None, repr=False, compare=False)
    wanted: tuple[Needle, ...] = field(default=(), repr=False)
    git: bool = True
    asked: str = ""

    def check(self, plan: RunPlan) -> None:
        pass

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        if step.name != self.at or self.task is None:
            return None
        engine: Any = getattr(environment, "engine", None)
        image: str = getattr(environment, "image", "")
        stopped = scene.stop.is_set if scene.stop is not None else bool
        with faults("reading the image"):
            export = engine.api.get_image(image)
            hits = search_image(export, [n.text for n in self.wanted], git=self.git, stop=stopped)
        seen = {hit.place: hit.seen for hit in hits}
        found = leaks(self.task, [(self.wanted[hit.needle], hit.place) for hit in hits])
        found.sort(key=lambda leak: not seen[leak.place])
        lines = [
            f"{MARK} {'' if seen[leak.place] else '(not for the agent to see) '}{leak.place}: {leak.kind} "
            + ", ".join(f"`{n.text[:80]}`" for n in leak.found[:3])
            for leak in found[:_SHOWN]
        ]
        return Ran(0, 0.0, output="\n".join([f"looked for {len(self.wanted)} lines and values", *lines]))


@probe("built-image", LEAKED)
def built_image(ground: Ground) -> Iterator[Attack]:
    wanted = tuple(needles(ground.task))
    first = ground.step is ground.plan.steps[0]
    if not first or not wanted or not (ground.plan.container or ground.plan.compose):
        return
    asked = hashlib.sha256("\n".join(n.text for n in wanted).encode("utf-8", "replace")).hexdigest()[:16]
    # Where the work is about the history of a repository, what stands in it is given.
    oracle = ground.task.oracle
    about = ground.brief + (oracle.entry.text if oracle else "")
    yield ImageSearch(
        "", "searched the built image for lines of solution and verifier", at=ground.step.name, task=ground.task,
        wanted=wanted, git=not _GIT.search(about), asked=asked,
    )  # fmt: skip

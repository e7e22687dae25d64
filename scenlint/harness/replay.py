"""Agents that keep what the oracle did (`Recorder`), and put it, perhaps altered, into a new environment (`Replay`)."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scenlint.harness.agents import Agent
from scenlint.harness.environment import Environment, Fault, InfrastructureError, Ran, StoppedError
from scenlint.harness.scene import Scene
from scenlint.harness.snapshot import FOLDER, MANIFEST, OUTPUT, PROBLEM, Before, Item, Layer, Snapshot, state
from scenlint.task.plan import NotRunnableError, RunPlan, Step


@dataclass(frozen=True)
class Change:
    """One alteration of a snapshot, applied after each step's layer has been restored.

    Made by `write`, `delete`, `chmod` and `untouched`. A path is the environment's own, or snapshot.OUTPUT.
    """

    path: str
    data: bytes | None = field(default=None, repr=False)
    mode: int | None = None
    how: str = "write"  # "write", "delete", "mode", "untouched"
    digest: str = ""  # of the data, so that two changes can be told apart by their repr

    @classmethod
    def write(cls, path: str, data: bytes, mode: int | None = None) -> Change:
        """Another content; owner and mode stay as they were (0644 where the path is new)."""
        return cls(path, data, mode, "write", hashlib.sha256(data).hexdigest())

    @classmethod
    def delete(cls, path: str) -> Change:
        """Nothing lies there (a folder goes with all that is in it)."""
        return cls(path, how="delete")

    @classmethod
    def chmod(cls, path: str, mode: int) -> Change:
        """Other permissions."""
        return cls(path, mode=mode, how="mode")

    @classmethod
    def untouched(cls, path: str) -> Change:
        """As if the work had not touched it: absent if it was new, the given input if it was there before."""
        return cls(path, how="untouched")


@dataclass(frozen=True)
class Recorder:
    """Lets another agent act and keeps what it changed, in the trial's folder (`Snapshot.load(folder)`)."""

    agent: Agent
    name: str

    @property
    def secrets(self) -> Sequence[str]:
        names: Sequence[str] = getattr(self.agent, "secrets", ())
        return names

    @property
    def budget(self) -> dict[str, Any]:
        limits: dict[str, Any] = getattr(self.agent, "budget", {})
        return limits

    def check(self, plan: RunPlan) -> None:
        self.agent.check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        try:
            before = state(environment).look()
        except (StoppedError, InfrastructureError):
            raise
        except (Fault, NotRunnableError) as exc:
            _lost(scene, exc)
            return self.agent.act(step, environment, scene)
        ran = self.agent.act(step, environment, scene)
        try:
            self._keep(step, environment, scene, before, ran)
        except (StoppedError, InfrastructureError):
            raise
        except Fault as exc:  # the work stands, and is graded all the same
            _lost(scene, exc)
        return ran

    def _keep(self, step: Step, environment: Environment, scene: Scene, before: Before, ran: Ran | None) -> None:
        snapshot = Snapshot.load(scene.folder) or Snapshot(scene.folder / FOLDER)
        oracle = step.oracle
        # The program of the solution is no result of it.
        skip = tuple(u.target for u in oracle.uploads) if oracle and oracle.command else ()
        layer = Layer(snapshot, skip, before)
        snapshot.notes += state(environment).changed(before, layer)
        if step.verify.agent_output and ran is not None:
            layer.add(Item(OUTPUT), io.BytesIO(ran.stdout))
        left: list[str] = getattr(environment, "processes", list)()
        snapshot.notes += [f"still running after the work: {line[:200]}" for line in left[:5]]
        layer.close(step.name)


def _lost(scene: Scene, why: Exception) -> None:
    """There is no whole snapshot, and this is why."""
    (scene.folder / FOLDER).mkdir(parents=True, exist_ok=True)
    (scene.folder / FOLDER / PROBLEM).write_text(str(why), "utf-8")
    (scene.folder / FOLDER / MANIFEST).unlink(missing_ok=True)


@dataclass(frozen=True)
class Replay:
    """Restores a snapshot, with changes, where the oracle would have worked. No program of the task runs."""

    name: str
    snapshot: Snapshot = field(repr=False)
    changes: tuple[Change, ...] = ()
    digest: str = ""  # of the snapshot, for the repr, which decides whether a recorded trial still serves

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", self.snapshot.digest)

    def check(self, plan: RunPlan) -> None:
        for step in plan.steps:
            if step.name not in self.snapshot.layers:
                raise NotRunnableError(f"there is no snapshot of step `{step.name}`")

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        began = time.monotonic()
        items = list(altered(self.snapshot, step.name, self.changes))
        state(environment).restore([pair for pair in items if pair[0].path != OUTPUT])
        said = {item.path: data for item, data in items}.get(OUTPUT, b"")  # the last one is what the changes made
        told = f"restored {len(items)} paths" + "".join(f"\n{c!r}" for c in self.changes)
        return Ran(0, time.monotonic() - began, output=told, stdout=said)


def altered(snapshot: Snapshot, step: str, changes: tuple[Change, ...]) -> Iterator[tuple[Item, bytes]]:
    """The items of a step's layer with their contents, and after them what the changes make of them."""
    dropped = {c.path for c in changes if c.how == "untouched"}
    layer = {i.path: i for i in snapshot.layers[step]}
    for item in layer.values():
        if item.path not in dropped:
            yield item, snapshot.read(item) if item.stored else b""
    for change in changes:
        had = layer.get(change.path)
        if change.how == "delete":
            yield Item(change.path, "deleted"), b""
        elif change.how == "mode" and had is not None:
            yield replace(had, mode=change.mode or 0), snapshot.read(had) if had.stored else b""
        elif change.how == "write":
            item = had if had is not None and had.kind == "file" else Item(change.path)
            item = item if change.mode is None else replace(item, mode=change.mode)
            yield replace(item, stored=""), change.data or b""

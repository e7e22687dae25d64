"""An agent whose requests to the apps are kept, and one of them perhaps changed on its way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scenlint.harness.agents import Agent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.scene import Scene
from scenlint.harness.tampering import Request, Tampering, Watch
from scenlint.task.plan import NotRunnableError, RunPlan, Step

REQUESTS = "requests.jsonl"  # in the trial's folder


@dataclass(frozen=True)
class Watched:
    """Lets another agent act, and keeps the requests by which it changes the apps."""

    agent: Agent
    name: str
    tampering: Tampering | None = None

    def check(self, plan: RunPlan) -> None:
        self.agent.check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        watch = Watch(self.tampering)
        if not _watched(environment, watch):
            return self.agent.act(step, environment, scene)
        ran = self.agent.act(step, environment, scene)
        with scene.log(REQUESTS).open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(json.dumps(asdict(request)) + "\n" for request in watch.requests)
        if self.tampering is not None and not watch.done:
            raise NotRunnableError("the solution did not send this request again")
        return ran


def _watched(environment: Environment, watch: Watch) -> bool:
    """Whether there are apps whose requests can be seen; from now on they are."""
    see = getattr(environment, "watch", None)
    if see is None:
        return False
    see(watch)
    return True


def kept(folder: Path) -> Iterator[Request]:
    """The requests that were kept in a trial's folder, in their order."""
    try:
        lines = (folder / REQUESTS).read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        told = json.loads(line)
        pairs = tuple((name, value) for name, value in told["fields"])
        yield Request(told["method"], told["path"], pairs, told.get("answer", []))

"""Who acts in a trial: the oracle (reference solution), nop (nobody), or any program, in the container or outside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from scenlint.harness.capture import run_process
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.prompt import brief_for, todo_list
from scenlint.harness.scene import Scene
from scenlint.task.plan import SUBMISSION, Command, NotRunnableError, RunPlan, Step, Upload

INSIDE = "/scenlint"  # folder in the container with the brief, while a command agent acts
_VARIABLE_LIMIT = 100_000  # bytes of a brief that still fit into an environment variable


class Agent(Protocol):
    """Acts once for each step, after the environment has started and before the verifier is there."""

    @property
    def name(self) -> str:
        """What records call it."""
        ...

    def check(self, plan: RunPlan) -> None:
        """Before anything is built: NotRunnableError where this agent has nothing to do with such a task."""
        ...

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        """Work on one step; how the agent's program ended, or None where there is none."""
        ...


@runtime_checkable
class Witness(Protocol):
    """An agent that also looks at where it was graded, before the verdict is read; its Fault leaves none."""

    def graded(self, step: Step, grader: Environment) -> None: ...


@dataclass(frozen=True)
class Nop:
    """Does nothing: what it earns, the task gives away."""

    name: str = "nop"

    def check(self, plan: RunPlan) -> None:
        pass

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        return None


@dataclass(frozen=True)
class OracleAgent:
    """Runs the reference solution in the way the task's format says."""

    name: str = "oracle"

    def check(self, plan: RunPlan) -> None:
        for step in plan.steps:
            if step.oracle is None:
                where = f"step `{step.name}` of " if step.name else ""
                raise NotRunnableError(f"{where}`{plan.task}` has no reference solution, so no oracle can run")

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        oracle = step.oracle
        if oracle is None:
            raise NotRunnableError(f"`{scene.plan.task}` has no reference solution")
        for upload in oracle.uploads:
            environment.upload(upload)
        if oracle.submission is not None:
            environment.upload(Upload(oracle.submission, SUBMISSION))
        if oracle.command is None:
            return None
        command = limited(oracle.command, step.agent_timeout)
        command = replace(command, user=command.user or step.agent_user)
        return environment.run(command, scene.log("agent.log", step), split=step.verify.agent_output)


@dataclass(frozen=True)
class CommandAgent:
    """Runs a program that is given the brief: SCENLINT_BRIEF has its text, SCENLINT_BRIEF_FILE a file with it.

    On the host it is also told how to reach the environment (SCENLINT_CONTAINER and as whom, SCENLINT_USER; the apps'
    URLs as SCENLINT_URLS) and, where the task has apps, a pre-filled list of things to do (SCENLINT_TODO_FILE).
    """

    argv: tuple[str, ...]
    on_host: bool = False
    name: str = "command"
    env: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    uploads: tuple[Upload, ...] = ()  # what the program itself consists of

    def check(self, plan: RunPlan) -> None:
        if self.on_host and not plan.apps and not plan.container and not plan.compose:
            raise NotRunnableError(
                "an agent on the host needs a container to act on; this task runs in a local sandbox"
            )
        if not self.on_host and plan.apps:
            raise NotRunnableError("a task with apps has no container for its agent: run the agent on the host")

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        urls: Mapping[str, str] = getattr(environment, "urls", {})
        brief = brief_for(step.brief, urls) if scene.plan.apps else step.brief
        folder = scene.log("agent", step)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "brief.md").write_text(brief, "utf-8")
        if scene.plan.apps:
            (folder / "todo.md").write_text(todo_list(scene.plan.task, step.brief), "utf-8")
        told = {"SCENLINT_TRIAL": scene.trial, "SCENLINT_STEP": step.name}
        if len(brief.encode("utf-8", "replace")) <= _VARIABLE_LIMIT:
            told["SCENLINT_BRIEF"] = brief.replace("\0", "")
        log, split = scene.log("agent.log", step), step.verify.agent_output
        if self.on_host:
            getattr(environment, "flush", lambda: None)()
            told |= {"SCENLINT_BRIEF_FILE": str(folder / "brief.md"), **getattr(environment, "variables", {})}
            if urls:
                told["SCENLINT_URLS"] = json.dumps(dict(urls))
            if scene.plan.apps:
                told["SCENLINT_TODO_FILE"] = str(folder / "todo.md")
            if step.agent_user:
                told["SCENLINT_USER"] = step.agent_user
            env = {**os.environ, **told, **dict(self.env)}
            return run_process(
                self.argv, log, env=env, cwd=folder, timeout=step.agent_timeout, split=split, stop=scene.stop
            )
        told["SCENLINT_BRIEF_FILE"] = f"{INSIDE}/brief.md"
        environment.upload(Upload(folder, INSIDE, clear=True))
        for upload in self.uploads:
            environment.upload(upload)
        user = self.user or step.agent_user
        command = Command(self.argv, env=(*told.items(), *self.env), user=user, timeout=step.agent_timeout)
        try:
            return environment.run(command, log, split=split)
        finally:
            environment.remove(INSIDE)


def limited(command: Command, timeout: float | None) -> Command:
    """The command with the stricter of two time limits."""
    limits = [t for t in (command.timeout, timeout) if t is not None]
    return replace(command, timeout=min(limits, default=None))

"""Any program as an agent, in the task's container or on the host: what it is told, how it ended, what it used up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from scenlint.harness.capture import run_process
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.prompt import brief_for, todo_list
from scenlint.harness.scene import Scene
from scenlint.harness.secrets import environment_of, given
from scenlint.harness.worked import USAGE_FILE, USAGE_LIMIT, Usage, UsageKeys, Worked
from scenlint.task.plan import Command, NotRunnableError, RunPlan, Step, Upload
from scenlint.task.record import FailureClass

INSIDE = "/scenlint"  # folder in the container with the brief, while the agent acts
_VARIABLE_LIMIT = 100_000  # bytes of a brief that still fit into an environment variable
# What engine and sandbox say where they cannot start a program: the first thing that is printed.
_NOT_STARTED = ("OCI runtime exec failed", "crun: executable file", "scenlint: `")


@dataclass(frozen=True)
class CommandAgent:
    """Runs a program that is given the brief: SCENLINT_BRIEF has its text, SCENLINT_BRIEF_FILE a file with it.

    What it used up it may write, as JSON, to the file SCENLINT_USAGE_FILE. On the host it is also told how to reach the
    environment (SCENLINT_CONTAINER and as whom, SCENLINT_USER; the apps' URLs as SCENLINT_URLS) and, where the task has
    apps, a pre-filled list of things to do (SCENLINT_TODO_FILE).
    """

    argv: tuple[str, ...]
    on_host: bool = False
    name: str = "command"
    env: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    uploads: tuple[Upload, ...] = ()  # what the program itself consists of
    pass_env: tuple[str, ...] = ()  # names of this machine's variables that it is given
    install: tuple[str, ...] = ()  # run in the container, as root, before its first step; its own time limit below
    install_timeout: float = 600.0
    timeout: float | None = None  # seconds, where that is less than the task gives
    model: str = ""  # for the record
    usage: UsageKeys = field(default_factory=UsageKeys)

    @property
    def secrets(self) -> tuple[str, ...]:
        return self.pass_env

    @property
    def budget(self) -> dict[str, Any]:
        return {"timeout_sec": self.timeout} if self.timeout is not None else {}

    def check(self, plan: RunPlan) -> None:
        if self.on_host and not plan.apps and not plan.container and not plan.compose:
            raise NotRunnableError(
                "an agent on the host needs a container to act on; this task runs in a local sandbox"
            )
        if not self.on_host and plan.apps:
            raise NotRunnableError("a task with apps has no container for its agent: run the agent on the host")
        given(self.name, self.pass_env)
        if self.on_host:
            path = environment_of(self.name, (), dict(self.env)).get("PATH")
            if shutil.which(self.argv[0], path=path) is None:
                raise NotRunnableError(f"the program `{self.argv[0]}` of the agent `{self.name}` is not installed here")

    def act(self, step: Step, environment: Environment, scene: Scene) -> Worked:
        urls: Mapping[str, str] = getattr(environment, "urls", {})
        brief = brief_for(step.brief, urls) if scene.plan.apps else step.brief
        folder = scene.log("agent", step)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "brief.md").write_text(brief, "utf-8", "replace")
        told = {"SCENLINT_TRIAL": scene.trial, "SCENLINT_STEP": step.name}
        if len(brief.encode("utf-8", "replace")) <= _VARIABLE_LIMIT:
            told["SCENLINT_BRIEF"] = brief.replace("\0", "")
        limits = [t for t in (step.agent_timeout, self.timeout) if t is not None]
        limit = min(limits, default=None)
        if self.on_host:
            if scene.plan.apps:
                (folder / "todo.md").write_text(todo_list(scene.plan.task, step.brief), "utf-8", "replace")
                told["SCENLINT_TODO_FILE"] = str(folder / "todo.md")
            ran, usage = self._outside(step, environment, scene, folder, told, limit)
        else:
            ran, usage = self._inside(step, environment, scene, folder, told, limit)
        return self._worked(ran, usage, limit, first=step is scene.plan.steps[0])

    def _outside(
        self, step: Step, environment: Environment, scene: Scene, folder: Path, told: dict[str, str],
        limit: float | None,
    ) -> tuple[Ran, bytes | None]:  # fmt: skip
        getattr(environment, "flush", lambda: None)()
        told |= {
            "SCENLINT_BRIEF_FILE": str(folder / "brief.md"),
            "SCENLINT_USAGE_FILE": str(folder / USAGE_FILE),
            **getattr(environment, "variables", {}),
        }
        if urls := getattr(environment, "urls", {}):
            told["SCENLINT_URLS"] = json.dumps(dict(urls))
        if step.agent_user:
            told["SCENLINT_USER"] = step.agent_user
        file = folder / self.usage.file
        file.unlink(missing_ok=True)  # an earlier trial's says nothing of this one
        env = {**environment_of(self.name, self.pass_env, {}), **told, **dict(self.env)}
        log, split = scene.log("agent.log", step), step.verify.agent_output
        ran = run_process(self.argv, log, env=env, cwd=folder, timeout=limit, split=split, stop=scene.stop)
        if not file.is_file():
            return ran, None
        with file.open("rb") as content:
            return ran, content.read(USAGE_LIMIT)

    def _inside(
        self, step: Step, environment: Environment, scene: Scene, folder: Path, told: dict[str, str],
        limit: float | None,
    ) -> tuple[Ran, bytes | None]:  # fmt: skip
        told |= {"SCENLINT_BRIEF_FILE": f"{INSIDE}/brief.md", "SCENLINT_USAGE_FILE": f"{INSIDE}/{USAGE_FILE}"}
        environment.fresh((INSIDE,))
        environment.upload(Upload(folder / "brief.md", f"{INSIDE}/brief.md"))
        for upload in self.uploads:
            environment.upload(upload)
        env = (*told.items(), *given(self.name, self.pass_env).items(), *self.env)
        try:
            if self.install and step is scene.plan.steps[0]:
                self._install(environment, scene, env)
            command = Command(self.argv, env=env, user=self.user or step.agent_user, timeout=limit)
            ran = environment.run(command, scene.log("agent.log", step), split=step.verify.agent_output)
            file = self.usage.file if self.usage.file.startswith("/") else f"{INSIDE}/{self.usage.file}"
            return ran, environment.read(file, USAGE_LIMIT)
        finally:
            environment.remove(INSIDE)

    def _install(self, environment: Environment, scene: Scene, env: tuple[tuple[str, str], ...]) -> None:
        command = Command(self.install, env=env, user="0:0", timeout=self.install_timeout)
        ran = environment.run(command, scene.log("install.log"))
        if ran.exit_code != 0:
            how = "ran out of time" if ran.timed_out else f"ended with exit status {ran.exit_code}"
            last = next((line for line in reversed(ran.output.splitlines()) if line.strip()), "")
            raise NotRunnableError(f"the agent `{self.name}` cannot be installed: `install` {how}; {last[:300]}")

    def _worked(self, ran: Ran, content: bytes | None, limit: float | None, *, first: bool) -> Worked:
        # In a later step it was there before, and the agent may have removed it.
        if first and ran.exit_code in (126, 127) and ran.output.startswith(_NOT_STARTED):
            said = ran.output.strip().splitlines()[0][:300]
            raise NotRunnableError(f"the program `{self.argv[0]}` of the agent `{self.name}` cannot be started: {said}")
        usage, problem = self.usage.read(content)
        usage = Usage(usage.model or self.model, usage.cost_usd, usage.input_tokens, usage.output_tokens)
        crashed = not ran.timed_out and ran.exit_code != 0
        said = next((line.strip() for line in reversed(ran.output.splitlines()) if line.strip()), "")
        return Worked(
            **{part.name: getattr(ran, part.name) for part in fields(Ran)},
            usage=usage,
            failure_class=FailureClass.AGENT_CRASH if crashed else None,
            evidence=f"the agent ended with exit status {ran.exit_code}: {said[:300]}" if crashed else "",
            limit=limit,
            notes=f"[scenlint: {problem}]" if problem else "",
        )

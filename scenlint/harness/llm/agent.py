"""The agent on scenlint's side: starts the model's process, runs its commands in the trial, and says how it ended."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from scenlint.harness.environment import Environment, Fault, InfrastructureError, Ran, StoppedError
from scenlint.harness.llm.process import Process
from scenlint.harness.scene import Scene
from scenlint.harness.secrets import environment_of, given
from scenlint.harness.worked import Usage, Worked
from scenlint.task.plan import Command, NotRunnableError, RunPlan, Step
from scenlint.task.record import FailureClass

INSTALL = "it needs `pip install 'scenlint[agents]'`"
START = 180.0  # seconds until the process has loaded its libraries
_LOOK = 'command -v bash || command -v sh; pwd; echo "$(uname -sm 2>/dev/null)"; echo "$(id -un 2>/dev/null)"'
_LONGEST = 100_000  # bytes of a command: the system takes no argument much longer than that


@dataclass(frozen=True)
class LlmAgent:
    """A model that is shown the brief and works by shell commands. Its key stays on this machine."""

    name: str
    model: str
    base_url: str = ""
    key_name: str = ""  # of the variable with the API key
    tools: bool = True
    temperature: float | None = None
    reply_tokens: int | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    max_steps: int = 100
    max_cost: float | None = None  # USD
    max_tokens: int | None = None
    price: tuple[float, float] | None = None  # USD per million tokens, in and out
    retries: int = 5
    request_timeout: float = 600.0
    command_timeout: float = 180.0
    pass_env: tuple[str, ...] = ()  # for the model's process, not for the task
    timeout: float | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self.pass_env, self.key_name) if self.key_name else self.pass_env

    @property
    def budget(self) -> dict[str, Any]:
        told = {
            "max_steps": self.max_steps, "max_cost_usd": self.max_cost, "max_tokens": self.max_tokens,
            "timeout_sec": self.timeout,
        }  # fmt: skip
        return {key: value for key, value in told.items() if value is not None}

    def check(self, plan: RunPlan) -> None:
        if plan.apps:
            raise NotRunnableError(
                f"the agent `{self.name}` works in a shell, and a task with apps has no container for it: use an agent "
                "with `command` and `on-host`"
            )
        given(self.name, self.secrets)
        if find_spec("minisweagent") is None or find_spec("litellm") is None:
            raise NotRunnableError(f"the agent `{self.name}` is a language model: {INSTALL}")

    def act(self, step: Step, environment: Environment, scene: Scene) -> Worked:
        limits = [t for t in (step.agent_timeout, self.timeout) if t is not None]
        session = _Session(self, step, environment, scene, min(limits, default=None))
        try:
            return session.run()
        except Fault as exc:
            exc.worked = session.worked(None)  # type: ignore[attr-defined]
            raise
        finally:
            session.process.close()

    def job(self, step: Step, seen: list[str], trajectory: str) -> dict[str, Any]:
        """What the process is told at first; all that it knows, the key included."""
        shell, folder, system, user = (*seen, "", "", "", "")[:4]
        return {
            "brief": step.brief.encode("utf-8", "replace").decode(),
            "shell": shell, "folder": folder, "system": system, "user": user,
            "model": self.model, "base_url": self.base_url,
            "key": os.environ.get(self.key_name, "") if self.key_name else "",
            "tools": self.tools, "temperature": self.temperature, "reply_tokens": self.reply_tokens,
            "parameters": dict(self.parameters), "price": self.price,
            "max_steps": self.max_steps, "max_cost": self.max_cost, "max_tokens": self.max_tokens,
            "retries": self.retries, "request_timeout": self.request_timeout, "trajectory": trajectory,
        }  # fmt: skip


class _Session:
    """One step's work of one agent."""

    def __init__(
        self, agent: LlmAgent, step: Step, environment: Environment, scene: Scene, limit: float | None
    ) -> None:
        self.agent, self.step, self.environment, self.scene, self.limit = agent, step, environment, scene, limit
        self.usage = Usage(agent.model)
        self.waiting = ""  # what the provider said, while the process waits before it tries again
        self.began = time.monotonic()
        self.log = scene.log("agent.log", step)
        env = environment_of(agent.name, agent.pass_env, {"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        env |= {"MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": str(scene.log("agent", step))}
        # -P: nothing beside the trial's files may pass for a module.
        argv = [sys.executable, "-P", "-m", "scenlint.harness.llm.worker"]
        self.process = Process(argv, env, self.log)

    def run(self) -> Worked:
        seen = self._look()
        self.process.send(self.agent.job(self.step, seen, str(self.scene.log("agent", self.step) / "trajectory.json")))
        ready = False
        while True:
            if self.scene.stop is not None and self.scene.stop.is_set():
                raise StoppedError("interrupted")
            late = time.monotonic() - self.began > (START if not ready else self.limit or float("inf"))
            if late and not ready:
                raise InfrastructureError(
                    f"the process of the agent `{self.agent.name}` did not begin within {START:.0f} s"
                )
            if late:
                return self._late()
            message = self.process.receive()
            if message is None:
                continue
            if not message and not ready:
                self.process.close()
                said = self.process.capture.text.strip().splitlines() or ["it says nothing"]
                raise NotRunnableError(f"the process of `{self.agent.name}` cannot begin: {said[-1][:300]}")
            if not message:  # its end, without a word
                return self._ended({"class": FailureClass.AGENT_CRASH, "evidence": "the agent's process ended"})
            self.waiting = message.get("waiting", "")
            if "ready" in message:
                ready, self.began = True, time.monotonic()
            elif "usage" in message:
                self.usage = Usage(self.agent.model, **message["usage"])
            elif "run" in message:
                self.process.send(self._execute(seen[0], message["run"]))
            elif "done" in message:
                return self._ended(message["done"])

    def _look(self) -> list[str]:
        """The shell, the working directory, the system and the user."""
        ran = self.environment.run(self._command(("sh", "-c", _LOOK), 60), None)
        seen = [line.strip() for line in ran.output.splitlines()]
        if ran.exit_code == 0 and seen and seen[0].startswith("/"):
            return seen
        if self.step is not self.scene.plan.steps[0]:  # it was there, and the agent may have removed it
            return ["sh"]
        raise NotRunnableError(f"the agent `{self.agent.name}` needs a shell, and the task's environment has none")

    def worked(self, exit_code: int | None, **more: Any) -> Worked:
        """How it went so far."""
        duration = time.monotonic() - self.began
        output = self.process.capture.text
        return Worked(exit_code, duration, output=output, log=self.log, usage=self.usage, limit=self.limit, **more)

    def _ended(self, told: dict[str, Any]) -> Worked:
        self.process.close()
        failure_class = FailureClass(told["class"]) if told.get("class") else None
        evidence = told.get("evidence", "")
        if failure_class is FailureClass.CONFIGURATION:
            raise NotRunnableError(f"the agent `{self.agent.name}`: {evidence}")
        crashed = failure_class is FailureClass.AGENT_CRASH
        answer = told.get("answer", "").encode("utf-8", "replace")
        return self.worked(1 if crashed else 0, stdout=answer, failure_class=failure_class, evidence=evidence)

    def _late(self) -> Worked:
        waiting = self.waiting
        self.process.close()
        if waiting:
            evidence = f"{waiting} (the agent's time ran out while it waited for the provider)"
            return self.worked(None, failure_class=FailureClass.PROVIDER, evidence=evidence)
        return self.worked(None, timed_out=True)

    def _execute(self, shell: str, command: str) -> dict[str, Any]:
        left = None if self.limit is None else max(self.limit - (time.monotonic() - self.began), 0.1)
        allowed = self.agent.command_timeout if left is None else min(self.agent.command_timeout, left)
        if "\0" in command:
            return _answer(Ran(None, 0.0), "the command holds a zero byte")
        if len(command.encode("utf-8", "replace")) > _LONGEST:
            return _answer(Ran(None, 0.0), f"the command is longer than {_LONGEST} bytes: do it in parts")
        command = command.encode("utf-8", "replace").decode()
        ran = self.environment.run(self._command((shell, "-c", command), allowed), None)
        problem = f"the command was stopped after {allowed:.0f} s" if ran.timed_out else ""
        return _answer(ran, problem)

    def _command(self, argv: tuple[str, ...], timeout: float) -> Command:
        return Command(argv, env=(("PAGER", "cat"),), user=self.step.agent_user, timeout=timeout)


def _answer(ran: Ran, problem: str) -> dict[str, Any]:
    code = -1 if ran.exit_code is None else ran.exit_code
    return {"output": ran.output, "returncode": code, "exception_info": problem}

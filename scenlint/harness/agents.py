"""Who acts in a trial: the oracle (reference solution), nop (nobody); any program and language models stand beside.

Optional attributes of an agent: `secrets`, names of this machine's variables whose values nothing that is kept may
show; `budget` (dict), its own limits, for the record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from scenlint.harness.command_agent import CommandAgent as CommandAgent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.scene import Scene
from scenlint.task.plan import SUBMISSION, Command, NotRunnableError, RunPlan, Step, Upload


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
        """Work on one step; how the agent's program ended (a Worked, if it told more), or None where there is none."""
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


def limited(command: Command, timeout: float | None) -> Command:
    """The command with the stricter of two time limits."""
    limits = [t for t in (command.timeout, timeout) if t is not None]
    return replace(command, timeout=min(limits, default=None))

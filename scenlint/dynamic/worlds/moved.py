"""What moves a world: variables and files for the programs of a trial, and proof inside it that they took effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from scenlint.dynamic.experiments import Context
from scenlint.harness.agents import Agent, OracleAgent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.replay import Replay
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, NotRunnableError, RunPlan, Step, Upload, Where

# What keeps variables from the programs that a verifier starts.
_BARE = re.compile(r"\benv\s+(?:-i\b|-\s|--ignore-environment)|\bsudo\s+(?!-E)|\bsu\s+-|exec\s+-c\b")
_ISOLATED = re.compile(r"python[\d.]*\"?'?\s+(?:-\w+\s+)*-\w*[IE]")
_SCRIPTS = (".sh", ".bash", ".py", ".toml", ".cfg", ".ini", "")
_READ = 200_000  # bytes of a script that are looked at
FOLDER = "/scenlint/world"  # in the environment, for what a world brings with it
Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Proof:
    """A command for the shell whose output shows that the world has moved; `wrong` says what is wrong, or ""."""

    script: str
    wrong: Callable[[str], str] = field(repr=False)

    def demand(self, environment: Environment, env: Variables) -> None:
        """NotRunnableError where nothing moved: such a trial shows nothing."""
        argv = enveloped(("sh", "-c", self.script), env)
        ran = environment.run(Command(argv, timeout=60), None, split=True)
        said = ran.stdout.decode("utf-8", "replace").strip()
        if ran.exit_code != 0:
            shown = (ran.output.strip().splitlines() or ["no output"])[-1][:300]
            raise NotRunnableError(f"it took no effect: `{self.script}` failed ({shown})")
        if wrong := self.wrong(said):
            raise NotRunnableError(f"it took no effect: {wrong}")


@dataclass(frozen=True)
class Proving:
    """An agent that acts only where the world has moved, and looks again where it was graded."""

    agent: Agent
    name: str
    proof: Proof | None = None
    env: Variables = field(default=(), repr=False)
    brought: tuple[Upload, ...] = field(default=(), repr=False)
    around: Callable[[Environment, Scene], None] | None = field(default=None, repr=False)  # looks at other containers

    def check(self, plan: RunPlan) -> None:
        self.agent.check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        for upload in self.brought:
            environment.upload(upload)
        if self.proof is not None and step.verify.where is not Where.SEPARATE:
            self.proof.demand(environment, self.env)
        if self.around is not None:
            self.around(environment, scene)
        return self.agent.act(step, environment, scene)

    def graded(self, step: Step, grader: Environment) -> None:
        """Looks where the verifier has run: its world must have moved."""
        if self.proof is not None and not step.verify.helper:  # a helper's judge runs no other program
            self.proof.demand(grader, self.env)


def actor(about: Context, name: str) -> tuple[Agent, str]:
    """Whose work is graded in a moved world: the frozen work of the oracle, or the oracle; and that in words."""
    if about.snapshot is not None and not about.no_replay:
        return Replay(f"world:{name}", about.snapshot), "graded what the reference solution had left"
    return OracleAgent(f"world:{name}"), "ran the reference solution and graded it"


def scripts(plan: RunPlan) -> Iterator[str]:
    """The texts of which a verifier's programs are made: its commands, and the scripts that are overlaid for it."""
    for step in plan.steps:
        yield from (" ".join(check.command.argv) for check in step.verify.checks)
        for upload in step.verify.overlay:
            files = [upload.source] if upload.source.is_file() else sorted(upload.source.rglob("*"))[:200]
            for file in files:
                if file.is_file() and not file.is_symlink() and file.suffix in _SCRIPTS:
                    with file.open("rb") as opened:
                        yield opened.read(_READ).decode("utf-8", "replace")


def out_of_reach(plan: RunPlan, *, python: bool = False) -> str:
    """Why variables do not reach the verifier's programs; "" where nothing speaks against it."""
    texts = list(scripts(plan))
    if any(_BARE.search(text) for text in texts):
        return "the verifier starts programs without its own variables (`env -i`, `sudo`), so nothing would be moved"
    if python and any(_ISOLATED.search(text) for text in texts):
        return "the verifier's Python takes no variables (`-I`); its hash seed is another one in every grading"
    return ""


def enveloped(argv: tuple[str, ...], env: Variables) -> tuple[str, ...]:
    """The program with these variables, set inside: a sandbox's own programs never see them."""
    return ("env", *(f"{key}={value}" for key, value in env), *argv) if env else argv


def graded_with(plan: RunPlan, env: Variables, brought: tuple[Upload, ...] = ()) -> RunPlan:
    """The plan with more variables and files for its verifier."""
    return replace(plan, steps=tuple(_graded(step, env, brought) for step in plan.steps))


def run_with(plan: RunPlan, env: Variables, brought: tuple[Upload, ...] = ()) -> RunPlan:
    """The plan with more variables and files for its oracle and its verifier."""
    return replace(plan, steps=tuple(_solved(_graded(step, env, brought), env, brought) for step in plan.steps))


def _graded(step: Step, env: Variables, brought: tuple[Upload, ...]) -> Step:
    verify = step.verify
    checks = tuple(replace(c, command=_with(c.command, env)) for c in verify.checks)
    return replace(step, verify=replace(verify, checks=checks, overlay=(*brought, *verify.overlay)))


def _solved(step: Step, env: Variables, brought: tuple[Upload, ...]) -> Step:
    oracle = step.oracle
    if oracle is None or oracle.command is None:
        return step
    command = _with(oracle.command, env)
    return replace(step, oracle=replace(oracle, command=command, uploads=(*brought, *oracle.uploads)))


def _with(command: Command, env: Variables) -> Command:
    return replace(command, argv=enveloped(command.argv, env))

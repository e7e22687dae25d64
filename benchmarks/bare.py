"""The commands of a RunPlan with the docker client alone: what its trial costs without any harness.

Only what single-container tasks need: no set-up of steps, no probes, no services.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from scenlint.task.plan import Command, Container, Image, Network, RunPlan, Step, Upload, Where

Images = Mapping[Image, str]  # of the agent's container and of separate verifiers: the engine's ids


def by_hand(plan: RunPlan, images: Images, solve: bool) -> list[float]:
    """Containers, copies and commands one after the other, as a person would; the reward of each step."""
    assert plan.container is not None
    rewards: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, Hand(plan.container, images, plan.network) as agent:
        for step in plan.steps:
            if (acting := _oracle(step)) and solve:
                agent.copy_in(*acting[0])
                agent.run(acting[1])
            if step.verify.where is Where.SEPARATE:
                assert step.verify.container is not None
                with Hand(step.verify.container, images, step.verify.network or plan.network) as grader:
                    for path in step.verify.artifacts:
                        grader.carry(agent, path, Path(scratch))
                    rewards.append(_grade(step, grader, Path(scratch)))
            else:
                if rewards:
                    agent.run(Command(("rm", "-rf", *_left_by_step(step)), user="0"))
                rewards.append(_grade(step, agent, Path(scratch)))
            if not _goes_on(step, rewards[-1]):
                break
    return rewards


def _grade(step: Step, grader: Hand, scratch: Path) -> float:
    grader.copy_in(*step.verify.overlay)
    for check in step.verify.checks:
        grader.run(check.command)
    return grader.reward(step.verify.verdict_paths[-1], scratch)


class Hand:
    """One container, driven by the docker client; removed at the end."""

    def __init__(self, wanted: Container, images: Images, network: Network) -> None:
        self.name = f"bare-{time.monotonic_ns()}"
        self.wanted = wanted
        self._create = ("--detach", "--init", f"--name={self.name}", *_flags(wanted, network), images[wanted.image])

    def __enter__(self) -> Hand:
        docker("run", *self._create, "sleep", "600")
        if self.wanted.folders:
            self.run(Command(("mkdir", "-p", "-m", "777", *self.wanted.folders), user="0"))
        return self

    def __exit__(self, *_: object) -> None:
        docker("rm", "--force", "--volumes", self.name)

    def copy_in(self, *uploads: Upload) -> None:
        for upload in uploads:
            docker(
                "cp", f"{upload.source}/." if upload.source.is_dir() else upload.source, f"{self.name}:{upload.target}"
            )

    def carry(self, other: Hand, path: str, scratch: Path) -> None:
        """Bring a path over from another container, if it is there."""
        held = scratch / "carried"
        if docker("cp", f"{other.name}:{path}", held, check=False):
            self.run(Command(("mkdir", "-p", str(PurePosixPath(path).parent)), user="0"))
            docker("cp", f"{held}/." if held.is_dir() else held, f"{self.name}:{path}")
            shutil.rmtree(held) if held.is_dir() else held.unlink()

    def run(self, command: Command) -> None:
        where = [f"--workdir={command.cwd}"] if command.cwd else []
        who = [f"--user={command.user}"] if command.user else []
        given = [f"--env={name}={value}" for name, value in command.env]
        docker("exec", *where, *who, *given, self.name, *command.argv, check=False)

    def reward(self, path: str, scratch: Path) -> float:
        docker("cp", f"{self.name}:{path}", scratch / "reward")
        return float((scratch / "reward").read_text())


def one_run(plan: RunPlan, images: Images, solve: bool) -> list[float]:
    """Everything of a container in a single `docker run`, files mounted; a separate verifier is a second one."""
    assert plan.container is not None
    separate = [step for step in plan.steps if step.verify.where is Where.SEPARATE]
    assert not separate or len(plan.steps) == 1, "artifacts of several steps cannot leave a single run"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        out.chmod(0o755)  # copied over `/`, it lends that its mode
        agent = Script(plan.container, out)
        for number, step in enumerate(plan.steps):
            if (acting := _oracle(step)) and solve:
                agent.add(acting[1], *acting[0])
            if separate:
                for path in step.verify.artifacts:
                    agent.lines.append(f"[ ! -e {path} ] || cp -a --parents {path} /out")
                agent.run(images, plan.network)
                assert step.verify.container is not None
                grader = Script(step.verify.container, out)
                grader.lines.append("cp -a /out/. /")
                grader.grade(step, number)
                grader.run(images, step.verify.network or plan.network)
            else:
                agent.grade(step, number)
        if not separate:
            agent.run(images, plan.network)
        return [float((out / f"reward-{n}").read_text()) for n in range(len(list(out.glob("reward-*"))))]


class Script:
    """What is to happen in one container, as one shell script."""

    def __init__(self, wanted: Container, out: Path) -> None:
        self.wanted = wanted
        self.mounts = [f"--volume={out}:/out"]
        self.lines = [f"mkdir -p -m 777 {' '.join(wanted.folders)}"]

    def add(self, command: Command, *uploads: Upload) -> None:
        for upload in uploads:
            place = f"/in/{len(self.mounts)}"
            self.mounts.append(f"--volume={upload.source}:{place}:ro")
            self.lines.append(f"rm -rf {upload.target} && cp -r {place} {upload.target}")
        given = [f"{name}={value}" for name, value in command.env]
        user = command.user
        become = [] if user in (None, "root") else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        self.lines.append(shlex.join([*become, "env", *given, *command.argv]))

    def grade(self, step: Step, number: int) -> None:
        for n, check in enumerate(step.verify.checks):
            self.add(check.command, *(() if n else step.verify.overlay))
        reward = step.verify.verdict_paths[-1]
        self.lines.append(f"mv {reward} /out/reward-{number}")
        if step.min_reward is not None:
            self.lines.append(f"awk '{{exit !($1 >= {step.min_reward})}}' /out/reward-{number} || exit 0")

    def run(self, images: Images, network: Network) -> None:
        flags = (*_flags(self.wanted, network), *self.mounts)
        docker("run", "--rm", *flags, images[self.wanted.image], "bash", "-c", "\n".join(self.lines), check=False)


def _oracle(step: Step) -> tuple[tuple[Upload, ...], Command] | None:
    if step.setup or step.uploads or step.probe:
        raise SystemExit("a step with a set-up or a health check is not for this benchmark")
    if step.oracle is None or step.oracle.command is None:
        return None
    command = step.oracle.command
    return step.oracle.uploads, replace(command, user=command.user or step.agent_user)


def _left_by_step(step: Step) -> list[str]:
    return [*(upload.target for upload in step.verify.overlay), *step.verify.verdict_paths]


def _goes_on(step: Step, reward: float) -> bool:
    return step.min_reward is None or reward >= step.min_reward


def _flags(wanted: Container, network: Network) -> list[str]:
    limits = wanted.limits
    return [
        f"--network={'bridge' if network is Network.PUBLIC else 'none'}",
        *([f"--cpus={limits.cpus:g}"] if limits.cpus else []),
        *([f"--memory={limits.memory_mb}m"] if limits.memory_mb else []),
        *([f"--workdir={wanted.workdir}"] if wanted.workdir else []),
        *([f"--user={wanted.user}"] if wanted.user else []),
        *(f"--env={name}={value}" for name, value in wanted.env),
    ]


def docker(*arguments: str | Path, check: bool = True) -> bool:
    """Run the docker client; whether it succeeded."""
    done = subprocess.run(["docker", *map(str, arguments)], capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"docker {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.returncode == 0

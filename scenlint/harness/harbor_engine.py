"""Harbor as the engine of a trial: `harbor run` on the task's folder with one of its agents, and the job read back."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol, runtime_checkable

from scenlint.harness.capture import DRAIN, TICK, Capture, take
from scenlint.harness.environment import Environment, Fault, InfrastructureError, Ran, StoppedError
from scenlint.harness.scene import Scene
from scenlint.harness.secrets import environment_of, given
from scenlint.imports import read
from scenlint.task.plan import NotRunnableError, RunPlan, Step
from scenlint.task.record import TrialRecord

VARIABLE = "SCENLINT_HARBOR"
GRACE = 60.0  # seconds to tear its containers down after it was told to end
_JOB = "job"
_ERROR = re.compile(r"(?:[\w.]*(?:Error|Exception)|Usage|error)\b:? ?")


@runtime_checkable
class Elsewhere(Protocol):
    """An agent whose trials another harness runs whole, from the environment to the verdict."""

    def trial(self, scene: Scene) -> tuple[TrialRecord, Ran]:
        """What it recorded, and how its program ended; a Fault where it recorded nothing."""
        ...


@dataclass(frozen=True)
class HarborAgent:
    """An agent of Harbor's, by name or import path."""

    name: str
    agent: str
    model: str = ""
    arguments: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()  # variables that tasks may ask for, as far as they are set

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self.pass_env, *self.offered)

    def check(self, plan: RunPlan) -> None:
        if plan.format != "harbor":
            raise NotRunnableError(f"`{self.name}` runs tasks of the format harbor; this one is {plan.format}")
        program()
        given(self.name, self.pass_env)
        _added(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        raise NotRunnableError(f"`{self.name}` runs whole trials and works in no environment of scenlint's")

    def trial(self, scene: Scene) -> tuple[TrialRecord, Ran]:
        jobs = scene.folder.absolute() / "harbor"
        if jobs.exists():
            rmtree(jobs)  # a trial that was killed left it
        argv = [
            *(program(), "run", "--path", str(scene.plan.folder.absolute()), "--agent", self.agent),
            *(("--model", self.model) if self.model else ()),
            *("--jobs-dir", str(jobs), "--job-name", _JOB, "--n-attempts", "1", "--n-concurrent", "1"),
            *("--quiet", "--yes"),
            *(("--extra-instruction", added) if (added := _added(scene.plan)) else ()),
            *self.arguments,
        ]
        offered = [name for name in self.offered if name in os.environ]
        env = environment_of(self.name, (*self.pass_env, *offered), {"HARBOR_TELEMETRY": "off"})
        ran = _run(argv, scene, env, jobs / _JOB)
        found = read(jobs)
        if len(found.records) == 1:
            return found.records[0], ran
        why = "; ".join(p.text for p in found.problems) or _last_words(ran.output)
        number = len(found.records) or "no"
        raise InfrastructureError(f"harbor recorded {number} trials (exit status {ran.exit_code}): {why}")


def _last_words(output: str) -> str:
    """The error at the end of what Harbor printed, out of the box that it draws around it."""
    lines = [line.strip(" │╭╮╰╯─") for line in output.splitlines()]
    said = [line for line in lines if line] or ["it said nothing"]
    begins = next((n for n in reversed(range(len(said))) if _ERROR.match(said[n])), len(said) - 1)
    return " ".join(said[begins:])[:500]


def program() -> str:
    """Harbor's program: as SCENLINT_HARBOR names it, else on PATH; NotRunnableError where there is none."""
    named = os.environ.get(VARIABLE, "")
    found = shutil.which(named or "harbor")
    if found is None:
        where = f"{VARIABLE} names `{named}`, which is no program" if named else "there is no `harbor` on PATH"
        raise NotRunnableError(
            f"{where}: install Harbor (`pip install harbor`, in an environment of its own), or let {VARIABLE} name it"
        )
    return found


def _added(plan: RunPlan) -> str:
    """What this trial's brief says beyond the task's own file, which is what Harbor reads."""
    added = set()
    for step in plan.steps:
        path = plan.folder / "steps" / step.name / "instruction.md" if step.name else plan.folder / "instruction.md"
        try:
            own = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if not step.brief.strip().startswith(own):
            raise NotRunnableError("Harbor runs a task as it lies there, and this trial has another brief")
        added.add(step.brief.strip()[len(own) :].strip())
    if len(added) > 1:
        raise NotRunnableError("Harbor adds the same words to every step's brief, and this trial has different ones")
    return "".join(added)


def _run(argv: list[str], scene: Scene, env: dict[str, str], job: Path) -> Ran:
    """Run it to its end. If the user stops, it is told so first, as it has containers to remove."""
    log = scene.folder / "harbor.log"
    capture, began = Capture(log), time.monotonic()
    try:
        process = subprocess.Popen(
            argv, env=env, cwd=scene.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except OSError as exc:
        capture.close()
        raise InfrastructureError(f"`{argv[0]}` could not be started: {exc.strerror}") from exc
    pump = take(process.stdout, capture, 1)
    try:
        while process.poll() is None:
            if scene.stop is not None and scene.stop.is_set():
                raise StoppedError("interrupted")
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK)
    finally:
        ended = process.returncode is not None
        if not ended:
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pump.join(DRAIN)
        capture.close()
        if not ended:
            with suppress(Fault):
                _clear(job)
    return capture.ran(process.returncode, time.monotonic() - began, log)


def _clear(job: Path) -> None:
    """Remove the compose projects that a job which had to be killed left; their names begin with its trials' names."""
    from scenlint.harness.engine import connect, faults
    from scenlint.harness.reap import remove_container

    label = "com.docker.compose.project"
    mine = tuple(re.sub(r"[^a-z0-9_-]", "-", path.name.lower()) for path in job.glob("*__*") if path.is_dir())
    if not mine:
        return
    engine = connect()
    with faults("removing what harbor left"):
        for item in engine.api.containers(all=True, filters={"label": label}):
            if _project(item, label).startswith(mine):
                remove_container(engine, item["Id"])
        for item in engine.api.networks(filters={"label": label}):
            if _project(item, label).startswith(mine):
                engine.api.remove_network(item["Id"])


def _project(item: dict[str, Any], label: str) -> str:
    return str((item.get("Labels") or {}).get(label, ""))

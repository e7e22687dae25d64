"""Compose projects: one of its containers is the agent's, the others are around it; all of it is the trial's own."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from scenlint.harness import compose_client, compose_model, images
from scenlint.harness.capture import run_process
from scenlint.harness.compose_model import Model, Terms, adapt, escaped, image_of
from scenlint.harness.container import ContainerEnvironment, place
from scenlint.harness.engine import Engine, connect, faults
from scenlint.harness.environment import Fault, FaultTimeoutError, Ran, StoppedError
from scenlint.harness.images import Ready
from scenlint.harness.probe import await_ready
from scenlint.harness.reap import reap
from scenlint.harness.scene import Prepared, Scene
from scenlint.harness.single import KEEP_ALIVE, SETTLE
from scenlint.task.plan import Container, Image, Network, NotRunnableError

START = 600.0  # seconds in which a project must have started, where nothing else is stated
_PLACEHOLDER = "scenlint.invalid/none"
_HEALTH_INTERVAL = 0.5


@dataclass(frozen=True)
class Project(Prepared):
    """A project whose images are there."""

    model: Model = field(default_factory=dict)
    images: Mapping[str, Ready] = field(default_factory=dict)  # by service

    @property
    def ids(self) -> dict[str, str]:
        return {service: ready.id for service, ready in self.images.items()}


class ComposeEnvironment(ContainerEnvironment):
    """The agent's container of a project; `service` gives the others."""

    project = ""
    images: Mapping[str, Ready] = MappingProxyType({})  # by service

    def service(self, name: str) -> ContainerEnvironment:
        """The container of another service, for as long as the project lives."""
        found = containers(self.engine, self.project, name)
        if not found:
            raise Fault(f"the compose file has no service `{name}` whose container is there")
        return self._beside(found[0])

    def others(self) -> dict[str, ContainerEnvironment]:
        """The running containers of the other services, by name."""
        own = f"{self.project}-"
        names = [n for n in containers(self.engine, self.project, running=True) if n != self.name]
        return {name.removeprefix(own): self._beside(name) for name in names}

    def _beside(self, name: str) -> ContainerEnvironment:
        return ContainerEnvironment(self.engine, name, self.image, stop=self._stop, close=lambda: None)


# What the harness calls


def prepare(scene: Scene) -> Project:
    """The project as it will be started, judged, with all images pulled or built."""
    plan = scene.plan.compose
    assert plan is not None
    engine = connect()
    engine.check_disk(scene.options.min_free_mb, scene.folder)
    files = list(plan.files)
    if plan.container is not None:
        files.insert(0, _base(scene, plan.main, plan.container))
    given = {"trial": f"scenlint-{scene.trial}", "logs": str(_logs(scene))}
    env = {key: re.sub(r"\{(trial|logs)\}", lambda found: given[found[1]], value) for key, value in plan.env}
    model = config(engine, scene, files, plan.folder, env)
    if plan.main not in (model.get("services") or {}):
        raise NotRunnableError(f"the compose file has no service `{plan.main}`, in which the agent works")
    for name, path in (artifact for step in scene.plan.steps for artifact in step.verify.service_artifacts):
        if name not in model["services"]:
            raise NotRunnableError(f"the compose file has no service `{name}`, which is to hand over `{path}`")
    compose_model.check(model, plan.folder, scene.options, _logs(scene))
    instead = plan.container.image if plan.container else None
    timeout = _timeout(plan.container)
    ready = prepare_images(engine, scene, model, instead=instead, timeout=timeout, anew=plan.anew)
    return prepared(model, ready, plan.main)


def start(scene: Scene, made: Project) -> ComposeEnvironment:
    """Start the project and hand over the agent's container. Where that fails nothing stays behind."""
    plan = scene.plan.compose
    assert plan is not None
    engine, project, container = connect(), project_name(scene.trial), plan.container
    terms = Terms(
        engine.labels(scene.options, scene.trial),
        scene.options.limits,
        float(engine.info.get("NCPU") or 1),
        scene.plan.network is Network.PUBLIC,
        _logs(scene),
        main=plan.main,
        container=container,
        others=scene.plan.others,
    )
    timeout = _timeout(container)
    try:
        up(engine, scene, project, adapt(made.model, made.ids, terms), plan.folder, timeout)
        await_health(engine, scene, project, timeout)
        found = containers(engine, project, plan.main)
        if not found:
            raise Fault(f"the service `{plan.main}` of the compose file has no container")
        out = ComposeEnvironment(
            engine, found[0], made.images[plan.main].id, stop=scene.stop, close=lambda: discard(engine, scene)
        )
        out.project, out.images = project, made.images
        out.notes += terms.notes
        out.storage_mb = (container.limits.storage_mb if container else None) or scene.options.limits.storage_mb
        out.settle(SETTLE)
        out.folders((*terms.folders, *(container.folders if container else ())))
        if container and container.probe:
            await_ready(out, container.probe, scene.stop)
    except BaseException:
        discard(engine, scene)
        raise
    return out


def _base(scene: Scene, main: str, container: Container) -> Path:
    """What holds for the agent's service unless the task's files say otherwise: the first file to be merged."""
    service = {
        "image": _PLACEHOLDER,
        "command": [escaped(word) for word in container.command or KEEP_ALIVE],
        "working_dir": container.workdir,
        "user": container.user,
    }
    file = scene.log("compose-base.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    stated = {key: value for key, value in service.items() if value is not None}
    file.write_text(json.dumps({"services": {main: stated}}), "utf-8")
    return file


def _logs(scene: Scene) -> Path:
    """The folder for logs that files may name; it stays empty, as it is not mounted."""
    return scene.folder.resolve() / "compose-logs"


def _timeout(container: Container | None) -> float:
    return container.build_timeout if container else START


# Projects, for whoever starts one


def project_name(name: str) -> str:
    """A name fit for a project, which takes small letters only."""
    return f"scenlint-{re.sub(r'[^a-z0-9_-]+', '-', name.lower())}"


def config(engine: Engine, scene: Scene, files: Sequence[Path], folder: Path, env: Mapping[str, str]) -> Model:
    """Files of a project, merged and with all variables put in."""
    argv = [*compose_client.program(), "--project-name", "scenlint", "--project-directory", str(folder)]
    for file in files:
        argv += ["--file", str(file)]
    argv += ["config", "--format", "json"]
    ran = run_process(
        argv, None, env=compose_client.variables(engine, env), cwd=folder, timeout=60, split=True, stop=scene.stop
    )
    if ran.exit_code != 0:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NotRunnableError(f"the compose file cannot be used: {said[-1] if said else 'compose did not say why'}")
    model = json.loads(ran.stdout)
    return dict(model) if isinstance(model, dict) else {}


def prepare_images(
    engine: Engine,
    scene: Scene,
    model: Model,
    *,
    instead: Image | None = None,
    timeout: float = START,
    name: str = "",
    anew: bool = False,
) -> dict[str, Ready]:
    """The image of each service, pulled or built where it is not there yet."""
    out: dict[str, Ready] = {}
    for service, settings in (model.get("services") or {}).items():
        place = f"{name}{service}"
        image = image_of(settings, _PLACEHOLDER, instead, scene.log(f"{place}.Dockerfile"))
        if image.reference == _PLACEHOLDER or not (image.reference or image.build):
            raise NotRunnableError(f"the service `{service}` of the compose file has neither `image` nor `build`")
        if anew and image.build is not None:
            image = replace(image, build=replace(image.build, anew=True))
        out[service] = images.prepare(
            engine, image, scene.options, timeout=timeout, log=scene.log(f"build-{place}.log"), stop=scene.stop
        )
    return out


def prepared(model: Model, ready: Mapping[str, Ready], main: str) -> Project:
    """With what the record says of the images."""
    substitutes = dict.fromkeys(text for one in ready.values() if (text := one.substitute))
    logs = [f"{service}: {one.log}" for service, one in ready.items() if one.log]
    return Project(ready[main].reference, ready[main].digest, "; ".join(substitutes), "\n".join(logs), model, ready)


def up(engine: Engine, scene: Scene, project: str, model: Model, folder: Path, timeout: float) -> None:
    """Start a project; the file it is started from stays in the trial's folder."""
    file = scene.log(f"{project}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(model, indent=1), "utf-8")
    argv = [
        *compose_client.program(),
        "--project-name",
        project,
        "--project-directory",
        str(folder),
        "--file",
        str(file),
    ]
    argv += ["--progress", "plain"]
    log, env = scene.log(f"{project}.log"), compose_client.variables(engine, {})
    others = scene.plan.others
    if others.files or others.texts:
        argv_create = [*argv, "create", "--no-build", "--pull", "never"]
        ran = run_process(argv_create, log, env=env, cwd=folder, timeout=timeout, stop=scene.stop)
        _started(ran, timeout)
        own = containers(engine, project, scene.plan.compose.main) if scene.plan.compose else []
        for name in containers(engine, project):
            if name not in own:
                place(engine, name, others)
    argv += ["up", "--detach", "--no-build", "--pull", "never", "--remove-orphans"]
    _started(run_process(argv, log, env=env, cwd=folder, timeout=timeout, stop=scene.stop), timeout)


def _started(ran: Ran, timeout: float) -> None:
    if ran.timed_out:
        raise FaultTimeoutError(f"starting the compose project took longer than {timeout:.0f} s\n{_end(ran.output)}")
    if ran.exit_code != 0:
        last = ran.output.strip().splitlines()
        raise Fault(f"the compose project did not start: {last[-1] if last else ''}\n{_end(ran.output)}")


def await_health(engine: Engine, scene: Scene, project: str, timeout: float) -> None:
    """Wait for all services that say when they are healthy; a Fault if one says that it is not."""
    deadline = time.monotonic() + timeout
    for name in containers(engine, project):
        while (state := _health(engine, name)) == "starting":
            if time.monotonic() > deadline:
                raise FaultTimeoutError(f"the container `{name}` was not healthy after {timeout:.0f} s")
            if scene.stop is not None and scene.stop.wait(_HEALTH_INTERVAL):
                raise StoppedError("interrupted")
            if scene.stop is None:
                time.sleep(_HEALTH_INTERVAL)
        if state:
            raise Fault(f"the container `{name}` is not healthy: {state}")


def _health(engine: Engine, name: str) -> str:
    """`starting`, "" for healthy (or ended, or without a check), or what a failed check said."""
    with faults(f"asking for the health of `{name}`"):
        state = engine.api.inspect_container(name)["State"]
    health = state.get("Health") or {}
    if not state["Running"] or health.get("Status") in (None, "none", "healthy"):
        return ""
    if health["Status"] == "starting":
        return "starting"
    last = (health.get("Log") or [{}])[-1]
    return str(last.get("Output") or "").strip()[-500:] or f"exit status {last.get('ExitCode')}"


def containers(engine: Engine, project: str, service: str = "", *, running: bool = False) -> list[str]:
    """The names of a project's containers, or of one service's."""
    wanted = [f"com.docker.compose.project={project}"]
    if service:
        wanted.append(f"com.docker.compose.service={service}")
    with faults("looking for the project's containers"):
        found = engine.api.containers(all=not running, filters={"label": wanted})
    return sorted(item["Names"][0].lstrip("/") for item in found)


def discard(engine: Engine, scene: Scene) -> None:
    """Remove everything of the trial, whatever its state. What a client that was cut off asked for may still come."""
    for _ in range(5):
        gone = reap(engine, run=scene.options.run, trial=scene.trial)
        if gone.failed:
            raise Fault("; ".join(gone.failed))
        if not gone:
            return


def _end(said: str, lines: int = 15) -> str:
    return "\n".join(said.rstrip().splitlines()[-lines:])

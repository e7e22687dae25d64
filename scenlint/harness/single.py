"""The simplest environment: one container from one image, with every limit that the engine can hold."""

from __future__ import annotations

from typing import Any

from scenlint.harness import images
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.engine import Engine, EngineError, connect, faults
from scenlint.harness.environment import Fault
from scenlint.harness.images import Ready
from scenlint.harness.probe import await_ready
from scenlint.harness.scene import Scene
from scenlint.task import plan
from scenlint.task.plan import Network

# Keeps a container alive. As PID 1 it takes no signal from inside, reaps what is orphaned, and needs only a shell;
# where `sleep` is missing it waits for input that never comes.
KEEP_ALIVE = (
    "sh",
    "-c",
    "while command -v sleep >/dev/null; do sleep 86400 & wait $!; done; while read -r _; do :; done",
)
# A container's own program gets this long before anything else runs in it: what starts later counts as started by
# whatever is running then, and a program that cannot start has ended by then.
SETTLE = 0.3


def prepare(scene: Scene) -> Ready:
    """The image of the agent's container, built if it is not there yet."""
    assert scene.plan.container is not None
    return prepare_image(scene, scene.plan.container, "build.log")


def prepare_image(scene: Scene, wanted: plan.Container, log: str) -> Ready:
    engine = connect()
    engine.check_disk(scene.options.min_free_mb, scene.folder)
    return images.prepare(
        engine, wanted.image, scene.options, timeout=wanted.build_timeout, log=scene.log(log), stop=scene.stop
    )


def start(scene: Scene, image: Ready) -> ContainerEnvironment:
    """The agent's container."""
    assert scene.plan.container is not None
    return launch(scene, scene.plan.container, image, f"scenlint-{scene.trial}", scene.plan.network)


def launch(scene: Scene, wanted: plan.Container, image: Ready, name: str, network: Network) -> ContainerEnvironment:
    """Create and start a container. Where that fails nothing stays behind."""
    engine = connect()
    environment = ContainerEnvironment(engine, name, image.id, stop=scene.stop)
    environment.network = network
    try:
        try:
            with faults(f"creating the container `{name}`"):
                environment.notes += _create(environment, wanted, image, scene)
        except Fault as exc:
            # What the engine refused to make was not made, and the name may be another's.
            environment.closed = not isinstance(exc, EngineError)
            raise
        try:
            with faults(f"starting the container `{name}`"):
                engine.api.start(name)
        except Fault as exc:
            if "executable file not found" in str(exc) and wanted.command is None:
                raise Fault(
                    f"the image `{image.reference}` cannot be kept alive: it has no `sh` ({exc}); install a shell in it"
                ) from exc
            raise
        environment.storage_mb = wanted.limits.storage_mb or scene.options.limits.storage_mb
        if wanted.command is not None or _has_entrypoint(engine, image):
            environment.settle(SETTLE)
        environment.folders(wanted.folders)
        if wanted.probe is not None:
            await_ready(environment, wanted.probe, scene.stop)
    except BaseException:
        environment.close()
        raise
    return environment


def switch(scene: Scene, environment: ContainerEnvironment, wanted: Network) -> None:
    """Give a running container another network."""
    api, name = environment.engine.api, environment.name
    with faults(f"changing the network of the container `{name}`"):
        for old in api.inspect_container(name)["NetworkSettings"]["Networks"]:
            api.disconnect_container_from_network(name, old, force=True)
    if wanted is Network.PUBLIC:
        network = environment.engine.public_network(scene.options)
        with faults(f"connecting the container `{name}` to a network"):
            api.connect_container_to_network(name, network)
    environment.network = wanted


def _create(environment: ContainerEnvironment, wanted: plan.Container, image: Ready, scene: Scene) -> list[str]:
    """Create it with every limit that the engine can hold; notes on those it cannot."""
    import docker.errors

    engine = environment.engine
    public = environment.network is Network.PUBLIC
    notes = []
    limits, default = wanted.limits, scene.options.limits
    cpus, there = limits.cpus or default.cpus, engine.info.get("NCPU") or 1
    if cpus and cpus > there:
        notes.append(f"{cpus:g} CPUs are asked for, {there} are there")
        cpus = float(there)
    memory = limits.memory_mb or default.memory_mb
    host: dict[str, Any] = {
        "network_mode": engine.public_network(scene.options) if public else "none",
        "pids_limit": limits.pids or default.pids,
        "nano_cpus": int(cpus * 1e9) if cpus else None,
        "cpuset_cpus": "0" if limits.one_cpu else None,
        "mem_limit": f"{memory}m" if memory else None,
        "memswap_limit": f"{memory}m" if memory else None,
        "init": wanted.command is not None,
        # Everything in the container may write to PID 1's output.
        "log_config": {"type": "json-file", "config": {"max-size": "10m", "max-file": "1"}},
    }
    storage = limits.storage_mb or default.storage_mb
    if storage and _limits_storage(engine):
        host["storage_opt"] = {"size": f"{storage}M"}
    arguments: dict[str, Any] = {
        "name": environment.name,
        "command": list(wanted.command or KEEP_ALIVE),
        "environment": [f"{k}={v}" for k, v in wanted.env],
        "user": wanted.user,
        "working_dir": wanted.workdir,
        "labels": engine.labels(scene.options, scene.trial),
        "stdin_open": wanted.command is None,
        "stop_signal": "SIGKILL",  # an engine that restarts stops what it finds running, and waits for it
    }
    api = engine.api
    try:
        api.create_container(image.id, **arguments, host_config=api.create_host_config(**host))
    except docker.errors.APIError:
        if host.pop("storage_opt", None) is None:
            raise
        api.create_container(image.id, **arguments, host_config=api.create_host_config(**host))
    return notes


def _has_entrypoint(engine: Engine, image: Ready) -> bool:
    with faults(f"looking at the image `{image.reference}`"):
        return bool((engine.api.inspect_image(image.id).get("Config") or {}).get("Entrypoint"))


def _limits_storage(engine: Engine) -> bool:
    backing = {key: value for key, value, *_ in engine.info.get("DriverStatus") or () if key}.get("Backing Filesystem")
    driver = engine.info.get("Driver")
    return driver in ("btrfs", "zfs", "devicemapper") or (driver in ("overlay2", "overlay") and backing == "xfs")

"""Removes what runs left behind: containers, networks, volumes and images, by label and in every state."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from scenlint.harness.engine import CACHE_LABEL, LABEL, Engine, faults, moment
from scenlint.harness.environment import Fault
from scenlint.harness.ownership import alive


@dataclass
class Reaped:
    """What was removed, by kind, and what could not be removed and why."""

    containers: list[str] = field(default_factory=list)
    networks: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any((self.containers, self.networks, self.volumes, self.images, self.failed))


def reap(
    engine: Engine,
    *,
    run: str | None = None,
    older_than: float | None = None,
    trial: str = "",
    dry_run: bool = False,
) -> Reaped:
    """Remove what runs left, by label and in every state: containers, then networks and volumes.

    With `run` only that run's things (and of these only `trial`'s, if named); otherwise those whose process is gone,
    and with `older_than` (seconds) also older ones, whoever made them. `dry_run` only tells what would be removed.
    """
    wanted = {"label": [f"{LABEL}={run}" if run else LABEL, *([f"scenlint.trial={trial}"] if trial else [])]}
    out, api, now = Reaped(), engine.api, time.time()

    def due(labels: Mapping[str, str], made: float) -> bool:
        if run:
            return True
        return alive(labels) is False or (older_than is not None and now - made > older_than)

    def remove(done: list[str], name: str, how: Callable[[], None]) -> None:
        done.append(name) if dry_run else _remove(out, done, name, how)

    with faults("looking for what earlier runs left"):
        containers = api.containers(all=True, filters=wanted)
        networks = api.networks(filters=wanted)
        volumes = api.volumes(filters=wanted).get("Volumes") or []
    for item in containers:
        if due(item["Labels"], item["Created"]):
            name = item["Names"][0].lstrip("/") if item.get("Names") else item["Id"][:12]
            remove(out.containers, name, partial(remove_container, engine, item["Id"]))
    for item in networks:
        if due(item.get("Labels") or {}, moment(item.get("Created"))):
            remove(out.networks, item["Name"], partial(api.remove_network, item["Id"]))
    for item in volumes:
        if due(item.get("Labels") or {}, moment(item.get("CreatedAt"))):
            remove(out.volumes, item["Name"], partial(api.remove_volume, item["Name"], force=True))
    return out


def remove_images(engine: Engine, names: Collection[str] | None = None, *, dry_run: bool = False) -> Reaped:
    """Remove the images that were built for tasks (or those named); one that a container uses stays."""
    out = Reaped()
    with faults("looking for images built for tasks"):
        built = engine.api.images(filters={"label": CACHE_LABEL})
    for item in built:
        tags = [tag.removesuffix(":latest") for tag in item.get("RepoTags") or ()] or [item["Id"]]
        for tag in tags:
            if names is None or tag in names:
                out.images.append(tag) if dry_run else _remove(
                    out, out.images, tag, partial(engine.api.remove_image, tag)
                )
    return out


def remove_container(engine: Engine, name: str) -> None:
    """Kill and remove a container with its anonymous volumes, whatever its state; none there is fine."""
    import docker.errors

    for attempt in range(5):
        try:
            engine.api.remove_container(name, force=True, v=True)
            return
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as exc:
            # Someone else is removing it, or a mount is still busy: both pass.
            if attempt == 4 or not any(w in str(exc) for w in ("in progress", "busy", "is paused")):
                raise
            time.sleep(0.2 * 2**attempt)


def _remove(out: Reaped, done: list[str], name: str, remove: Callable[[], None]) -> None:
    import docker.errors

    for attempt in range(3):
        try:
            with faults(f"removing `{name}`"):
                remove()
            done.append(name)
            return
        except Fault as exc:
            if isinstance(exc.__cause__, docker.errors.NotFound):
                return
            # A network is only free a moment after its last container has gone.
            if attempt == 2 or "active endpoints" not in str(exc):
                out.failed.append(str(exc))
                return
            time.sleep(0.3)

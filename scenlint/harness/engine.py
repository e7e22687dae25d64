"""The container engine: how it is reached, what a site decides about trials, and what its faults mean."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from scenlint.harness.environment import Fault, InfrastructureError
from scenlint.harness.ownership import owner
from scenlint.task.plan import Limits

LABEL = "scenlint.run"
CACHE_LABEL = "scenlint.image"  # on images built from tasks, which outlive their run
REPLY_TIMEOUT = 120  # seconds that the engine may take for one answer
DEFAULT_LIMITS = Limits(cpus=None, memory_mb=4096, storage_mb=10 * 1024, pids=1024)


@dataclass(frozen=True)
class Options:
    """What a site or a user decides about trials, whatever the task."""

    run: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    substitutes: Mapping[str, str] = field(default_factory=dict)  # pinned reference -> local image
    allow_unsafe: frozenset[str] = frozenset()
    build_network: str | None = None  # of image builds: None is the engine's default
    limits: Limits = DEFAULT_LIMITS  # where the task states none
    min_free_mb: int = 1024  # less free disk than this is a fault before a trial starts
    cluster: str = ""  # address of a Dask scheduler, whose workers then run the trials


class EngineError(InfrastructureError):
    """The engine cannot be reached or has no room to work. What it answers with an error is a plain Fault."""


class Engine:
    """A reachable engine. `api` is the docker SDK's low-level client, one for each thread."""

    def __init__(self, url: str, tls: Any = None) -> None:
        self.url = url
        self.tls = tls
        self._threads = threading.local()
        self._lock = threading.Lock()
        # Negotiated once: each further client then needs no round trip.
        self.version = str(self._client("auto", timeout=10).api_version)

    def _client(self, version: str, timeout: int = REPLY_TIMEOUT) -> Any:
        import docker

        return docker.APIClient(base_url=self.url, version=version, timeout=timeout, tls=self.tls or False)

    @property
    def api(self) -> Any:
        if not hasattr(self._threads, "api"):
            self._threads.api = self._client(self.version)
        return self._threads.api

    @cached_property
    def info(self) -> dict[str, Any]:
        with faults("asking the engine about itself"):
            return dict(self.api.info())

    @property
    def name(self) -> str:
        """For people: which engine this is."""
        with faults("asking the engine for its version"):
            told = self.api.version()
        kind = next((c["Name"] for c in told.get("Components", ()) if "podman" in c["Name"].lower()), "Docker")
        return f"{kind.removesuffix(' Engine')} {told.get('Version', '?')}"

    @cached_property
    def storage(self) -> Path | None:
        """Where the engine keeps its data, if that is on this machine."""
        root = Path(self.info.get("DockerRootDir") or "/nonexistent")
        return root if self.url.startswith("unix:") and root.is_dir() else None

    def free_mb(self, folder: Path | None = None) -> int | None:
        """Free disk where the engine keeps its data (and at `folder`), as far as it can be seen from here."""
        seen = [shutil.disk_usage(p).free for p in (self.storage, folder) if p is not None and p.exists()]
        return min(seen) // 1024**2 if seen else None

    def check_disk(self, needed_mb: int, folder: Path | None = None) -> None:
        """A full disk must never look like a score, so it is found before a trial starts."""
        free = self.free_mb(folder)
        if free is not None and free < needed_mb:
            raise EngineError(
                f"only {free} MB of disk are free, a trial needs {needed_mb} MB: "
                "make room, for example with `scenlint clean`"
            )

    def labels(self, options: Options, trial: str) -> dict[str, str]:
        """What everything made for a trial carries."""
        return {LABEL: options.run, "scenlint.trial": trial, **owner()}

    def public_network(self, options: Options) -> str:
        """The run's network with a way out, on which containers do not reach each other; lasts as long as the run."""
        name = f"scenlint-{options.run}"
        with self._lock, faults("making a network"):
            if name not in {found["Name"] for found in self.api.networks(names=[name])}:
                self.api.create_network(
                    name,
                    driver="bridge",
                    labels=self.labels(options, ""),
                    options={"com.docker.network.bridge.enable_icc": "false"},
                )
        return name


@contextmanager
def faults(doing: str) -> Iterator[None]:
    """Turns what the SDK raises into a Fault that says what was being done."""
    import docker.errors
    import urllib3

    try:
        yield
    except docker.errors.APIError as exc:
        raise Fault(f"{doing}: {explanation(exc)}") from exc
    except (docker.errors.DockerException, urllib3.exceptions.HTTPError, OSError) as exc:
        raise EngineError(f"{doing}: the engine did not answer ({exc})") from exc


def explanation(error: Any) -> str:
    """What the engine itself said, without the SDK's wrapping."""
    said = error.explanation
    if isinstance(said, bytes):
        said = said.decode("utf-8", "replace")
    with suppress(ValueError, TypeError, KeyError):
        said = json.loads(said)["message"]
    return str(said or error).strip()


def connect() -> Engine:
    """The engine that DOCKER_HOST, the current context or a usual socket names; an EngineError says what was tried."""
    # Whoever changes these in the environment gets another engine.
    return _connect(os.environ.get("DOCKER_HOST"), os.environ.get("DOCKER_CONTEXT"))


@lru_cache
def _connect(host: str | None, context: str | None) -> Engine:
    import docker.errors

    tried = []
    for url, tls in _candidates(host, context):
        try:
            return Engine(url, tls)
        except (docker.errors.DockerException, OSError, ValueError) as exc:
            refused = "Permission denied" in str(exc)
            tried.append(f"{url} ({'permission denied' if refused else 'no answer'})")
    denied = any("permission" in t for t in tried)
    advice = (
        "add yourself to the group `docker`, or set DOCKER_HOST to a socket of yours"
        if denied
        else "start Docker (or `podman system service`), or set DOCKER_HOST"
    )
    raise EngineError(f"no container engine answers; tried {', '.join(tried)}. What to do: {advice}")


def _candidates(host: str | None, context: str | None) -> Iterator[tuple[str, Any]]:
    from docker.context import ContextAPI
    from docker.utils import kwargs_from_env

    if host:
        given = kwargs_from_env()
        yield given.get("base_url", host), given.get("tls")
        return
    current = None
    with suppress(Exception):  # a broken ~/.docker must not hide a socket that works
        current = ContextAPI.get_context(context) if context else ContextAPI.get_current_context()
    if current is not None and current.Host:
        yield current.Host, current.TLSConfig
        if current.Name != "default":
            return
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    for path in (
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        str(Path.home() / ".docker/run/docker.sock"),
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    ):
        if Path(path).exists() and not (current and current.Host == f"unix://{path}"):
            yield f"unix://{path}", None


def moment(stamp: Any) -> float:
    """Seconds since 1970 of an engine's time stamp; now, where it cannot be read."""
    with suppress(ValueError, TypeError):
        text = str(stamp).replace("Z", "+00:00")
        head, dot, rest = text.partition(".")
        if dot:  # nanoseconds, which datetime does not read
            digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
            text = f"{head}.{digits[:6]}{rest[len(digits) :]}"
        return datetime.fromisoformat(text).timestamp()
    return time.time()

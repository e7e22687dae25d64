"""The place of one app in a trial: names and ports that no other trial has, and how the app is started there."""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from scenlint.harness import compose, docker_run, images, unsafe
from scenlint.harness.compose_model import DNS_OPTIONS, NO_DNS, NO_WAY_OUT, Model, Terms, adapt, check
from scenlint.harness.container import place
from scenlint.harness.docker_run import Line
from scenlint.harness.engine import Engine, faults
from scenlint.harness.environment import Fault
from scenlint.harness.forward import HOST
from scenlint.harness.images import Ready
from scenlint.harness.reap import remove_container
from scenlint.harness.scene import Scene
from scenlint.task.plan import App, Image, Network, NotRunnableError

TRIES = 5  # ports that are tried before giving up
_TAKEN = re.compile(r"port is already allocated|address already in use|Ports are not available", re.I)


class Reserved:
    """A free port of this machine that no program gets which asks for any free one; the engine can still publish it.

    Its socket is bound and never listens. Both ends allow addresses to be used again, so that Linux lets another
    program listen there that asks for this very port.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((HOST, 0))
        self.port = int(self._socket.getsockname()[1])

    def close(self) -> None:
        self._socket.close()


def trial_prefix(scene: Scene) -> str:
    """What the names of a trial's containers begin with: short, as some of them are host names as well."""
    return f"scenlint-{hashlib.sha256(f'{scene.options.run} {scene.trial}'.encode()).hexdigest()[:10]}"


@dataclass
class Slot:
    """One app with its names, its ports, and the images that it is made from."""

    scene: Scene
    app: App
    ports: list[Reserved] = field(default_factory=list)  # the app's own, and perhaps its database's
    images: Mapping[str, Ready] = field(default_factory=dict)  # by service; "" for `docker run`

    def __post_init__(self) -> None:
        self.prefix = f"{trial_prefix(self.scene)}_{self.app.name}"

    @property
    def port(self) -> int:
        return self.ports[0].port

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def container(self) -> str:
        """The name of the app's container."""
        return self._named(self.app.container or "{prefix}")

    @property
    def variables(self) -> dict[str, str]:
        """What a verifier is told of the app."""
        stem = self.app.variable
        out = {f"{stem}_PORT": str(self.port), f"{stem}_CONTAINER": self.container}
        if self.app.database is not None:
            out[f"{stem}_DB_CONTAINER"] = self._named(self.app.database)
        return out

    def draw(self) -> None:
        """Take other ports."""
        self.close()
        self.ports = [Reserved(), Reserved()]

    def close(self) -> None:
        for port in self.ports:
            port.close()

    def _named(self, name: str) -> str:
        return name.replace("{prefix}", self.prefix)

    # Its images

    def prepare(self, engine: Engine) -> Ready:
        """Judge the app and have all its images; the one of the app itself. Its ports are drawn anew when it starts."""
        self.draw()
        try:
            return self._prepare(engine)
        finally:
            self.close()

    def _prepare(self, engine: Engine) -> Ready:
        if self.app.template is None:
            line = self._line()
            unsafe.refuse(line.unsafe, self.scene.options)
            log = self.scene.log(f"build-{self.app.name}.log")
            wanted = Image(line.image)
            ready = images.prepare(
                engine, wanted, self.scene.options, timeout=compose.START, log=log, stop=self.scene.stop
            )
            self.images = {"": ready}
            return ready
        model = self._model(engine)
        check(model, self.app.template.parent, self.scene.options)
        self.images = compose.prepare_images(engine, self.scene, model, name=f"{self.app.name}-")
        for service, settings in model["services"].items():
            if settings.get("container_name", service) == self.container:
                return self.images[service]
        raise NotRunnableError(f"`{self.app.template.name}` has no container `{self.app.container}`")

    def _line(self) -> Line:
        given = {"container": self.prefix, "port": self.port, "hostname": HOST, "pg_port": self.ports[1].port}
        words = (re.sub(r"\{(\w+)\}", lambda m: str(given.get(m[1], m[0])), word) for word in self.app.run)
        return docker_run.read(tuple(words))

    def _model(self, engine: Engine) -> Model:
        template = self.app.template
        assert template is not None
        try:
            text = template.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise NotRunnableError(f"the compose template `{template.name}` cannot be read: {exc}") from exc
        file = self.scene.log(f"{self.app.name}.yml")
        file.parent.mkdir(parents=True, exist_ok=True)
        filled = Template(text).safe_substitute(prefix=self.prefix, port=self.port, hostname=HOST)
        file.write_text(filled, "utf-8")
        return compose.config(engine, self.scene, [file], template.parent, {})

    # Its start

    def start(self, engine: Engine, network: str) -> list[str]:
        """Start the app, on other ports if these were taken after all; notes on limits that cannot be held."""
        for attempt in range(TRIES):
            self.draw()
            try:
                return self._compose(engine) if self.app.template else self._run(engine, network)
            except Fault as exc:
                if not _TAKEN.search(str(exc)) or attempt == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _compose(self, engine: Engine) -> list[str]:
        terms = Terms(
            engine.labels(self.scene.options, self.scene.trial),
            self.scene.options.limits,
            float(engine.info.get("NCPU") or 1),
            self.scene.plan.network is Network.PUBLIC,
            port=self.port,
            keep_names=True,
            others=self.scene.plan.others,
        )
        assert self.app.template is not None
        made = adapt(self._model(engine), {name: ready.id for name, ready in self.images.items()}, terms)
        compose.up(engine, self.scene, self.prefix, made, self.app.template.parent, self.app.probe.timeout)
        return terms.notes

    def _run(self, engine: Engine, network: str) -> list[str]:
        line, api, name, others = self._line(), engine.api, self.prefix, self.scene.plan.others
        labels = engine.labels(self.scene.options, self.scene.trial)
        host, notes = self._host(engine, line)
        host.setdefault("network_mode", network)
        volumes = []
        for source, target, mode in line.volumes:
            if source and "/" not in source:
                source = f"{name}_{source}"
                with faults(f"making the volume `{source}`"):
                    api.create_volume(source, labels=labels)
            if source:
                host.setdefault("binds", []).append(f"{source}:{target}:{mode}")
            else:
                volumes.append(target)
        ours = {str(port.port) for port in self.ports}
        bindings: dict[str, list[tuple[str, int | None]]] = {}
        for outer, inner in line.published:
            # Any other port of this machine would be wanted by the next trial too.
            bindings.setdefault(inner, []).append((HOST, int(outer) if outer in ours else None))
        exposed = [(number, kind) for number, _, kind in (inner.partition("/") for inner in bindings)]
        try:
            with faults(f"starting the app `{self.app.name}`"):
                api.create_container(
                    self.images[""].id,
                    line.command or None,
                    name=name,
                    environment=[*line.env, *(f"{key}={value}" for key, value in others.env)],
                    labels={**line.labels, **labels},
                    volumes=volumes,
                    ports=exposed,
                    **line.config,
                    host_config=api.create_host_config(port_bindings=bindings, **host),
                )
                place(engine, name, others)
                api.start(name)
        except Fault:
            with suppress(Fault), faults(f"removing `{name}`"):
                remove_container(engine, name)
            raise
        return notes

    def _host(self, engine: Engine, line: Line) -> tuple[dict[str, Any], list[str]]:
        """The container's limits and what surrounds it, with notes on what cannot be held."""
        default, there, notes = self.scene.options.limits, (engine.info.get("NCPU") or 1) * 1e9, []
        host = dict(line.host)
        if self.scene.plan.others.one_cpu:
            if (host.get("nano_cpus") or 0) > 1e9:
                raise NotRunnableError(f"the app `{self.app.name}` asks for {host['nano_cpus'] / 1e9:g} processors")
            host["cpuset_cpus"] = "0"
        cpus = host.get("nano_cpus") or (default.cpus or 0) * 1e9
        if cpus > there:
            notes.append(f"{cpus / 1e9:g} CPUs are asked for, {there / 1e9:g} are there")
        memory = host.get("mem_limit") or (f"{default.memory_mb}m" if default.memory_mb else None)
        host |= {"nano_cpus": int(min(cpus, there)) or None, "mem_limit": memory}
        host.setdefault("memswap_limit", memory)
        host.setdefault("pids_limit", default.pids)
        host["log_config"] = {"type": "json-file", "config": {"max-size": "10m", "max-file": "1"}}
        if line.tmpfs:
            host["tmpfs"] = line.tmpfs
        if self.scene.plan.network is not Network.PUBLIC:
            host |= {"dns": NO_DNS, "dns_opt": DNS_OPTIONS}
        return host, notes


def make_network(engine: Engine, scene: Scene) -> str:
    """The network of the apps that are started by `docker run`: they cannot reach each other, nor the outside."""
    if scene.plan.network is Network.PUBLIC:
        return engine.public_network(scene.options)
    name = trial_prefix(scene)
    with faults("making a network"):
        engine.api.create_network(
            name,
            driver="bridge",
            labels=engine.labels(scene.options, scene.trial),
            options={**NO_WAY_OUT, "com.docker.network.bridge.enable_icc": "false"},
        )
    return name


def record(slots: list[Slot], path: Path) -> None:
    """What was started where, for whoever reads the trial later."""
    told = {slot.app.name: {"url": slot.url, **slot.variables} for slot in slots}
    path.write_text(json.dumps(told, indent=1), "utf-8")

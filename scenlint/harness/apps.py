"""Trials with applications: each trial has its own, and its agent and its verifier reach them and nothing else."""

from __future__ import annotations

import http.client
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scenlint.harness import broker, bubblewrap, cgroups, compose, forward, local
from scenlint.harness.box import Mount
from scenlint.harness.broker import Broker
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.engine import LABEL, Engine, connect, faults
from scenlint.harness.environment import Fault, FaultTimeoutError, Ran, StoppedError
from scenlint.harness.local import LocalEnvironment
from scenlint.harness.scene import Prepared, Scene
from scenlint.harness.slot import Slot, make_network, record, trial_prefix
from scenlint.harness.system import PYTHON, SEARCH_PATH
from scenlint.harness.tampering import Watch
from scenlint.task.plan import Command, NotRunnableError, Upload

CALLS = "docker.jsonl"  # in the trial's folder: every call of `docker` that a verifier made
_ANSWER = 5.0  # seconds that an app has to answer one request of a probe


@dataclass(frozen=True)
class Apps(Prepared):
    """Apps whose images are there."""

    slots: Sequence[Slot] = ()


def prepare(scene: Scene) -> Apps:
    """See that everything is here: the sandbox for agent and verifier, the engine, all images."""
    bubblewrap.version()
    bubblewrap.identity()
    cgroups.sweep()
    engine = connect()
    if not engine.url.startswith(("unix:", "http+unix:")):
        raise NotRunnableError(f"apps are reached on this machine, and the engine is elsewhere ({engine.url})")
    engine.check_disk(scene.options.min_free_mb, scene.folder)
    slots = [Slot(scene, app) for app in scene.plan.apps]
    ready = [slot.prepare(engine) for slot in slots]
    every = [one for slot in slots for one in slot.images.values()]
    return Apps(
        "; ".join(one.reference for one in ready),
        "; ".join(one.digest for one in ready),
        "; ".join(dict.fromkeys(one.substitute for one in every if one.substitute)),
        "\n".join(one.log for one in every if one.log),
        slots,
    )


def start(scene: Scene, made: Apps) -> AppsEnvironment:
    """Start all apps and wait until each answers. Where that fails nothing stays behind."""
    environment = AppsEnvironment(scene, connect(), list(made.slots))
    try:
        environment.begin()
    except BaseException:
        environment.close()
        raise
    return environment


class AppsEnvironment:
    """The apps of a trial, and a local sandbox for its agent (the oracle) that reaches them over HTTP."""

    def __init__(self, scene: Scene, engine: Engine, slots: list[Slot]) -> None:
        self.scene, self.engine, self.slots = scene, engine, slots
        self.problem = ""
        self._closed = False
        self._notes: list[str] = []  # limits that could not be held
        self.ports: forward.Ports | None = None  # the agent's ways to the apps
        self.desk = local.start(scene)

    @property
    def urls(self) -> dict[str, str]:
        return {slot.app.name: slot.url for slot in self.slots}

    @property
    def variables(self) -> dict[str, str]:
        """What an agent on this machine needs; the folder holds the files that it is handed."""
        return {**self._told, "SCENLINT_WORKSPACE": str(self.desk.work.root)}

    @property
    def notes(self) -> list[str]:
        return self._notes + self.desk.notes

    @property
    def _told(self) -> dict[str, str]:
        """The variables of the format's contract."""
        apps = {key: value for slot in self.slots for key, value in slot.variables.items()}
        return {"SERVER_HOSTNAME": forward.HOST, **apps}

    def begin(self) -> None:
        runs = any(slot.app.template is None for slot in self.slots)
        network = make_network(self.engine, self.scene) if runs else ""
        with ThreadPoolExecutor(len(self.slots)) as pool:
            started = list(pool.map(lambda slot: slot.start(self.engine, network), self.slots))
        self._notes = [note for notes in started for note in notes]
        record(self.slots, self.scene.log("apps.json"))
        self._await_ready()
        self.ports = self._open_ports(self.desk)

    def watch(self, watch: Watch) -> None:
        """From now on the agent's requests pass under these eyes."""
        assert self.ports is not None
        self.ports.join = watch.join

    def equip(self, grader: LocalEnvironment) -> None:
        """Give the verifier's sandbox what its contract promises: the apps' ports, variables, and a `docker`."""
        self._open_ports(grader)
        folder = _folder(grader.home, "docker")
        served = Broker(self.engine, self._containers(), folder, self.scene.log(CALLS))
        grader.closing.append(served.close)
        grader.mounts.append(Mount(folder, broker.INSIDE))
        grader.variables["PATH"] = f"{broker.INSIDE}:{SEARCH_PATH}"

    def _open_ports(self, sandbox: LocalEnvironment) -> forward.Ports:
        folder = _folder(sandbox.home, "ports")
        ports = forward.Ports(folder, (slot.port for slot in self.slots))
        sandbox.closing.append(ports.close)
        program = Path(forward.__file__)
        sandbox.mounts += [Mount(folder, forward.INSIDE), Mount(program, f"/.scenlint/{program.name}")]
        sandbox.before = (PYTHON, *forward.program(ports.ports))
        sandbox.variables |= self._told
        return ports

    def others(self) -> dict[str, ContainerEnvironment]:
        """The apps' running containers, their databases' too, by name."""
        own = f"{trial_prefix(self.scene)}_"
        out = {}
        for name in sorted(self._containers(running=True)):
            out[name.removeprefix(own)] = ContainerEnvironment(self.engine, name, "", close=lambda: None)
        return out

    def _containers(self, *, running: bool = False) -> dict[str, str]:
        """All containers of this trial: name -> id."""
        labels = [f"{LABEL}={self.scene.options.run}", f"scenlint.trial={self.scene.trial}"]
        with faults("looking for the trial's containers"):
            found = self.engine.api.containers(all=not running, filters={"label": labels})
        return {name.lstrip("/"): one["Id"] for one in found for name in one["Names"]}

    # Readiness

    def _await_ready(self) -> None:
        began, waiting = time.monotonic(), {slot.app.name: slot for slot in self.slots}
        interval = min(slot.app.probe.interval for slot in self.slots)
        while True:
            said = {name: _answer(slot) for name, slot in waiting.items()}
            waiting = {name: slot for name, slot in waiting.items() if said[name]}
            if not waiting:
                return
            for name, slot in waiting.items():
                self._check_alive(slot)
                if time.monotonic() - began > slot.app.probe.timeout:
                    raise FaultTimeoutError(
                        f"the app `{name}` was not ready within {slot.app.probe.timeout:.0f} s: "
                        f"{slot.app.probe.http_path or '/'} {said[name]}\n{self._logs(slot)}"
                    )
            if self.scene.stop is not None and self.scene.stop.wait(interval):
                raise StoppedError("interrupted")
            if self.scene.stop is None:
                time.sleep(interval)

    def _check_alive(self, slot: Slot) -> None:
        with faults(f"asking for the state of `{slot.container}`"):
            state = self.engine.api.inspect_container(slot.container)["State"]
        if not state["Running"] and not state.get("Restarting"):
            why = "memory ran out" if state.get("OOMKilled") else f"exit status {state['ExitCode']}"
            raise Fault(f"the app `{slot.app.name}` ended ({why})\n{self._logs(slot)}")

    def _logs(self, slot: Slot) -> str:
        with faults(f"reading what `{slot.container}` printed"):
            return str(self.engine.api.logs(slot.container, tail=20).decode("utf-8", "replace"))

    # The agent's sandbox

    def run(self, command: Command, log: Path | None, *, split: bool = False) -> Ran:
        return self.desk.run(command, log, split=split)

    def upload(self, upload: Upload) -> None:
        self.desk.upload(upload)

    def fresh(self, folders: tuple[str, ...]) -> None:
        self.desk.fresh(folders)

    def read(self, path: str, limit: int = 1024 * 1024) -> bytes | None:
        return self.desk.read(path, limit)

    def remove(self, path: str) -> None:
        self.desk.remove(path)

    def collect(self, path: str, target: Path, limit: int = 512 * 1024 * 1024) -> bool:
        return self.desk.collect(path, target, limit)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.desk.close()
        self.problem = self.desk.problem
        try:
            compose.discard(self.engine, self.scene)
        except Fault as exc:
            self.problem = str(exc)
        for slot in self.slots:
            slot.close()


def _answer(slot: Slot) -> str:
    """ "" if the app answers as it should, else what it did."""
    probe = slot.app.probe
    connection = http.client.HTTPConnection(forward.HOST, slot.port, timeout=_ANSWER)
    try:
        connection.request("GET", probe.http_path or "/", headers={"User-Agent": "scenlint", "Connection": "close"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as exc:
        return f"gave no answer ({exc or type(exc).__name__})"
    finally:
        connection.close()
    return "" if status in probe.accept else f"answered with status {status}"


def _folder(home: Path, name: str) -> Path:
    """A folder for sockets that only its sandbox reaches."""
    private = home / "gate"
    private.mkdir(mode=0o700, exist_ok=True)
    folder = private / name
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    return folder

"""What this machine has of what trials need, what each missing part stops, and what to do about it."""

from __future__ import annotations

import platform
import resource
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scenlint.harness import bubblewrap, builder, compose_client
from scenlint.harness.cgroups import Group
from scenlint.harness.engine import Engine, Options, connect, faults
from scenlint.harness.environment import Fault
from scenlint.task.plan import Limits, NotRunnableError

CONTAINERS = "Harbor, Terminal-Bench, SaaS-Bench, packets with an image"
_ROOMY_MB = 5 * 1024
_FILES = 1024


@dataclass(frozen=True)
class Part:
    """One thing looked at. `ok` None: trials run, with a limitation. `stops`: what cannot be run without it."""

    name: str
    ok: bool | None
    found: str
    stops: str = ""
    advice: str = ""


def examine(folder: Path) -> list[Part]:
    """Look at everything; `folder` is where trials would be recorded."""
    out = [_python()]
    try:
        engine = connect()
    except Fault as exc:
        missing, _, advice = str(exc).partition(" What to do: ")
        out.append(Part("engine", False, missing, CONTAINERS, advice))
    else:
        out += [_engine(engine), *_engine_limits(engine), _builder(engine), _compose()]
    out += [*_sandbox(), *_disk(engine if out[1].ok else None, folder), _files()]
    return out


def _python() -> Part:
    return Part("python", True, f"{platform.python_version()} on {platform.platform(terse=True)}")


def _engine(engine: Engine) -> Part:
    try:
        return Part("engine", True, f"{engine.name} at {engine.url}, {engine.info.get('Driver', '?')}")
    except Fault as exc:
        return Part("engine", False, str(exc), CONTAINERS, "see that it answers `docker info`")


def _engine_limits(engine: Engine) -> Iterator[Part]:
    with faults("asking the engine about its limits"):
        info = engine.info
    wanted = {"memory": "MemoryLimit", "pids": "PidsLimit", "CPU": "CpuCfsQuota"}
    lacking = [name for name, key in wanted.items() if info.get(key) is False]
    if lacking:
        advice = "enable these control groups for the engine"
        yield Part("engine limits", None, f"no limit on {', '.join(lacking)} can be held", advice=advice)
    else:
        yield Part("engine limits", True, "memory, pids and CPU can be limited")


def _builder(engine: Engine) -> Part:
    what = "Dockerfiles with here-documents or `RUN --mount`"
    advice = "install buildx (`apt install docker-buildx`, or the plugin of your distribution)"
    client = builder.client(engine)
    if client is None:
        return Part("image builder", None, "only the classic builder", what, advice)
    if "buildx" in client:
        return Part("image builder", True, f"buildx through {next(c for c in client if c.endswith('docker'))}")
    docker = next(c for c in client if c.endswith("docker"))
    found = f"BuildKit through {docker}; it reads here-documents only with `# syntax=` and a registry"
    return Part("image builder", None, found, "Dockerfiles with here-documents", advice)


def _compose() -> Part:
    what = "tasks with compose files: Terminal-Bench, some of Harbor, apps of SaaS-Bench"
    found = compose_client.found()
    if found is None:
        return Part("compose", False, "there is no compose of version 2 or later", what, compose_client.INSTALL)
    program, said = found
    return Part("compose", True, f"{said} (`{' '.join(program)}`)")


def _sandbox() -> Iterator[Part]:
    what = "Waza, DeepGym, packets without an image, the verifier of SaaS-Bench"
    try:
        version = bubblewrap.version()
        identity = bubblewrap.identity()
    except (NotRunnableError, Fault) as exc:
        yield Part("bubblewrap", False, str(exc), what, "see above")
        return
    how = "as a user of its own" if identity.user is not None else "in a user namespace"
    yield Part("bubblewrap", True, f"{version}, programs run {how}")
    group = Group(Limits(cpus=1, memory_mb=64, pids=64))
    lacking = [kind for kind in ("memory", "pids", "cpu") if kind not in group.held]
    group.close()
    if lacking:
        found = f"no control group for {', '.join(lacking)}: limits hold for each process by itself"
        yield Part("sandbox limits", None, found, advice="run as root, or in a delegated control group")
    else:
        yield Part("sandbox limits", True, "memory, pids and CPU can be limited")


def _disk(engine: Engine | None, folder: Path) -> Iterator[Part]:
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    places = {"disk": there}
    if engine is not None and engine.storage is not None:
        places["engine's disk"] = engine.storage
    least = Options().min_free_mb
    for name, place in places.items():
        free = shutil.disk_usage(place).free // 1024**2
        found = f"{free:,} MB free at {place}"
        if free < least:
            yield Part(name, False, found, "every trial", f"make room: a trial wants {least:,} MB (`scenlint clean`)")
        else:
            advice = "" if free >= _ROOMY_MB else "make room before many images are built (`scenlint clean --images`)"
            yield Part(name, True if free >= _ROOMY_MB else None, found, advice=advice)
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as exc:
        found = f"{there} cannot be written: {exc.strerror}"
        yield Part("ledger", False, found, "every trial", "name another folder by --ledger")


def _files() -> Part:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    ok = soft >= _FILES or soft == resource.RLIM_INFINITY
    advice = "" if ok else f"raise it for many trials at once (`ulimit -n {_FILES}`)"
    return Part("open files", True if ok else None, f"{soft} for each process", advice=advice)

"""Fixtures with a real engine: a base image made here, with a digest from a registry on loopback.

Needed on the machine: an engine that answers, mmdebstrap and docker-registry (Debian packages). Without an engine the
tests marked `engine` are skipped, or fail where SCENLINT_REQUIRE_ENGINE=1.
"""

import ctypes
import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from appkit import CACHE
from apps_fixtures import desk_image, notes_image, plugin  # noqa: F401

from scenlint.harness.engine import Engine, EngineError, Options, connect
from scenlint.harness.reap import reap, remove_images

# A name of this session's own for this machine, on its labels: then sessions that share an engine do not take each
# other's containers for what a dead process left.
with suppress(OSError, AttributeError):
    CLONE_NEWUTS = 0x04000000
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS) == 0:
        socket.sethostname(f"scenlint-tests-{os.getpid()}")

PACKAGES = "python3,python3-pytest,ca-certificates"


@dataclass(frozen=True)
class Base:
    """The base image: Debian with python3 and pytest."""

    tag: str  # local name
    pinned: str  # name@sha256:… on the loopback registry


@pytest.fixture(scope="session")
def engine() -> Engine:
    try:
        return connect()
    except EngineError as exc:
        if os.environ.get("SCENLINT_REQUIRE_ENGINE") == "1":
            pytest.fail(str(exc))
        pytest.skip(str(exc))


@pytest.fixture(scope="session")
def base(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    name = f"scenlint-test-base:{hashlib.sha256(PACKAGES.encode()).hexdigest()[:12]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes make it once
        if not engine.api.images(name=name):
            engine.api.import_image_from_file(str(_root_file_system()), *name.split(":"))
    with _registry(tmp_path_factory.mktemp("registry")) as address:
        remote = f"{address}/scenlint-test-base"
        engine.api.tag(name, remote, "1", force=True)
        pushed = engine.api.push(remote, tag="1", stream=True, decode=True)
        digest = next(event["aux"]["Digest"] for event in pushed if "aux" in event)
        yield Base(name, f"{remote}@{digest}")
        engine.api.remove_image(f"{remote}:1", noprune=True)


def _root_file_system() -> Path:
    out = CACHE / f"base-{hashlib.sha256(PACKAGES.encode()).hexdigest()[:12]}.tar"
    if not out.exists():
        partial = out.with_suffix(".partial.tar")
        argv = ["mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(partial)]
        subprocess.run(argv, check=True, capture_output=True, timeout=600)
        partial.rename(out)
    return out


class _registry:  # noqa: N801
    """A registry process on a free loopback port; engines accept those without TLS."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.config = folder / "config.yml"
        self.config.write_text(
            "version: 0.1\nlog: {level: error}\n"
            f"storage: {{filesystem: {{rootdirectory: {CACHE / 'registry'}}}}}\nhttp: {{addr: '{self.address}'}}\n"
        )

    def __enter__(self) -> str:
        program = shutil.which("docker-registry") or shutil.which("registry")
        assert program, "install Debian's docker-registry"
        self.process = subprocess.Popen(
            [program, "serve", str(self.config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        host, port = self.address.split(":")
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex((host, int(port))) == 0:
                    return self.address
            time.sleep(0.1)
        raise AssertionError("the registry does not answer")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture
def options(engine: Engine) -> Iterator[Options]:
    """Options of a run of its own; at the end of the test nothing of that run may be left."""
    made = Options()
    yield made
    left = reap(engine, run=made.run)
    left.networks = [n for n in left.networks if n != f"scenlint-{made.run}"]  # lasts as long as its run
    assert not left, f"left behind: {left}"


@pytest.fixture(scope="session")
def built(engine: Engine) -> Iterator[set[str]]:
    """Images that tests had built; removed at the end."""
    names: set[str] = set()
    yield names
    remove_images(engine, names)


@pytest.fixture
def run(options: Options, tmp_path: Path, built: set[str]):
    """Run a trial: run(plan, agent) -> TrialRecord."""
    from scenlint.harness import trial
    from scenlint.harness.agents import OracleAgent

    count = 0

    def go(plan, agent=None, **more):
        nonlocal count
        count += 1
        folder = tmp_path / "trials" / f"{options.run}-{count}"
        more = {"options": options, **more}
        record = trial.run(plan, agent or OracleAgent(), folder, **more)
        built.add(record.image)
        return record

    return go

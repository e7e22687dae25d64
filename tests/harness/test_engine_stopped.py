"""An engine that is killed while an agent works: one of the test's own, so that no other test loses its own."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from scenlint.harness.engine import Engine
from scenlint.testing import base_task

pytestmark = pytest.mark.engine

COMMAND = [sys.executable, "-c", "from scenlint.cli.app import main; main()"]
IMAGE = "scenlint-test-small:1"


def small_image() -> bytes:
    """A shell and little else, taken from this machine: the usual base takes longer to import than all the rest."""
    programs = {f"bin/{name}": shutil.which(name) or name for name in ("bash", "sh", "cat", "sleep")}
    told = subprocess.run(["ldd", *programs.values()], capture_output=True, text=True, check=True).stdout
    libraries = {path: path for path in re.findall(r"(/\S+) \(0x", told)}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", dereference=True) as tar:
        for target, path in (programs | libraries).items():
            tar.add(path, target)
    return data.getvalue()


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


class Daemon:
    """A dockerd with places of its own and without networks."""

    def __init__(self) -> None:
        # Sockets have short paths only.
        self.folder = Path(tempfile.mkdtemp(prefix="sl-", dir="/tmp"))
        self.url = f"unix://{self.folder}/socket"
        self.start()

    def start(self) -> None:
        places = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        # In a network of its own: one without a bridge removes that of the machine's engine when it starts.
        argv = ["unshare", "--net", "dockerd", "--host", self.url, "--bridge", "none"]
        argv += ["--iptables=false", "--ip-forward=false"]
        argv += [f"--{option}={self.folder / name}" for option, name in places.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        wait_for(self._answers)

    def _answers(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        with suppress(Exception):
            self.api = Engine(self.url).api
            return True
        return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        # A zombie, if this machine's PID 1 does not reap, would be taken for one that runs.
        for name in ("pid", "exec/containerd/containerd.pid"):
            (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        if self.process.poll() is not None:
            self.start()
        for container in self.api.containers(all=True):
            self.api.remove_container(container["Id"], force=True)
        self.process.terminate()
        self.process.wait(30)
        subprocess.run(["umount", str(self.folder / "data")], capture_output=True)
        shutil.rmtree(self.folder)


@pytest.fixture
def daemon(engine):
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        reason = "an engine of the test's own needs root and dockerd"
        pytest.fail(reason) if os.environ.get("SCENLINT_REQUIRE_ENGINE") == "1" else pytest.skip(reason)
    made = Daemon()
    yield made
    made.close()


def test_no_score_comes_of_it_and_the_next_run_removes_what_was_left(daemon, tmp_path):
    daemon.api.import_image_from_data(small_image(), *IMAGE.split(":"))
    task = base_task("harbor", tmp_path / "product")
    pinned = (task / "environment/Dockerfile").read_text().split()[1]
    (tmp_path / "scenlint.toml").write_text(f'[images.substitutes]\n"{pinned}" = "{IMAGE}"\n')
    (task / "tests/test.sh").write_text(
        '#!/bin/bash\n[ "$(cat /app/answer.txt)" = 42 ]; echo $((! $?)) > /logs/verifier/reward.txt\n'
    )
    solution = (task / "solution/solve.sh").read_text()
    (task / "solution/solve.sh").write_text("#!/bin/bash\nsleep 4321\n")

    def validate() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, "validate", str(task), "--gate", "--format", "json", "--jobs", "1"],
            cwd=tmp_path,
            env={**os.environ, "DOCKER_HOST": daemon.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def works() -> bool:
        running = daemon.api.containers()
        return any("sleep 4321" in row[-1] for c in running for row in daemon.api.top(c["Id"])["Processes"])

    process = validate()
    wait_for(works)
    daemon.kill()
    told = json.loads(process.communicate(timeout=60)[0])
    assert [(t["agent"], t["reward"], t["failure_class"]) for t in told["trials"]] == [
        ("oracle", None, "infrastructure"),
        ("nop", None, "infrastructure"),
    ]
    assert (told["findings"], process.returncode) == ([], 3)
    agent = next(p for p in told["trials"][0]["phases"] if p["name"] == "agent")
    assert agent["error"].startswith("infrastructure: ")

    daemon.start()
    assert len(daemon.api.containers(all=True)) == 1
    (task / "solution/solve.sh").write_text(solution)
    process = validate()
    output, progress = process.communicate(timeout=60)
    assert "removed what earlier runs left behind: 1 container" in progress
    assert [t["reward"] for t in json.loads(output)["trials"]] == [1.0, 0.0], progress
    assert daemon.api.containers(all=True) == []

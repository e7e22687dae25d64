"""Many trials at once with a real engine, undisturbed and interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenlint.harness.reap import reap

pytestmark = pytest.mark.engine


def start(tmp_path: Path, image: str, run: str, jobs: int, solve: str) -> subprocess.Popen[str]:
    here = Path(__file__).parent
    argv = [sys.executable, str(here / "many.py"), str(tmp_path), image, run, str(jobs), solve]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(here)})


def left(engine, run: str) -> list[str]:
    return [c["Names"][0] for c in engine.api.containers(all=True, filters={"label": f"scenlint.run={run}"})]


def test_trials_at_once_do_not_disturb_each_other(base, engine, options, tmp_path):
    process = start(tmp_path, base.tag, options.run, 12, "test ! -e /app/answer.txt && echo 42 > /app/answer.txt")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert sorted(out.splitlines(), key=lambda line: int(line.split()[0])) == [f"{n} 1.0 None" for n in range(12)]
    assert left(engine, options.run) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_once_the_finished_count_and_the_rest_is_removed(base, engine, options, tmp_path, number, code):
    process = start(tmp_path, base.tag, options.run, 12, "sleep 300")
    assert process.stdout is not None
    assert process.stdout.readline() == "0 1.0 None\n"
    time.sleep(1.5)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == code
    assert [line.split(maxsplit=1)[1] for line in out.splitlines()] == ["None interrupted"] * 4
    assert left(engine, options.run) == []


def test_interrupted_twice_it_exits_at_once_and_the_next_start_removes_what_is_left(base, engine, options, tmp_path):
    process = start(tmp_path, base.tag, options.run, 12, "sleep 300")
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.wait(30)
    assert time.monotonic() - began < 2
    assert process.returncode == 130
    reap(engine)
    assert left(engine, options.run) == []

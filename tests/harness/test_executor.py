"""Many jobs at once: results as they finish, and what Ctrl-C does to them."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scenlint.harness.executor import Interrupt, run_all


def test_results_come_as_they_finish():
    def work(job: float) -> float:
        time.sleep(job)
        return job * 2

    done = list(run_all([0.6, 0.1, 0.3], work, workers=3))
    assert [d.job for d in done] == [0.1, 0.3, 0.6]
    assert [d.result for d in done] == [0.2, 0.6, 1.2]


def test_no_more_than_the_given_workers_run_at_once():
    running, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1

    assert len(list(run_all(range(10), work, workers=2))) == 10
    assert most == 2


def test_a_fault_in_one_job_loses_no_other():
    def work(job: int) -> int:
        return 10 // job

    done = {d.job: d for d in run_all([1, 0, 2], work, workers=1)}
    assert (done[1].result, done[2].result) == (10, 5)
    assert isinstance(done[0].error, ZeroDivisionError)


def test_a_foreign_pool_serves_and_is_left_open():
    with ThreadPoolExecutor(2) as pool:
        assert sorted(d.result or 0 for d in run_all([1, 2], lambda job: job + 1, pool=pool)) == [2, 3]
        assert pool.submit(lambda: "open").result() == "open"


def test_once_stopped_no_job_starts_and_running_ones_are_waited_for():
    stop, started = threading.Event(), []

    def work(job: int) -> int:
        started.append(job)
        stop.wait(5)
        time.sleep(0.2)
        return job

    threading.Timer(0.3, stop.set).start()
    done = list(run_all(range(20), work, workers=2, stop=stop))
    assert sorted(d.job for d in done) == sorted(started) == [0, 1]
    assert all(d.error is None for d in done)


def test_a_consumer_that_leaves_stops_the_rest():
    stop, started = threading.Event(), []

    def work(job: int) -> int:
        started.append(job)
        time.sleep(0.1)
        return job

    for _ in run_all(range(50), work, workers=1, stop=stop):
        break
    assert len(started) < 5
    assert stop.is_set()


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) is before
    assert interrupt.exit_code is None


PROGRAM = """
import os, sys, time
from scenlint.harness.executor import Interrupt, run_all
with Interrupt() as interrupt:
    def work(job):
        os.write(1, f"start {{job}}\\n".encode())
        for _ in range(600):
            time.sleep(0.1)
            if interrupt.stop.is_set() and {polite}:
                return "interrupted"
            if job == 0:
                return "finished"
        return "late"
    for done in run_all(range(50), work, workers=2, stop=interrupt.stop):
        os.write(1, f"done {{done.job}} {{done.result}}\\n".encode())
sys.exit(interrupt.exit_code or 0)
"""


def press(tmp_path: Path, *signals: signal.Signals, polite: bool = True) -> tuple[int, list[str], float]:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM.format(polite=polite)))
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    began = time.monotonic()
    for number in signals:
        os.kill(process.pid, number)
        time.sleep(0.5)
    out, _ = process.communicate(timeout=20)
    return process.returncode, out.splitlines(), time.monotonic() - began


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_ends_the_running_cleanly_and_keeps_what_is_finished(tmp_path, number, code):
    status, lines, _ = press(tmp_path, number)
    assert status == code
    assert "done 0 finished" in lines
    assert sum(line.endswith("interrupted") for line in lines) == 2
    assert sum(line.startswith("start") for line in lines) == 3


def test_a_second_ctrl_c_exits_at_once(tmp_path):
    status, lines, took = press(tmp_path, signal.SIGINT, signal.SIGINT, polite=False)
    assert status == 130
    assert took < 3
    assert "done 0 finished" in lines

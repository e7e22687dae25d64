"""A Dask cluster on this machine: a scheduler and two workers on loopback, for trying `--cluster` and for its proof.

usage: cluster.py serve [--workers 2] [--engine]     prints the address, runs until interrupted
       cluster.py proof [--trials 60] [--engine [--image NAME]]
                                                     kills a worker and restarts the scheduler while trials run

A worker that ends, as all do when their scheduler goes, is started again: on a real cluster its deployer does that.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


class Local:
    """A scheduler and workers as processes of this machine. `close` ends them all."""

    def __init__(self, workers: int = 2, *, engine: bool = False, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="scenlint-cluster-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.engine, self._closing = engine, False
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._scheduler()
        self.workers = [self._worker(n) for n in range(workers)]
        self._watch = threading.Thread(target=self._keep, daemon=True)
        self._watch.start()

    def restart_scheduler(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.scheduler.send_signal(how)
        self.scheduler.wait()
        self.scheduler = self._scheduler()

    def kill_worker(self, number: int = 0) -> None:
        self.workers[number].kill()

    def close(self) -> None:
        self._closing = True
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def _scheduler(self) -> subprocess.Popen[bytes]:
        host, _, port = self.address.removeprefix("tcp://").partition(":")
        return self._start("scheduler", "scheduler", "--host", host, "--port", port, "--no-dashboard", "--no-show")

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        offers = ["--resources", "engine=1"] if self.engine else []
        name = f"worker-{number}"
        # Without a nanny, which would restart it: the loop below does, for the whole machine.
        return self._start(
            name, "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name, *offers
        )

    def _start(self, log: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{log}.log").open("ab") as file:
            scratch = ["--local-directory", str(self.folder)] if arguments[0] == "worker" else []
            return subprocess.Popen(
                [str(BIN / "dask"), *arguments, *scratch], stdout=file, stderr=file, start_new_session=True
            )

    def _keep(self) -> None:
        while not self._closing:
            for number, process in enumerate(self.workers):
                if process.poll() is not None and not self._closing:
                    self.workers[number] = self._worker(number)
            time.sleep(0.5)


def serve(options: argparse.Namespace) -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    local = Local(options.workers, engine=options.engine)
    print(f"{local.address}   (logs in {local.folder})", flush=True)
    ended.wait()
    local.close()


def proof(options: argparse.Namespace) -> int:
    """Trials of a small task on two workers, one of which is killed, with a scheduler that is restarted."""
    from scenlint.harness.ledger import Ledger
    from scenlint.testing import base_task

    folder = Path(tempfile.mkdtemp(prefix="scenlint-proof-"))
    task = base_task("harbor" if options.engine else "packet", folder / "task")
    if options.image:
        dockerfile = task / "environment" / "Dockerfile"
        dockerfile.write_text(re.sub(r"(?m)^FROM .*", f"FROM {options.image}", dockerfile.read_text()))
    with next(task.rglob("solve.sh")).open("a") as script:
        script.write("\nsleep 0.5\n")  # so that what is killed is in the midst of something
    local = Local(2, engine=options.engine)
    ledger = folder / ".scenlint"
    command = [
        BIN / "scenlint",
        "run",
        task,
        "--agent",
        "oracle",
        "--trials",
        options.trials,
        "--cluster",
        local.address,
    ]
    command += ["--ledger", ledger, "--quiet"]
    began = time.monotonic()
    driver = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        for share, do in ((1 / 4, local.kill_worker), (2 / 4, local.restart_scheduler)):
            while driver.poll() is None and finished(ledger) < options.trials * share:
                time.sleep(0.1)
            print(f"{time.monotonic() - began:6.1f} s: {finished(ledger)} recorded; {do.__name__}", flush=True)
            do()
        driver.communicate()
    finally:
        local.close()
    seconds = time.monotonic() - began
    book = Ledger(ledger, create=False)
    entries = book.entries()
    book.close()
    ended = Counter(entry.record.status.value for entry in entries)
    attempts = Counter(entry.attempt for entry in entries)
    left = leftovers() + (containers({entry.run for entry in entries}) if options.engine else [])
    print(f"{len(entries)} trials recorded in {seconds:.1f} s: {dict(ended)}; exit status {driver.returncode}")
    print(f"attempts recorded more than once: {[a for a, n in attempts.items() if n > 1]}; left running: {left}")
    sound = len(entries) == options.trials == len(attempts) and ended == {"passed": options.trials} and not left
    print("as it should be" if sound else "NOT as it should be")
    return 0 if sound else 1


def finished(ledger: Path) -> int:
    """Trials with a record, counted by another process than the one that writes."""
    import sqlite3

    try:
        with sqlite3.connect(f"file:{ledger / 'ledger.db'}?mode=ro", uri=True) as base:
            return int(base.execute("select count(*) from trials where finished = 1").fetchone()[0])
    except sqlite3.Error:
        return 0


def leftovers() -> list[str]:
    """Sandboxes of trials that still run on workers here, and folders of theirs."""
    out = [p.name for p in Path(tempfile.gettempdir()).glob(f"scenlint-worker-{os.getuid()}/*")]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"bwrap") and any(b"scenlint-worker-" in word for word in words):
            out.append(f"bwrap {process.parent.name}")
    return out


def containers(runs: set[str]) -> list[str]:
    """Containers and networks of these runs that are still there, in whatever state."""
    from scenlint.harness.engine import connect

    api, out = connect().api, []
    for run in runs:
        wanted = {"label": f"scenlint.run={run}"}
        out += [item["Names"][0] for item in api.containers(all=True, filters=wanted)]
        out += [item["Name"] for item in api.networks(filters=wanted)]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("serve", "proof"):
        part = commands.add_parser(name)
        part.add_argument("--workers", type=int, default=2)
        part.add_argument("--engine", action="store_true", help="the workers offer a container engine")
        part.add_argument("--trials", type=int, default=60)
        part.add_argument("--image", help="with --engine: a local image with Python, instead of the task's own")
    options = parser.parse_args()
    sys.exit(serve(options) if options.command == "serve" else proof(options))


if __name__ == "__main__":
    main()

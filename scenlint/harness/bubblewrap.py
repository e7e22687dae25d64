"""Runs a program in a sandbox of bubblewrap: a read-only system, no network, no home, and an end for all it started."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenlint.harness.box import INSTALL, Box, command, memory_file
from scenlint.harness.capture import DRAIN, TICK, Capture, give, take
from scenlint.harness.cgroups import Group
from scenlint.harness.environment import Fault, InfrastructureError, Ran, StoppedError
from scenlint.harness.identity import Identity
from scenlint.harness.system import INTERPRETER, accounts
from scenlint.task.plan import NotRunnableError

START = 30.0  # seconds until a sandbox must have started
LOOK = 1.0  # seconds between two looks at what a command uses


class Running:
    """A started sandbox. It must be ended by the thread that started it: when that thread dies, so does the sandbox."""

    def __init__(self, box: Box, argv: Sequence[str], *, stdin: Any, stdout: Any, stderr: Any) -> None:
        pipes = [os.pipe() for _ in range(3)]
        (self._info, info), (block, self._block), (self._ready, ready) = pipes
        self._init: int | None = None
        texts = {path: memory_file(text) for path, text in accounts(box.identity.inner).items()}
        given = [info, block, ready, *texts.values()]
        try:
            self.process = subprocess.Popen(
                command(box, argv, texts, info=info, block=block, ready=ready),
                env=box.variables(),
                cwd="/",
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=given,
                start_new_session=True,
            )
        except OSError as exc:
            self._close()
            raise InfrastructureError(f"the sandbox could not be started: {exc.strerror}") from exc
        finally:
            for fd in given:
                os.close(fd)
        self._monitor = os.pidfd_open(self.process.pid)

    def began(self, group: Group | None) -> bool:
        """Let the program begin; False where the sandbox could not be made: then its stderr says why."""
        with suppress(OSError, ValueError, KeyError):
            told = json.loads(b"".join(iter(lambda: self._read(self._info), b"")))
            self._init = os.pidfd_open(told["child-pid"])
            if group is not None:
                group.add(told["child-pid"])
            os.write(self._block, b"1")
        return self._read(self._ready, 1) == b"1"

    def wait(self, seconds: float, connection: socket.socket | None = None) -> bool:
        """Whether the program ends (or the other end of the connection goes) within some time."""
        watched = select.poll()
        watched.register(self._monitor, select.POLLIN)
        if connection is not None:
            watched.register(connection, select.POLLRDHUP)
        return bool(watched.poll(max(seconds, 0) * 1000))

    def kill(self) -> None:
        """End everything in the sandbox; when this returns, nothing of it runs any more."""
        with suppress(ProcessLookupError):
            self.process.kill()
        if self._init is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            _readable(self._init, 10)
        self.process.wait()
        self._close()

    def _read(self, fd: int, size: int = 65536) -> bytes:
        return os.read(fd, size) if _readable(fd, START) else b""

    def _close(self) -> None:
        for fd in {self._info, self._block, self._ready, getattr(self, "_monitor", None), self._init} - {None}:
            os.close(fd)  # type: ignore[arg-type]
        self._info = self._block = self._ready = self._init = self._monitor = None  # type: ignore[assignment]


def run(
    box: Box,
    argv: Sequence[str],
    log: Path | None,
    *,
    timeout: float | None = None,
    stdin: bytes = b"",
    split: bool = False,
    stop: threading.Event | None = None,
    look: Callable[[], None] | None = None,
) -> Ran:
    """Run a program to its end or to its timeout; afterwards nothing of what it started is left.

    `look` is called now and then, and ends the program by raising.
    """
    capture = Capture(log, split=split)
    began = time.monotonic()
    killed = box.group.killed if box.group is not None else 0
    running: Running | None = None
    timed_out = False
    try:
        running = Running(
            box,
            argv,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if split else subprocess.STDOUT,
        )
        process = running.process
        pumps = [take(stream, capture, n) for n, stream in ((1, process.stdout), (2, process.stderr)) if stream]
        if not running.began(box.group):
            raise InfrastructureError(f"the sandbox could not be made: {_said(running, pumps, capture)}")
        began = time.monotonic()
        if process.stdin:
            threading.Thread(target=give, args=(process.stdin, stdin), daemon=True).start()
        timed_out = not _await(running, began, timeout, stop, look)
    finally:
        duration = time.monotonic() - began
        if running is not None:
            running.kill()
            for thread in pumps:
                thread.join(DRAIN)
        if box.group is not None and box.group.killed > killed:
            capture.write(f"\n[scenlint: more than {box.limits.memory_mb} MB of memory were used]\n".encode(), 2)
        capture.close()
    code = None if timed_out else running.process.returncode
    return capture.ran(code, duration, log, timed_out=timed_out)


def _await(
    running: Running,
    began: float,
    timeout: float | None,
    stop: threading.Event | None,
    look: Callable[[], None] | None,
) -> bool:
    """Wait for the program's end; False if its time was up first."""
    looked = began
    while not running.wait(TICK if timeout is None else min(TICK, began + timeout - time.monotonic())):
        now = time.monotonic()
        if stop is not None and stop.is_set():
            raise StoppedError("interrupted")
        if timeout is not None and now - began >= timeout:
            return False
        if look is not None and now - looked > LOOK:
            looked = now
            look()
    if look is not None:
        look()
    return True


def _said(running: Running, pumps: Sequence[threading.Thread], capture: Capture) -> str:
    running.kill()
    for thread in pumps:
        thread.join(DRAIN)
    return capture.text.strip()[-500:] or "bubblewrap did not say why"


def _readable(fd: int, seconds: float) -> bool:
    watched = select.poll()  # select() knows no descriptor above 1023
    watched.register(fd, select.POLLIN)
    return bool(watched.poll(seconds * 1000))


@lru_cache
def identity() -> Identity:
    """How sandboxes are made on this machine, found by making one; NotRunnableError says what is missing."""
    problems = []
    for candidate in Identity.candidates():
        try:
            ran = run(Box(identity=candidate), [INTERPRETER, "-I", "-c", "import json"], None, timeout=START)
        except Fault as exc:
            problems.append(str(exc))
            continue
        if ran.exit_code == 0:
            return candidate
        problems.append(ran.output.strip())
    raise NotRunnableError(
        f"bubblewrap cannot make a sandbox here ({problems[0]}). A normal user needs unprivileged user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), "
        "in a container CAP_SYS_ADMIN or `--security-opt seccomp=unconfined`; or name an image in the task"
    )


@lru_cache
def version() -> str:
    """The version of bubblewrap; NotRunnableError where it is missing."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        raise NotRunnableError(INSTALL)
    told = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, timeout=30)
    return told.stdout.strip() or "bubblewrap"

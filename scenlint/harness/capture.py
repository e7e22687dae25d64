"""Takes what a command prints, within bounds, and runs programs on the host (builds, agents)."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from scenlint.harness.environment import (
    HEAD,
    LOG_LIMIT,
    TAIL,
    Fault,
    FaultTimeoutError,
    InfrastructureError,
    Ran,
    StoppedError,
)

TICK = 0.2  # seconds between two looks at the clock and at the user's wish to stop
DRAIN = 2.0  # seconds that output may still come after its command has ended: a daemon may hold the pipe for ever


class Watch:
    """A time limit and the user's wish to stop, for work of the harness's own; `doing` completes "… took longer"."""

    def __init__(self, doing: str, timeout: float, stop: threading.Event | None) -> None:
        self.doing, self.timeout, self.stop = doing, timeout, stop
        self._deadline = time.monotonic() + timeout

    @property
    def left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.1)

    def check(self, said: str = "") -> None:
        if self.stop is not None and self.stop.is_set():
            raise StoppedError("interrupted")
        if time.monotonic() > self._deadline:
            raise FaultTimeoutError(f"{self.doing} took longer than {self.timeout:.0f} s{said and chr(10)}{said}")


class Capture:
    """Output of one command: to `log` up to LOG_LIMIT bytes, its head and tail, both streams apart if `split`."""

    def __init__(self, log: Path | None, *, split: bool = False) -> None:
        self.size = 0
        self.problem = ""  # why the log could not be written
        self._head, self._tail = bytearray(), bytearray()
        self._streams = {1: bytearray(), 2: bytearray()} if split else {}
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        if log is not None:
            try:
                log.parent.mkdir(parents=True, exist_ok=True)
                self._file = log.open("wb")
            except OSError as exc:
                raise InfrastructureError(f"`{log}` could not be written: {exc.strerror}") from exc

    def write(self, data: bytes, stream: int = 1) -> None:
        with self._lock:
            if self._file and self.size < LOG_LIMIT:
                try:
                    self._file.write(data[: LOG_LIMIT - self.size])
                except OSError as exc:
                    self.problem = f"the log could not be written: {exc.strerror}"
            kept = self._streams.get(stream)
            if kept is not None and len(kept) < LOG_LIMIT:
                kept += data[: LOG_LIMIT - len(kept)]
            self.size += len(data)
            room = HEAD - len(self._head)
            if room > 0:
                self._head += data[:room]
                data = data[room:]
            self._tail += data[-TAIL:]
            if len(self._tail) > 4 * TAIL:
                del self._tail[:-TAIL]

    def close(self) -> None:
        with self._lock:
            if self._file:
                try:
                    self._file.close()
                except OSError as exc:
                    self.problem = f"the log could not be written: {exc.strerror}"
                self._file = None

    @property
    def text(self) -> str:
        """Head and tail, with a line between them that says how much was cut."""
        with self._lock:
            head, tail = bytes(self._head), bytes(self._tail[-TAIL:])
            cut = self.size - len(head) - len(tail)
        if cut <= 0:
            return (head + tail).decode("utf-8", "replace")
        note = f"\n[… {cut} bytes cut …]\n"
        return head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")

    def ran(self, exit_code: int | None, duration: float, log: Path | None, *, timed_out: bool = False) -> Ran:
        """The result of the command whose output this is. A log that could not be written is a Fault."""
        self.close()
        if self.problem:
            raise InfrastructureError(self.problem)
        out, err = (bytes(self._streams.get(n, b"")) for n in (1, 2))
        return Ran(exit_code, duration, timed_out, self.text, log, out, err)


def bounded(text: str) -> str:
    """Head and tail of a long text, with a line between them that says how much was cut."""
    cut = len(text) - HEAD - TAIL
    return text if cut <= 0 else f"{text[:HEAD]}\n[… {cut} characters cut …]\n{text[-TAIL:]}"


def run_process(
    argv: Sequence[str],
    log: Path | None,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
    stdin: bytes = b"",
    split: bool = False,
    stop: threading.Event | None = None,
) -> Ran:
    """Run a program on the host in a process group of its own, which is killed whole when it ends or is out of time."""
    capture = Capture(log, split=split)
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if split else subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as exc:
        capture.close()
        raise Fault(f"`{argv[0]}` could not be started: {exc.strerror}") from exc
    pumps = [take(process.stdout, capture, 1)]
    if split:
        pumps.append(take(process.stderr, capture, 2))
    if process.stdin:
        threading.Thread(target=give, args=(process.stdin, stdin), daemon=True).start()
    timed_out = False
    try:
        while process.poll() is None:
            if stop is not None and stop.is_set():
                raise StoppedError("interrupted")
            if timeout is not None and time.monotonic() - began > timeout:
                timed_out = True
                break
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK)
    finally:
        duration = time.monotonic() - began
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pump in pumps:
            pump.join(DRAIN)
        capture.close()
    return capture.ran(None if timed_out else process.returncode, duration, log, timed_out=timed_out)


def take(pipe: IO[bytes] | None, capture: Capture, stream: int) -> threading.Thread:
    def pump() -> None:
        assert pipe is not None
        with suppress(OSError, ValueError), pipe:
            while data := os.read(pipe.fileno(), 65536):
                capture.write(data, stream)

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    return thread


def give(pipe: IO[bytes], data: bytes) -> None:
    with suppress(OSError), pipe:
        pipe.write(data)

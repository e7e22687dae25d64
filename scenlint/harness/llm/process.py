"""A program that is spoken with in lines of JSON, by its stdin and stdout; what else it says is logged."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from scenlint.harness.capture import DRAIN, TICK, Capture, take
from scenlint.harness.environment import InfrastructureError


class Process:
    """Runs in a process group of its own, which `close` kills whole."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.capture = Capture(log)
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        try:
            self._process = subprocess.Popen(
                argv,
                env=dict(env),
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as exc:
            self.capture.close()
            raise InfrastructureError(f"`{argv[0]}` could not be started: {exc.strerror}") from exc
        self._pump = take(self._process.stderr, self.capture, 2)
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """One value. If it has ended, that is heard by the next `receive`."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def receive(self) -> dict[str, Any] | None:
        """The next value; None: there is none yet. An empty one: it has ended."""
        try:
            return self._messages.get(timeout=TICK)
        except queue.Empty:
            return None

    def close(self) -> None:
        """End it, if it has not; then its whole output is in `capture`."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._pump.join(DRAIN)
        self.capture.close()
        with suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def _listen(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        with suppress(OSError, ValueError), pipe:
            for line in pipe:
                with suppress(ValueError):
                    message = json.loads(line)
                    if isinstance(message, dict) and message:
                        self._messages.put(message)
        self._messages.put({})

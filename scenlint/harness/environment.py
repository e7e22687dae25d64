"""What every environment of a trial offers, a container or a local sandbox: run, upload, read, collect, close."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenlint.task.plan import Command, Upload

HEAD = 16_000  # characters of a command's output that a record keeps from its beginning
TAIL = 16_000  # and from its end
LOG_LIMIT = 64 * 1024 * 1024  # bytes of a command's output that are kept in a file


@dataclass(frozen=True)
class Ran:
    """How a command ended. `exit_code` None: it did not end by itself. Output is stdout and stderr as they came.

    `log` is the file with the full output (up to LOG_LIMIT bytes); `stdout` and `stderr` are kept apart only where
    asked for (`Environment.run(split=True)`) and never cut below LOG_LIMIT: verdicts are parsed from them.
    """

    exit_code: int | None
    duration: float  # seconds
    timed_out: bool = False
    output: str = ""  # head and tail, with a line that says how much was cut
    log: Path | None = None
    stdout: bytes = b""
    stderr: bytes = b""


class Fault(Exception):  # noqa: N818
    """The environment failed, not what ran in it; `phase` is filled in by the trial. The text is for the user."""


class FaultTimeoutError(Fault):
    """Something of the harness's own (a build, a start, an upload) exceeded its limit."""


class InfrastructureError(Fault):
    """The machinery failed: no engine answers, the disk is full, a result cannot be recorded."""


class GoneError(Fault):
    """What ran in the environment ended it, or went beyond a limit: not a failure of the engine's own."""


class StoppedError(Fault):
    """The user interrupted the run."""


class Environment(Protocol):
    """A live environment of one trial. Everything it made carries the run's labels and is removed by `close`.

    Optional attributes: `variables` (dict), what a program on the host needs to reach it (SCENLINT_CONTAINER, ports);
    `urls` (dict), app -> URL; `notes` (list), limits that could not be held; `processes()`, the command lines of what
    still runs; `service(name)`, another container of a compose project; `others()` (dict), the running containers
    beside the agent's, by name; `flush()`, to be called before it is entered by another way than `run`; and `problem`,
    why `close` could not remove everything.
    """

    def run(self, command: Command, log: Path | None, *, split: bool = False) -> Ran:
        """Run to the end or to the command's timeout (then everything it started is killed). Output goes to `log`."""
        ...

    def upload(self, upload: Upload) -> None:
        """Copy a host file or folder into the environment, owned by root."""
        ...

    def fresh(self, folders: tuple[str, ...]) -> None:
        """Make folders of the harness's own anew: empty, whatever lay there before, and writable for everyone."""
        ...

    def read(self, path: str, limit: int = 1024 * 1024) -> bytes | None:
        """At most `limit` bytes of a regular file; None where there is none. Links and devices are not followed."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file or folder, whatever lies there."""
        ...

    def collect(self, path: str, target: Path, limit: int = 512 * 1024 * 1024) -> bool:
        """Copy a file or folder out to the host (no link or device is followed); False where there is none."""
        ...

    def close(self) -> None:
        """Stop and remove it all; never raises, safe to call twice."""
        ...

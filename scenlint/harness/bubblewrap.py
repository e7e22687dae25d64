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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenlint.harness.capture import DRAIN, TICK, Capture, give, take
from scenlint.harness.cgroups import Group
from scenlint.harness.environment import Fault, Ran, StoppedError
from scenlint.harness.identity import Identity
from scenlint.harness.system import PYTHON, SEARCH_PATH, accounts, folders, system_mounts
from scenlint.task.plan import Limits, NotRunnableError

START = 30.0  # seconds until a sandbox must have started
TMP_MB = 512  # size of /tmp and of /dev/shm, which are memory
LOOK = 1.0  # seconds between two looks at what a command uses
_INSIDE = "/.scenlint/inside.py"
_INSTALL = (
    "tasks without an image run in bubblewrap: install it (`apt install bubblewrap`, `dnf install bubblewrap`), "
    "or name an image in the task"
)


@dataclass(frozen=True)
class Mount:
    """A file or folder of the host at an absolute path of the sandbox."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Box:
    """What a program finds in its sandbox, and what it may use."""

    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/tmp"
    limits: Limits = field(default_factory=Limits)
    identity: Identity = field(default_factory=Identity)
    group: Group | None = None

    def variables(self) -> dict[str, str]:
        """The whole environment of the program: nothing of the harness's own."""
        return {"PATH": SEARCH_PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", **self.env}


class Running:
    """A started sandbox. It must be ended by the thread that started it: when that thread dies, so does the sandbox."""

    def __init__(self, box: Box, argv: Sequence[str], *, stdin: Any, stdout: Any, stderr: Any) -> None:
        pipes = [os.pipe() for _ in range(3)]
        (self._info, info), (block, self._block), (self._ready, ready) = pipes
        self._init: int | None = None
        texts = {path: _memory_file(text) for path, text in accounts(box.identity.inner).items()}
        given = [info, block, ready, *texts.values()]
        try:
            self.process = subprocess.Popen(
                _command(box, argv, texts, info=info, block=block, ready=ready),
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
            raise Fault(f"the sandbox could not be started: {exc.strerror}") from exc
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
            select.select([self._init], [], [], 10)
        self.process.wait()
        self._close()

    def _read(self, fd: int, size: int = 65536) -> bytes:
        if not select.select([fd], [], [], START)[0]:
            return b""
        return os.read(fd, size)

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
            raise Fault(f"the sandbox could not be made: {_said(running, pumps, capture)}")
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


# The command line


def _memory_file(text: str) -> int:
    fd = os.memfd_create("scenlint")
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _command(
    box: Box, argv: Sequence[str], texts: Mapping[str, int], *, info: int, block: int, ready: int
) -> list[str]:
    program = shutil.which("bwrap")
    if program is None:
        raise NotRunnableError(_INSTALL)
    settings = {
        "limits": _limits(box.limits, box.identity),
        "user": box.identity.user,
        "locale": "LC_CTYPE" in box.env,
        "ready": ready,
        "cwd": box.cwd,
    }
    inside = Mount(Path(__file__).with_name("inside.py"), _INSIDE)
    return [
        program,
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *box.identity.arguments(),
        *("--hostname", "sandbox", "--new-session", "--die-with-parent"),
        *("--info-fd", str(info), "--block-fd", str(block)),
        *system_mounts(),
        *("--proc", "/proc", "--dev", "/dev"),
        *_scratch("/dev/shm"),
        *("--remount-ro", "/dev"),
        *_scratch("/tmp"),
        *(part for path, fd in texts.items() for part in ("--perms", "0644", "--ro-bind-data", str(fd), path)),
        *_mounts((inside, *box.mounts)),
        *("--remount-ro", "/"),
        *("--", PYTHON, "-I", "-S", _INSIDE, json.dumps(settings), *argv),
    ]


def _scratch(path: str) -> list[str]:
    return ["--perms", "1777", "--size", str(TMP_MB * 1024 * 1024), "--tmpfs", path]


def _mounts(mounts: Sequence[Mount]) -> list[str]:
    out: list[str] = []
    for mount in mounts:
        out += folders(Path(mount.target))
        out += ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
    return out


def _limits(limits: Limits, identity: Identity) -> dict[str, int]:
    """Limits of each single process. Those on all of them together are the group's."""
    out = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 4096}
    # Not RLIMIT_AS: many programs reserve addresses that they never use.
    if limits.memory_mb:
        out["RLIMIT_DATA"] = limits.memory_mb * 15 // 16 * 1024 * 1024  # below the group's limit: an error beats a kill
    if limits.storage_mb:
        out["RLIMIT_FSIZE"] = limits.storage_mb * 1024 * 1024
    if limits.pids and identity.counts_alone:
        out["RLIMIT_NPROC"] = limits.pids
    return out


@lru_cache
def identity() -> Identity:
    """How sandboxes are made on this machine, found by making one; NotRunnableError says what is missing."""
    problems = []
    for candidate in Identity.candidates():
        try:
            ran = run(Box(identity=candidate), [sys.executable, "-I", "-c", "import json"], None, timeout=START)
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
        raise NotRunnableError(_INSTALL)
    told = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, timeout=30)
    return told.stdout.strip() or "bubblewrap"

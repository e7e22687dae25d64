"""Limits on memory, processes and CPU for a local sandbox as a whole, where this process may make control groups."""

from __future__ import annotations

import itertools
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from scenlint.task.plan import Limits

ROOT = Path("/sys/fs/cgroup")
_PREFIX = "scenlint-"
_PERIOD = 100_000  # microseconds
_numbers = itertools.count()


class Group:
    """A control group, in each hierarchy there is. `held` names what it limits: nothing where none can be made."""

    def __init__(self, limits: Limits) -> None:
        self.held: set[str] = set()
        self.folders: list[Path] = []
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        unified = (ROOT / "cgroup.controllers").exists()
        for kind, parent in _hierarchies(unified):
            folder = parent / name
            with suppress(OSError):
                if folder not in self.folders:
                    _delegate(parent, kind) if unified else None
                    folder.mkdir()
                    self.folders.append(folder)
            with suppress(OSError):
                if folder in self.folders and _limit(folder, kind, limits, unified):
                    self.held.add(kind)

    def add(self, pid: int) -> None:
        for folder in self.folders:
            try:
                (folder / "cgroup.procs").write_text(str(pid))
            except OSError:
                self.held.clear()  # it would be a lie

    @property
    def killed(self) -> int:
        """How many processes in it were killed for want of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError, ValueError):
                    told = dict(line.split() for line in (folder / name).read_text().splitlines())
                    return int(told["oom_kill"]) if "oom_kill" in told else 0
        return 0

    def close(self) -> None:
        """Kill what is left in it and remove it."""
        for folder in self.folders:
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                _kill(folder)
                with suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.01)
        self.folders = []


def sweep() -> None:
    """Remove groups whose maker has died; only empty ones can be removed, so nobody is hurt."""
    for folder in {*ROOT.glob(f"{_PREFIX}*"), *ROOT.glob(f"*/{_PREFIX}*")}:
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):
                folder.rmdir()


def _hierarchies(unified: bool) -> list[tuple[str, Path]]:
    if unified:
        return [(kind, ROOT) for kind in ("memory", "pids", "cpu")]
    return [(kind, ROOT / kind) for kind in ("memory", "pids", "cpu") if (ROOT / kind / "cgroup.procs").exists()]


def _delegate(parent: Path, kind: str) -> None:
    with suppress(OSError):
        (parent / "cgroup.subtree_control").write_text(f"+{kind}")


def _limit(folder: Path, kind: str, limits: Limits, unified: bool) -> bool:
    match kind:
        case "memory" if limits.memory_mb:
            size = str(limits.memory_mb * 1024 * 1024)
            (folder / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(size)
            with suppress(OSError):  # swap is not everywhere accounted for
                (folder / ("memory.swap.max" if unified else "memory.memsw.limit_in_bytes")).write_text(
                    "0" if unified else size
                )
        case "pids" if limits.pids:
            (folder / "pids.max").write_text(str(limits.pids))
        case "cpu" if limits.cpus:
            quota = max(int(limits.cpus * _PERIOD), 1000)
            if unified:
                (folder / "cpu.max").write_text(f"{quota} {_PERIOD}")
            else:
                (folder / "cpu.cfs_quota_us").write_text(str(quota))
        case _:
            return False
    return True


def _kill(folder: Path) -> None:
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    with suppress(OSError, ValueError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

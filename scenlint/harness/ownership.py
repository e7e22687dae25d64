"""Whose things are whose: labels that tell later whether the process that made a container still lives."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


def owner() -> dict[str, str]:
    """Labels that tell later whether the process that made a thing still lives, and from when on it did."""
    return {**_here(), "scenlint.pid": str(os.getpid()), "scenlint.pid-started": _started(os.getpid()) or ""}


@lru_cache
def _here() -> dict[str, str]:
    boot, space = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    return {
        "scenlint.host": socket.gethostname(),
        "scenlint.boot": boot.read_text().strip() if boot.exists() else "",
        "scenlint.pids": os.readlink(space) if space.exists() else "",
    }


def _started(pid: int) -> str | None:
    """When a process started, in its system's own terms; None where there is none."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True)
    return shown.stdout.strip() or None


def alive(labels: Mapping[str, str]) -> bool | None:
    """Whether the process that made a thing still lives; None where that cannot be told from here."""
    here = _here()
    if labels.get("scenlint.host") != here["scenlint.host"]:
        return None
    if labels.get("scenlint.boot") != here["scenlint.boot"]:
        return False
    if labels.get("scenlint.pids") != here["scenlint.pids"]:
        return None
    try:
        pid = int(labels.get("scenlint.pid", ""))
    except ValueError:
        return None
    return _started(pid) == labels.get("scenlint.pid-started")

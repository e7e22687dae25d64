"""What a local sandbox consists of, and the command line of bubblewrap that makes it."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scenlint.harness.cgroups import Group
from scenlint.harness.identity import Identity
from scenlint.harness.system import PYTHON, SEARCH_PATH, folders, system_mounts
from scenlint.task.plan import Limits, NotRunnableError

TMP_MB = 512  # size of /tmp and of /dev/shm, which are memory
INSTALL = (
    "tasks without an image run in bubblewrap: install it (`apt install bubblewrap`, `dnf install bubblewrap`), "
    "or name an image in the task"
)
_turns = itertools.count()
_INSIDE = "/.scenlint/inside.py"


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


def memory_file(text: str) -> int:
    fd = os.memfd_create("scenlint")
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def command(box: Box, argv: Sequence[str], texts: Mapping[str, int], *, info: int, block: int, ready: int) -> list[str]:
    program = shutil.which("bwrap")
    if program is None:
        raise NotRunnableError(INSTALL)
    held = box.group.held if box.group is not None else set()
    settings = {
        "limits": _limits(box.limits, box.identity),
        "user": box.identity.user,
        "locale": "LC_CTYPE" in box.env,
        # Without a group that counts time, processors are given out in turn.
        "cpus": 1 if box.limits.one_cpu else math.ceil(box.limits.cpus or 0) if "cpu" not in held else 0,
        "turn": next(_turns),
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
        *_scratch("/tmp"),  # first: the interpreter's own folder may lie below it
        *system_mounts(),
        *("--proc", "/proc", *box.identity.covers(), "--dev", "/dev"),
        *_scratch("/dev/shm"),
        *("--remount-ro", "/dev"),
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

"""Who a program in a local sandbox is: a user of its own where root makes the sandbox, else a user namespace's."""

from __future__ import annotations

import itertools
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

INNER = 1000  # user id as seen in a user namespace
_numbers = itertools.count()


@dataclass(frozen=True)
class Identity:
    """`user`: the id that root's sandboxes change to, which owns what the program may write; None: a user namespace."""

    user: int | None = None

    @classmethod
    def candidates(cls) -> Iterator[Identity]:
        """What may work here, the better first."""
        if os.geteuid() == 0 and (spare := _spare_id()) is not None:
            yield cls(spare)
        yield cls()

    def another(self) -> Identity:
        """One more of the same kind: what runs as one cannot touch what runs as another."""
        return self if self.user is None else replace(self, user=_spare_id())

    def arguments(self) -> list[str]:
        """For bubblewrap."""
        if self.user is not None:
            return ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        inner = ["--unshare-user", "--uid", str(INNER), "--gid", str(INNER)]
        return [*inner, "--disable-userns"] if _can_disable() else inner

    def covers(self) -> list[str]:
        """For bubblewrap, after /proc: the kernel's settings belong to root, also to one without any rights."""
        if self.user is not None or os.geteuid() != 0:
            return []
        paths = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
        return [part for path in paths if os.path.exists(path) for part in ("--ro-bind", path, path)]

    @property
    def counts_alone(self) -> bool:
        """Whether the limit on a user's processes counts only those of the sandbox."""
        if self.user is not None:
            return True
        found = re.match(r"(\d+)\.(\d+)", platform.release())
        # Before Linux 5.14 all of a user's processes count; root's are never limited.
        return os.geteuid() != 0 and found is not None and (int(found[1]), int(found[2])) >= (5, 14)

    def own(self, path: Path) -> None:
        """Make a file, folder or link the program's."""
        if self.user is not None:
            os.chown(path, self.user, self.user, follow_symlinks=False)

    @property
    def inner(self) -> int:
        """The user id that the program sees."""
        return INNER if self.user is None else self.user


def _spare_id() -> int | None:
    """A user id that nobody has, mapped in this namespace; None where ids are scarce."""
    try:
        lines = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return None
    start, _, count = max(([int(n) for n in line] for line in lines), key=lambda line: line[2], default=(0, 0, 0))
    if count < 2000:
        return None
    number = (os.getpid() * 64 + next(_numbers)) % min(count // 4, 1 << 22)
    # Away from the ends: ids there are used by distributions and container engines.
    return start + min(count - count // 3, 1_879_048_192) + number


@lru_cache
def _can_disable() -> bool:
    told = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, timeout=30)
    return "--disable-userns" in told.stdout + told.stderr

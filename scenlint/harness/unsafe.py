"""What a container asks of the machine that could harm it, by the names that `--allow-unsafe` takes.

Plans name it too, from what the task's files say; here it is judged again where it would be done.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from scenlint.harness.engine import Options
from scenlint.task.plan import NotRunnableError

SOCKET = "docker-socket"
MOUNT = "host-mount"
FILES = "host-files"
OTHER = "other-container"
_SOCKETS = re.compile(r"(?:docker|podman|containerd)\.sock\b")
_HARMLESS = re.compile(r"no-new-privileges(?:[:=]true)?|label[:=].*|(?:seccomp|apparmor)[:=](?!unconfined).*")


def refuse(asked: Iterable[str], options: Options) -> None:
    """NotRunnableError unless all of it is allowed."""
    refused = sorted(set(asked) - options.allow_unsafe)
    if refused:
        named = ", ".join(f"`{what}`" for what in refused)
        raise NotRunnableError(
            f"the task asks for {named}, which is unsafe here. If you trust it: `--allow-unsafe {','.join(refused)}`"
        )


def namespace(kind: str, value: str) -> Iterator[str]:
    """A namespace that is shared with the machine or with a container outside of the trial."""
    if value == "host":
        yield f"host-{kind}"
    elif value.startswith("container:"):
        yield OTHER


def security_option(value: str) -> Iterator[str]:
    if not _HARMLESS.fullmatch(value):
        yield "security-opt"


def bind(source: str, writable: bool, folder: Path | None = None) -> Iterator[str]:
    """A file or folder of this machine in a container: harmless only if read-only and really inside of `folder`.

    Without `folder` the plan has judged where it lies; only links, which may lead elsewhere, are looked at.
    """
    real = Path(os.path.realpath(source))
    if _SOCKETS.search(source) or _is_socket(real):
        yield SOCKET
    elif writable or not real.is_relative_to(folder.resolve() if folder else os.path.abspath(source)):
        yield MOUNT


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False

"""What commands install: the arguments of pip, uv, npm, gem, cargo, go, apt and their like, read as those tools do."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.task.installs.model import Arg, Install, Origin, arguments
from scenlint.task.installs.others import SYSTEM, read_other
from scenlint.task.installs.python import read_python, read_requirement

__all__ = ["SYSTEM", "Arg", "Install", "Origin", "arguments", "read_installs", "read_requirement"]


def read_installs(args: list[Arg]) -> Iterator[Install]:
    """What a command with these arguments installs."""
    if args:
        yield from read_python(args)
        yield from read_other(args)

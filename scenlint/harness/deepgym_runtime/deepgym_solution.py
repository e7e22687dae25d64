"""The module `deepgym_solution` of DeepGym verifiers: the only ways to touch a solution.

A solution runs in a sandbox of its own. Whatever it does there (raise, exit, hang, die, return garbage) reaches the
verifier as a SolutionError, which is also of the builtin type that the solution raised.
"""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from . import folders, loopback, wire
from .errors import LaunchError, RunTimeoutError, SolutionError, SolutionTimeoutError
from .handles import Owner
from .outputs import read_output, read_output_bytes, solution_bytes, solution_source
from .patch import apply_patch
from .process import SESSION, Remote

__all__ = [
    "LaunchError",
    "SolutionError",
    "SolutionTimeoutError",
    "apply_patch",
    "consulted",
    "load_files",
    "load_solution",
    "read_output",
    "read_output_bytes",
    "run_solution",
    "solution_namespace",
    "solution_source",
]

_Path = str | os.PathLike[str]
_GRACE = 5.0  # seconds that the other side has to report its own time-out


class Solution:
    """A loaded solution: its public names as attributes."""

    def __init__(self, owner: Owner) -> None:
        object.__setattr__(self, "_owner", owner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._owner.export(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a solution cannot be changed from outside")

    def __dir__(self) -> list[str]:
        self._owner.live()
        return sorted(self._owner.exports)


def load_solution(path: _Path) -> Solution:
    """Load the solution in a process of its own; what comes back from its functions is plain data or a handle."""
    return load_files({_name(path): solution_bytes(path)}, _name(path))


def load_files(files: Mapping[str, str | bytes], entry: str) -> Solution:
    """Load one of several files, which may import the others."""
    SESSION.consulted = True
    if entry not in files:
        raise ValueError(f"`{entry}` is not among the files")
    for name in files:
        if os.path.isabs(name) or ".." in name.split("/"):
            raise ValueError(f"`{name}` is no plain relative path")
    content = {name: text.encode("utf-8") if isinstance(text, str) else bytes(text) for name, text in files.items()}
    return Solution(Owner(content, entry))


def solution_namespace(solution: Solution) -> dict[str, Any]:
    """The public names of a loaded solution with their values."""
    return {name: getattr(solution, name) for name in dir(solution)}


def consulted() -> bool:
    """Whether the solution has been touched: from then on the run is judged, whatever happens."""
    return SESSION.consulted


def run_solution(
    path: _Path,
    args: Iterable[object] = (),
    *,
    cwd: _Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str | bytes | None = None,
    timeout: float | None = None,
    allow_subprocess: bool = False,  # it always may: on this system nothing is lost by it
    loopback_port: int | None = None,
) -> subprocess.CompletedProcess[Any]:
    """Run the solution as a script; check the `returncode` of what comes back. Output is text, unless `input` is bytes.

    It works on a copy of `cwd`, whose contents are afterwards those that it left; links out of it are dropped.
    """
    SESSION.consulted = True
    argv = [os.fspath(path), *(os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in args)]
    folder = os.path.realpath(cwd) if cwd is not None else None
    there = folder if folder is not None and folder.startswith("/tmp/") else "/tmp/work"
    own = os.path.realpath(path)
    script = there + own.removeprefix(folder) if folder is not None and own.startswith(folder + os.sep) else None
    content = solution_bytes(path)
    deadline = SESSION.until(timeout)
    remote = Remote()
    try:
        given = input.encode("utf-8") if isinstance(input, str) else input
        message: dict[str, Any] = {
            "op": "run",
            "files": {_name(path): wire.encode(content, dict)},
            "entry": _name(path),
            "script": script,
            "args": argv[1:],
            "cwd": there,
            "tree": folders.pack(folder) if folder is not None else None,
            "env": {str(k): str(v) for k, v in (env or {}).items()},
            "input": None if given is None else base64.b64encode(given).decode("ascii"),
            "timeout": max(SESSION.left(deadline), 0.1),
            "port": loopback_port,
        }
        limit = message["timeout"]
        if loopback_port is not None:
            remote.before_answer = lambda: loopback.relay(remote.sock, loopback_port)
        answer = remote.request(message, deadline + _GRACE, "the run")
    finally:
        remote.close()
    return _completed(answer, argv, limit, folder, isinstance(input, bytes))


def _completed(
    answer: Mapping[str, Any], argv: list[str], limit: float, cwd: str | None, binary: bool
) -> subprocess.CompletedProcess[Any]:
    try:
        out, err = (base64.b64decode(str(answer[key])) for key in ("out", "err"))
        if cwd is not None:
            folders.unpack(answer.get("tree"), cwd)
        code = answer["code"]
        if answer["late"]:
            raise RunTimeoutError(argv, limit, out, err)
        if type(code) is not int:
            raise ValueError("no exit status")
    except (KeyError, ValueError, OSError, wire.GarbageError) as exc:
        raise SolutionError(f"the run left something that cannot be read: {exc}") from None
    if binary:
        return subprocess.CompletedProcess(argv, code, out, err)
    return subprocess.CompletedProcess(argv, code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _name(path: _Path) -> str:
    return os.path.basename(os.fspath(path))

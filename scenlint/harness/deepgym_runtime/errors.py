"""The errors a verifier sees: what the solution did wrong, as the builtin it raised, and what the machine failed at."""

from __future__ import annotations

import builtins
import subprocess
from functools import cache
from typing import Any


class SolutionError(Exception):
    """The solution raised, ended, hung or returned garbage. Uncaught it makes the run a judged 0."""

    error_type = "solution_error"

    def __init__(self, message: str = "") -> None:
        self.message = message
        Exception.__init__(self, message)

    def __str__(self) -> str:
        return self.message


class SolutionTimeoutError(SolutionError):
    """The solution took longer than it may."""

    error_type = "solution_timeout"


class CallTimeoutError(SolutionTimeoutError, TimeoutError):
    """A call of the solution took longer than it may."""


class RunTimeoutError(SolutionTimeoutError, subprocess.TimeoutExpired):
    """A run of the solution took longer than it may."""

    def __init__(self, cmd: Any, timeout: float, output: Any = None, stderr: Any = None) -> None:
        subprocess.TimeoutExpired.__init__(self, cmd, timeout, output, stderr)
        self.message = f"the solution ran longer than {timeout:g} s"


class PatchError(SolutionError, ValueError):
    """A patch that is none, or that does not fit."""

    def __init__(self, message: str, error_type: str) -> None:
        super().__init__(message)
        self.error_type = error_type


class LaunchError(BaseException):
    """The machine could not start the solution before any of its code had run. It must propagate: no verdict."""


def raised(name: str, base: str, text: str) -> SolutionError:
    """What the solution raised, also as the builtin `base` it derives from."""
    shown = text if name == base else f"{name}: {text}" if text else name
    return _as_builtin(base)(shown)


@cache
def _as_builtin(name: str) -> type[SolutionError]:
    base = getattr(builtins, name, None)
    if not isinstance(base, type) or not issubclass(base, Exception) or base in (Exception, ExceptionGroup):
        return SolutionError
    if issubclass(base, TimeoutError):
        return CallTimeoutError
    try:
        made = type(f"Solution{name}", (SolutionError, base), {"__module__": SolutionError.__module__})
        made("")
    except TypeError:
        return SolutionError
    return made

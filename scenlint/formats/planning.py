"""What all formats' plans share: settings read strictly, files of the task, variables of this machine, oracles."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from scenlint.source.data import Data
from scenlint.source.regex import regex
from scenlint.task.finding import Location
from scenlint.task.model import Document, Task
from scenlint.task.plan import Command, NotRunnableError, Oracle, Upload
from scenlint.task.policy import Policy

ORACLE = "/oracle"  # where a solution from the configuration lies
_VARIABLE = regex(r"\$\{([^}:]+)(?::-(.*))?\}", re.DOTALL)
_SIZE = regex(r"\s*([\d.]+)\s*([KMGT]?)I?B?\s*", re.IGNORECASE)
_UNITS = {"": 1 / 1024**2, "K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}
_PROGRAMS = {".py": ("python3",), ".sh": ("bash",), ".bash": ("bash",)}


class Passed(str):
    """A value taken from this machine; `named` is what the task says instead, and what counts for a digest."""

    named: str

    def __new__(cls, value: str, named: str = "") -> Passed:
        made = super().__new__(cls, value)
        made.named = named
        return made


class Settings:
    """A metadata file whose values are asked for by type: NotRunnableError names one that cannot be used."""

    def __init__(self, document: Document | None, file: str) -> None:
        if document is None:
            raise NotRunnableError(f"{file} is missing or cannot be read")
        error = document.data.error
        if error is not None:
            raise NotRunnableError(f"{file}, line {Location.of(error.span).line}: {error.message}")
        self.data: Data = document.data
        self.file = file
        if not isinstance(self.data.value, dict):
            raise NotRunnableError(f"{file} holds no mapping of settings")

    def text(self, *at: str | int) -> str | None:
        return self._get(at, str, "text")  # type: ignore[no-any-return]

    def number(self, *at: str | int) -> float | None:
        found = self._get(at, int | float, "a number")
        if found is not None and not math.isfinite(found):
            raise self.wrong(at, "a finite number")
        return None if found is None else float(found)

    def positive(self, *at: str | int) -> float | None:
        """A limit, a size or a time."""
        found = self.number(*at)
        if found is not None and found <= 0:
            raise self.wrong(at, "a number above 0")
        return found

    def count(self, *at: str | int) -> int | None:
        """A whole number above 0."""
        found = self.positive(*at)
        return None if found is None else max(1, round(found))

    def flag(self, *at: str | int) -> bool | None:
        return self._get(at, bool, "true or false")  # type: ignore[no-any-return]

    def table(self, *at: str | int) -> dict[str, Any]:
        return self._get(at, dict, "a table") or {}

    def items(self, *at: str | int) -> list[Any]:
        return self._get(at, list, "a list") or []

    def texts(self, *at: str | int) -> list[str]:
        found = self.items(*at)
        if not all(isinstance(item, str) for item in found):
            raise self.wrong(at, "a list of texts")
        return found

    def has(self, *at: str | int) -> bool:
        return self.data.get(*at) is not None

    def wrong(self, at: Iterable[str | int], wanted: str) -> NotRunnableError:
        """What to raise for a value that is none of what is wanted."""
        path = tuple(at)
        shown = repr(self.data.get(*path))[:60]
        return NotRunnableError(f"`{'.'.join(map(str, path))}` in {self.file} is {shown}; it must be {wanted}")

    def _get(self, at: tuple[str | int, ...], kind: Any, wanted: str) -> Any:
        found = self.data.get(*at)
        # A truth value is a number to Python.
        if found is not None and (not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool)):
            raise self.wrong(at, wanted)
        return found


def megabytes(text: str) -> int | None:
    """`2G` or `512 MB` in MB; None where it is no size."""
    found = _SIZE.fullmatch(text)
    try:
        return max(1, int(float(found[1]) * _UNITS[found[2].upper()])) if found else None
    except ValueError:
        return None


# ---------------------------------------------------------------- files


def file_in(task: Task, path: str) -> Path:
    """A file of the task that the harness copies or builds from: never what a link leads out to."""
    entry = task.files.entries.get(path)
    if entry is None:
        raise NotRunnableError(f"`{path}` is missing")
    if entry.problem:
        raise NotRunnableError(f"`{path}` {entry.problem}")
    return task.folder.resolve() / path


def folder_in(task: Task, path: str) -> Path:
    """A folder of the task."""
    if path.strip("/") not in ("", ".") and not task.files.has_dir(path):
        raise NotRunnableError(f"the folder `{path}` is missing")
    return task.folder.resolve() / path


def brief_of(task: Task, step: str | None = None) -> str:
    """What the agent is told."""
    found = next((b for b in task.briefs if b.step == step), None)
    if found is None:
        where = f" for step `{step}`" if step else ""
        why = next((reason for role, reason in task.absent.items() if role == "brief"), "")
        raise NotRunnableError(f"there is no brief{where}{': ' + why if why and not where else ''}")
    return found.prose.text


# ---------------------------------------------------------------- variables


def passed_on(env: Mapping[str, Any], policy: Policy, where: str) -> tuple[tuple[str, str], ...]:
    """Variables as a task declares them; `${NAME}` and `${NAME:-default}` only where the configuration passes it on."""
    out = []
    for name, value in env.items():
        if not isinstance(value, str):
            raise NotRunnableError(f"`{name}` in {where} is {value!r}; the value of a variable must be text")
        found = _VARIABLE.fullmatch(value)
        out.append((name, value if found is None else _from_here(found, policy, f"`{name}` in {where}")))
    return tuple(out)


def named_in(text: str, policy: Policy) -> tuple[tuple[str, str], ...]:
    """The variables that a compose file names and the configuration passes on."""
    names = sorted({found[1] for found in re.finditer(r"\$\{?(\w+)", text)} & {*policy.pass_env} & {*os.environ})
    return tuple((name, Passed(os.environ[name], f"${{{name}}}")) for name in names)


def _from_here(found: re.Match[str], policy: Policy, what: str) -> str:
    name, default = found.groups()
    if name in policy.pass_env and name in os.environ:
        return Passed(os.environ[name], found[0])
    if default is not None:
        return str(default)
    raise NotRunnableError(
        f"{what} wants `{name}` from this machine: "
        + ("it is not set" if name in policy.pass_env else "name it under `pass-env` in scenlint.toml, and set it")
    )


# ---------------------------------------------------------------- oracles from the configuration


def configured_oracle(task: Task) -> Oracle | None:
    """The solution that `[oracles]` names for a task whose format has no place for one; it runs in the workspace."""
    named = task.policy.oracles
    keys = [task.id] if task.id in named else [key for key in named if fnmatchcase(task.id, key)]
    for key in keys:
        path = Path(named[key].replace("{id}", task.id))
        if os.path.isfile(path):
            return _script(path)
        if key == task.id:
            raise NotRunnableError(
                f"`[oracles]` names `{path}` as the solution of `{task.id}`, and there is no such file"
            )
    return None


def _script(path: Path) -> Oracle:
    place = f"{ORACLE}/{path.name}"
    program = _PROGRAMS.get(path.suffix, ())
    return Oracle((Upload(path.resolve(), place, executable=True),), Command((*program, place)))

"""What `scenlint new` writes: a small sound task of a format, whose content is to be replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

SCAFFOLD = Path(__file__).parent / "scaffold"  # the base tasks; in `new` what a starter has beside or instead
NAME = r"[a-z0-9][a-z0-9._-]*"


class BadNameError(ValueError):
    """The format takes no task of that name; the text says what it takes."""


@dataclass(frozen=True)
class Starter:
    """Paths are relative to the folder in which the task is made."""

    task: str  # what is checked and validated
    files: Mapping[str, str]  # the task's own; none of them may exist
    edit: Sequence[tuple[str, str]]  # what to change next: path, and what to put there
    shared: Mapping[str, str] = field(default_factory=dict)  # the suite's; those that exist stay as they are
    settings: str = ""  # lines for scenlint.toml; `{here}` stands for the folder, "" or with a slash at its end


@runtime_checkable
class Starts(Protocol):
    """A format that `scenlint new` can make a task of; one without this method has no starter."""

    name: str

    def starter(self, name: str) -> Starter:
        """A task of that name that lints clean, whose oracle earns 1.0 and nop less. BadNameError for a bad name."""
        ...


def check_name(
    name: str, pattern: str = NAME, says: str = "small letters, digits and `.`, `_`, `-`, such as `my-task`"
) -> str:
    """The name, if it is one that the format takes."""
    if not re.fullmatch(pattern, name):
        raise BadNameError(f"`{name}` cannot be the name of a task of this format: it takes {says}")
    return name


def template(format: str, replaced: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The files of a format's starter, words replaced in paths and texts: the base task and what `new` lays over it.

    Where the base task is none to begin with, what lies in `new` is all there is.
    """
    over = dict(_files(SCAFFOLD / "new" / format))
    base = {} if "apps.yaml" in over else dict(_files(SCAFFOLD / format))
    return {
        prefix + _replace(path, replaced): _replace(text, replaced) for path, text in sorted({**base, **over}.items())
    }


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path.read_text("utf-8")


def _replace(text: str, replaced: Mapping[str, str]) -> str:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Written:
    """What was written, and the suite's files that were left as they are though the task needs them otherwise."""

    files: list[str]
    kept: list[str]


def write(starter: Starter, folder: Path) -> Written:
    """Write a starter into a folder. FileExistsError, before anything is written, where a file of its is there."""
    task = folder / starter.task
    there = [task] if task.is_dir() else [folder / path for path in starter.files if (folder / path).exists()]
    if there or task.is_symlink():
        raise FileExistsError(str(there[0] if there else task))
    kept = [p for p, text in starter.shared.items() if (folder / p).exists() and _other(folder / p, text)]
    new = {**starter.files, **{p: text for p, text in starter.shared.items() if not (folder / p).exists()}}
    for path, text in new.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if text.startswith("#!"):
            target.chmod(0o755)
    return Written(list(new), kept)


def _other(path: Path, text: str) -> bool:
    try:
        return path.read_text("utf-8") != text
    except (OSError, UnicodeDecodeError):
        return True

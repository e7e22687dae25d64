"""Finding the tasks that an eval.yaml names, and the files around it that its graders name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from scenlint.formats.base import sniff
from scenlint.source import trace
from scenlint.source.files import ENTRY_LIMIT, FileTree, read_source
from scenlint.source.regex import regex
from scenlint.source.text import Source
from scenlint.source.yaml_reader import read

EVAL_FILES = ("eval.yaml", "eval.yml")
_LEVELS = 4  # folders above the eval that waza may have been started from

DEFAULT_TASKS = "tasks/*.yaml"
_STARS = regex(r"(?:\*\*/)+")
_SAMPLE = 5  # task files that are looked into where the eval itself does not tell
_INPUTS = regex(r"^inputs[ \t]*:[^\n]*\n(?:(?:[ \t][^\n]*)?\r?\n)*?[ \t]+prompt[ \t]*:", re.MULTILINE)
_IDENTITY = regex(r"^(?:id|name)[ \t]*:", re.MULTILINE)
_KEY = regex(r"^(name|config|tasks|tasks_from|skill|graders|metrics)[ \t]*:", re.MULTILINE)


def is_eval(text: str, folder: Path) -> bool:
    """Whether a text is a Waza eval (many tools have an eval.yaml): name, config and task files at its top level.

    A broken one, or one that lacks some of this, is one where the folder holds Waza's tasks.
    """
    keys = set(_KEY.findall(text))
    value = _value(text)
    whole = {"name", "config"} <= keys and bool(keys & {"tasks", "tasks_from"})
    if isinstance(value, dict):
        sound = isinstance(value.get("config"), dict) and (
            _texts(value.get("tasks")) or isinstance(value.get("tasks_from"), str)
        )
        return (whole and sound) or (bool(keys) and _holds_tasks(folder))
    return (whole and bool(keys & {"skill", "graders", "metrics"})) or _holds_tasks(folder)


def _value(text: str) -> Any:
    """What YAML makes of a text; None where it is broken, too."""
    return read(text).value


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _holds_tasks(folder: Path) -> bool:
    """Whether tasks/ holds files that are Waza's by their content."""
    for path in sorted(_glob(folder, DEFAULT_TASKS))[:_SAMPLE]:
        text = sniff(path)
        if _INPUTS.search(text) and _IDENTITY.search(text):
            return True
    return False


def task_keys(folder: Path, text: str) -> list[str]:
    """The task files that an eval's patterns match, relative to its folder; [] where there are none."""
    value = _value(text)
    if isinstance(value, dict):
        tasks = value.get("tasks")
        patterns = [p for p in tasks if isinstance(p, str)] if isinstance(tasks, list) else []
    else:
        patterns = re.findall(r"^[ \t]*-\s*[\"']?([\w./*-]+\.ya?ml)[\"']?\s*$", text, re.MULTILINE) or [DEFAULT_TASKS]
    keys = {path.relative_to(folder).as_posix() for pattern in patterns for path in _glob(folder, pattern)}
    return sorted(keys - {*EVAL_FILES})


def _glob(folder: Path, pattern: str) -> Iterator[Path]:
    pattern = _STARS.sub("**/", pattern.removeprefix("./"))
    # Each `**` walks the whole folder again for every folder that the part before it matches.
    if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts or pattern.count("**") > 2:
        return
    try:
        yield from islice((path for path in folder.glob(pattern) if trace.is_file(path)), ENTRY_LIMIT)
    except (ValueError, OSError, NotImplementedError):
        return


class Places:
    """Where a path in an eval can lead: waza resolves it against the folder it is started from, and none is fixed."""

    def __init__(self, tree: FileTree) -> None:
        self.tree = tree
        self.root = tree.root.resolve()
        self.bases = [self.root]
        for above in list(self.root.parents)[:_LEVELS]:
            if trace.exists(self.bases[-1] / ".git"):
                break
            self.bases.append(above)

    def find(self, name: str, *extra: str) -> Path | None:
        """The file or folder that a relative path names; `extra` are further bases inside the eval's folder."""
        for base in [*self.bases, *(self.root / e for e in extra)]:
            try:
                if trace.exists(base / name):
                    return (base / name).resolve()
            except OSError:
                return None
        return None

    def read(self, path: Path) -> Source | None:
        """A file beside or above the eval, bounded; through the task's own tree where it lies in it."""
        if path.is_relative_to(self.root):
            return self.tree.read(path.relative_to(self.root).as_posix())
        return read_source(path)

"""Finding the tasks that an eval.yaml names, and the files around it that its graders name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.source.files import FileTree, read_source
from scenlint.source.regex import regex
from scenlint.source.text import Source

EVAL_FILES = ("eval.yaml", "eval.yml")
_LEVELS = 4  # folders above the eval that waza may have been started from

_KEY = regex(r"^(name|config|tasks|tasks_from|skill|graders|metrics)[ \t]*:", re.MULTILINE)


def is_eval(text: str) -> bool:
    """Whether a text is a Waza eval (many tools have an eval.yaml): name, config and task files at its top level."""
    keys = set(_KEY.findall(text))
    if not ({"name", "config"} <= keys and keys & {"tasks", "tasks_from"}):
        return False
    value = _value(text)
    if value is None:  # broken: its other keys must do
        return bool(keys & {"skill", "graders", "metrics"})
    return isinstance(value.get("config"), dict) and (
        _texts(value.get("tasks")) or isinstance(value.get("tasks_from"), str)
    )


def _value(text: str) -> dict[str, Any] | None:
    import yaml

    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def task_keys(folder: Path, text: str) -> list[str]:
    """The task files that an eval's patterns match, relative to its folder; [] where there are none."""
    value = _value(text)
    if value is None:
        patterns = re.findall(r"^\s*-\s*[\"']?([\w./*-]+\.ya?ml)[\"']?\s*$", text, re.MULTILINE)
    else:
        tasks = value.get("tasks")
        patterns = [p for p in tasks if isinstance(p, str)] if isinstance(tasks, list) else []
    return sorted({path.relative_to(folder).as_posix() for pattern in patterns for path in _glob(folder, pattern)})


def _glob(folder: Path, pattern: str) -> Iterator[Path]:
    if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        return
    try:
        yield from (path for path in folder.glob(pattern.removeprefix("./")) if path.is_file())
    except (ValueError, OSError, NotImplementedError):
        return


class Places:
    """Where a path in an eval can lead: waza resolves it against the folder it is started from, and none is fixed."""

    def __init__(self, tree: FileTree) -> None:
        self.tree = tree
        self.root = tree.root.resolve()
        self.bases = [self.root]
        for above in list(self.root.parents)[:_LEVELS]:
            if (self.bases[-1] / ".git").exists():
                break
            self.bases.append(above)

    def find(self, name: str, *extra: str) -> Path | None:
        """The file or folder that a relative path names; `extra` are further bases inside the eval's folder."""
        for base in [*self.bases, *(self.root / e for e in extra)]:
            try:
                if (base / name).exists():
                    return (base / name).resolve()
            except OSError:
                return None
        return None

    def read(self, path: Path) -> Source | None:
        """A file beside or above the eval, bounded; through the task's own tree where it lies in it."""
        if path.is_relative_to(self.root):
            return self.tree.read(path.relative_to(self.root).as_posix())
        return read_source(path)

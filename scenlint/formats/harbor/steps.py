"""The steps of a Harbor task, and which files of their folders count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from scenlint.source.data import Data
from scenlint.source.files import FileTree
from scenlint.source.ignores import ignore_spec

IGNORE_FILE = ".harborignore"


@dataclass(frozen=True)
class Step:
    """A step as task.toml declares it; the one step of a plain task has no name and lies in the task's own folder."""

    name: str | None = None
    position: int = 0

    @property
    def prefix(self) -> str:
        return f"steps/{self.name}/" if self.name else ""

    @property
    def at(self) -> tuple[str | int, ...]:
        return ("steps", self.position) if self.name else ()


def read_steps(data: Data | None, tree: FileTree) -> list[Step]:
    """The steps of a task in their order; where task.toml cannot be read, the folders tell."""
    declared = data.get("steps") if data else None
    named = declared if isinstance(declared, list) else []
    steps = [
        Step(item["name"], n)
        for n, item in enumerate(named)
        if isinstance(item, dict) and isinstance(item.get("name"), str) and re.fullmatch(r"[^/\\]+", item["name"])
    ]
    if not steps and data is None and "instruction.md" not in tree:
        found = {PurePosixPath(e.path).parts[1] for e in tree.under("steps") if e.path.count("/") > 1}
        steps = [Step(name, n) for n, name in enumerate(sorted(found))]
    return steps or [Step()]


def left_out(tree: FileTree, folder: str) -> list[str]:
    """What .harborignore keeps out of tests/ or solution/, itself included; paths relative to that folder."""
    paths = [entry.path.removeprefix(f"{folder}/") for entry in tree.under(folder)]
    out = [path for path in paths if PurePosixPath(path).name == IGNORE_FILE]
    source = tree.read(f"{folder}/{IGNORE_FILE}")
    if source is not None:
        spec = ignore_spec(source.text.splitlines())
        out += [path for path in paths if path not in out and spec.match_file(path)]
    return out

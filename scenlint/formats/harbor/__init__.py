"""Harbor tasks: task.toml, instruction.md, environment/, solution/, tests/; several steps below steps/."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.formats.base import TaskRef, sniff
from scenlint.source.regex import regex
from scenlint.task.model import Task
from scenlint.task.policy import Policy

if TYPE_CHECKING:
    from scenlint.formats.starter import Starter
    from scenlint.task.plan import RunPlan

_TABLES = regex(r"^[ \t]*\[{1,2}[ \t]*(agent|verifier|environment|solution|steps|task)\b", re.MULTILINE)
_OTHER_PROJECTS = {"Cargo.toml", "package.json", "pyproject.toml", "go.mod", "task.yaml"}


class Harbor:
    """One folder is one task; `[[steps]]` makes it a task of several steps."""

    name = "harbor"
    title = "Harbor"
    schemas: Mapping[str, str] = {"task.toml": "harbor_task"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        claimed = _claimed(folder, names) if "task.toml" in names else _unnamed(names)
        return [TaskRef(self.name, folder, suite=folder.parent)] if claimed else []

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        return []

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        from scenlint.formats.harbor.loader import Loader

        return Loader(ref, policy).load()

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.harbor.plan import Planner

        return Planner(task).plan()

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import NAME, Starter, check_name, template

        check_name(name, rf"(?:[a-z0-9][a-z0-9._-]*/)?{NAME}", "`name` or `organisation/name` in small letters")
        folder = name.rpartition("/")[2]
        named = f'\n[task]\nname = "{name}"\n\n[metadata]' if "/" in name else "\n[metadata]"
        files = template(self.name, {"\n[metadata]": named}, f"{folder}/")
        edit = [
            (f"{folder}/instruction.md", "what is asked; number every criterion"),
            (f"{folder}/environment", "what the agent is given"),
            (f"{folder}/tests/test_outputs.py", "one check for each criterion, named by its number"),
            (f"{folder}/solution/solve.sh", "the work itself, from what the agent is given alone"),
            (f"{folder}/task.toml", "limits, and under `artifacts` what the verifier gets"),
        ]
        return Starter(folder, files, edit)


def _claimed(folder: Path, names: frozenset[str]) -> bool:
    """Whether a folder with a task.toml is a Harbor task; other tools have files of that name."""
    if "instruction.md" in names or {"task.md", "verifier.py"} <= names:
        return True
    tables = set(_TABLES.findall(sniff(folder / "task.toml")))
    if len(tables) >= 2 or (tables and "environment" in names):
        return True
    # Whatever its task.toml holds, nothing else is laid out like this.
    return "environment" in names and bool({"tests", "solution"} & names) and not _OTHER_PROJECTS & names


def _unnamed(names: frozenset[str]) -> bool:
    """Whether it is a Harbor task that lost its task.toml. (A step's own folder has no environment.)"""
    return (
        {"instruction.md", "environment"} <= names and bool({"tests", "solution"} & names) and "task.yaml" not in names
    )


FORMAT = Harbor()

"""The files of the agent's work that a check opens, runs or wants to exist."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.task.checks.model import Access, Check, Dialect, How
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.model import Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

# Places that belong to the system, the harness or nobody in particular.
_FOREIGN = re.compile(
    r"/(?:bin|boot|dev|etc|lib\w*|logs|oracle|proc|run|sbin|solution|sys|tests|tmp|usr|var/(?:cache|lib|log|run|tmp))(?:/|$)"
)
_REPOSITORY = re.compile(r"(?:^|/)\.git(?:/|$)|(?:^|/)(?:build|target|node_modules|__pycache__|\.build_\w+)/")


@dataclass(frozen=True)
class _Wanted:
    access: Access
    check: Check
    visible: Visible


def paths(task: Task) -> Iterator[Demand]:
    """Each path once; inputs, the system's own files and what the verifier makes itself are left out."""
    ground = Ground(task)
    own = {f.path.name for f in task.verifier.files} if task.verifier else set()
    groups: dict[tuple[int, int, str], list[_Wanted]] = defaultdict(list)
    for check, visible in ground.checks():
        written = {a.path for a in check.accesses if a.how is How.WRITE}
        for access in check.accesses:
            name = access.path.rpartition("/")[2]
            if access.path in written or access.how in (How.LIST, How.WRITE) or (name in own and access.path[:1] != "/"):
                continue
            span = access.span
            groups[span.start, span.end, str(span.source.path)].append(_Wanted(access, check, visible))
    seen: set[str] = set()
    for group in groups.values():
        different = {w.access.path for w in group}
        if len(different) > 1 and not _each(task, group[0]) and any(_known(w) for w in group):
            continue  # tried in turn, and one of them is told
        for wanted in group:
            path = wanted.access.path
            if path not in seen and _demanded(task, wanted) and _agents(ground, wanted):
                seen.add(path)
                yield Demand(path, wanted.access.span, wanted.visible)


def _known(wanted: _Wanted) -> bool:
    path = wanted.access.path
    return bool(wanted.visible.exists(path) or wanted.visible.states_path(path))


def _each(task: Task, wanted: _Wanted) -> bool:
    """Whether a place of the code that touches several paths wants every one of them."""
    found = locate(task, wanted.check, wanted.access.span)
    if found is None:
        return False
    module, node = found
    tried = any(
        isinstance(up, ast.Call) and isinstance(up.func, ast.Name) and up.func.id in ("any", "next")
        for up in module.parents(node)
    )
    return not tried and (wanted.access.how is not How.EXISTS or stance(module, node) is Stance.WANTED)


def _demanded(task: Task, wanted: _Wanted) -> bool:
    """Whether the check fails without the file: "if it is there, look at it" is no demand."""
    access, check = wanted.access, wanted.check
    if access.how is not How.EXISTS or check.existence_only or check.dialect is not Dialect.TEST and check.node is None:
        return True
    if any(a.path == access.path and a.how is not How.EXISTS for a in check.accesses):
        return False  # the access that opens it says more
    found = locate(task, check, access.span)
    return found is not None and stance(*found) is Stance.WANTED


def _agents(ground: Ground, wanted: _Wanted) -> bool:
    """Whether the file is the agent's to make."""
    path = wanted.access.path
    name = path.rstrip("/").rpartition("/")[2]
    if not name or "*" in path or _FOREIGN.match(path) or _REPOSITORY.search(path) or wanted.visible.exists(path):
        return False
    if not wanted.visible.unlisted:
        return ground.solution is None or ground.solved(name)
    # Where files may exist that are not known here, only what the solution itself makes is surely an output.
    return ground.creates(name)

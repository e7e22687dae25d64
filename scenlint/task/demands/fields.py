"""The keys, columns and fields that a check reads from files the agent made."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from scenlint.source.python import parse
from scenlint.task.checks.model import Check, Key
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.model import Contract, Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

_CELL = re.compile(r"\$?[A-Z]{1,3}\$?\d{1,6}(?::\$?[A-Z]{1,3}\$?\d{1,6})?")
_DATA = re.compile(
    r".*\.(?:json|jsonl|ndjson|csv|tsv|ya?ml|toml|xlsx?|ods|parquet|feather|db|sqlite3?|pkl|pickle|ini|txt|out|npz)|[^.]+",
    re.IGNORECASE,
)
# Files whose keys a format fixes, and keys that say that such a format is read.
_STANDARD = re.compile(
    r"(?:package(?:-lock)?|composer|tsconfig\w*|ctrf|sarif|launch|settings|manifest)\.json|(?:Cargo|pyproject|Pipfile)\.\w+|"
    r"(?:docker-)?compose[\w.-]*\.ya?ml|Chart\.yaml|kustomization\.ya?ml|\.\w+rc(?:\.\w+)?",
    re.IGNORECASE,
)
_MARKS = frozenset(
    "apiVersion jsonrpc $schema openapi swagger @context lockfileVersion nbformat services AWSTemplateFormatVersion".split()
)


def keys(task: Task, *, shown: bool = True) -> Iterator[Demand]:
    """Each key once; what the verifier writes itself and what a standard format fixes are left out.

    `shown`: only those of which something shows that they are the agent's to write, not there by themselves.
    """
    if task.verifier is None or task.verifier.contract is Contract.POINT_LINES:
        return  # what an application's own interface answers is no demand on the agent
    ground = Ground(task)
    own = _own_keys(task)
    optional = _asked_only(task)
    groups: dict[tuple[int, int, str], list[tuple[Key, Check, Visible]]] = defaultdict(list)
    for check, visible in ground.checks():
        if any(k.name in _MARKS for k in check.keys):
            continue
        for key in check.keys:
            if _readable(key) and key.name not in own:
                span = key.span
                groups[span.start, span.end, str(span.source.path)].append((key, check, visible))
    seen: set[str] = set()
    for group in groups.values():
        names = {k.name for k, _, _ in group}
        if len(names) > 1 and names & optional:
            continue  # tried in turn
        for key, check, visible in group:
            if key.name in seen or not _made(ground, key, visible) or not _demanded(task, key, check, optional):
                continue
            if (not shown or _agents(ground, key, visible)) and not fits(key.name, visible):
                seen.add(key.name)
                yield Demand(key.name, key.span, visible, "key")


def _readable(key: Key) -> bool:
    name = key.name
    return bool(re.search(r"[A-Za-z_]\w*[A-Za-z_]", name)) and not _CELL.fullmatch(name) and name[0] not in "/{@$#"


def _made(ground: Ground, key: Key, visible: Visible) -> list[str]:
    """The data files of the agent's making that a key may be read from."""
    names = ((p, p.rpartition("/")[2]) for p in ground.made(key.paths, visible))
    return [p for p, name in names if _DATA.fullmatch(name) and not _STANDARD.fullmatch(name)]


def _demanded(task: Task, key: Key, check: Check, optional: frozenset[str]) -> bool:
    """Whether the check fails without the key: subscripted outright, or its value compared."""
    if key.name in optional:
        return False
    if not key.default:
        return True
    for comparison in check.comparisons:
        if comparison.key == key.name and comparison.has_constant and comparison.constant not in (None, ""):
            found = locate(task, check, comparison.span)
            if found is not None and stance(*found) is Stance.WANTED:
                return True
    return False


def _agents(ground: Ground, key: Key, visible: Visible) -> bool:
    """Whether the key is the agent's to write: the solution writes it, or it belongs to a data file that the brief names."""
    if ground.solution is not None:
        # An input that cannot be read here may hold the key.
        return ground.writes(key.name) if visible.opaque else ground.solved(key.name, word=True)
    structured = (".json", ".csv", ".yaml", ".yml", ".toml", ".jsonl", ".tsv")
    return not visible.opaque and any(p.endswith(structured) and visible.states_path(p) for p in key.paths)


def _asked_only(task: Task) -> frozenset[str]:
    """Keys that the verifier looks for before it reads them, and can do without: `x["a"] if "a" in x else …`."""
    out = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = parse(fragment)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and isinstance(node.ops[0], ast.In):
                if isinstance(node.left.value, str) and stance(module, node) in (Stance.OPEN, Stance.EITHER):
                    out.add(node.left.value)
    return frozenset(out)


def _own_keys(task: Task) -> frozenset[str]:
    """Columns and keys that the verifier adds to data itself: `frame["gap"] = …`."""
    out = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        for node in ast.walk(parse(fragment).tree):
            if isinstance(node, ast.Assign | ast.AugAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                        out.add(target.slice.value)
    return frozenset(k for k in out if isinstance(k, str))

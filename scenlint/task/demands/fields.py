"""The keys, columns and fields that a check reads from files the agent made."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from scenlint.source.python import parse
from scenlint.source.regex import regex
from scenlint.task.checks.model import Check, Key
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.demands.tables import tables
from scenlint.task.model import Contract, Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

_CELL = regex(r"\$?[A-Z]{1,3}\$?\d{1,6}(?::\$?[A-Z]{1,3}\$?\d{1,6})?")
_DATA = regex(
    r".*\.(?:json|jsonl|ndjson|csv|tsv|ya?ml|toml|xlsx?|ods|parquet|feather|db|sqlite3?|pkl|pickle|ini|txt|out|npz)|[^.]+",
    re.IGNORECASE,
)
# Files whose keys a format fixes, and keys that say that such a format is read.
_STANDARD = regex(
    r"(?:package(?:-lock)?|composer|tsconfig\w*|ctrf|sarif|launch|settings|manifest)\.json|(?:Cargo|pyproject|Pipfile)\.\w+|"
    r"(?:docker-)?compose[\w.-]*\.ya?ml|Chart\.yaml|kustomization\.ya?ml|\.\w+rc(?:\.\w+)?",
    re.IGNORECASE,
)
_RESULT = regex(r".*\.(?:json|jsonl|ndjson|csv|tsv)", re.IGNORECASE)
_SETTINGS = regex(
    r"spec|conf|settings|manifest|values|deploy|service|policy|rules|pipeline|workflow|dashboard|schema", re.I
)
_MARKS = frozenset(
    ["apiVersion", "jsonrpc", "$schema", "openapi", "swagger", "@context", "lockfileVersion", "nbformat"]
)


def keys(task: Task, *, shown: bool = True) -> Iterator[Demand]:
    """Each key once; what the verifier writes itself and what a standard format fixes are left out.

    `shown`: only those of which something shows that they are the agent's to write, not there by themselves.
    """
    if task.verifier is None or task.verifier.contract is Contract.POINT_LINES:
        return  # what an application's own interface answers is no demand on the agent
    ground = Ground.of(task)
    own = _own_keys(task)
    optional = _asked_only(task)
    groups: dict[tuple[int, int, str], list[tuple[Key, Check, Visible]]] = defaultdict(list)
    for check, visible in ground.checks():
        if any(k.name in _MARKS for k in check.keys):
            continue
        for key in check.keys:
            mine = key.name in own or any(key.name.endswith(o) for o in own if o[0] == "_")
            if _readable(key) and not mine:
                span = key.span
                groups[span.start, span.end, str(span.source.path)].append((key, check, visible))
    seen: set[str] = set()
    for group in groups.values():
        names = {k.name for k, _, _ in group}
        if len(names) > 1 and names <= optional:
            continue  # tried in turn
        for key, check, visible in group:
            if key.name in seen or not _made(ground, key, visible) or not _demanded(task, key, check, optional):
                continue
            if (not shown or _agents(ground, key, visible)) and not fits(key.name, visible):
                seen.add(key.name)
                yield Demand(key.name, key.span, visible, "key")
    if shown:
        yield from (d for d in tables(ground) if d.what not in seen)


def _readable(key: Key) -> bool:
    name = key.name
    named = re.search(r"[A-Za-z_]\w*[A-Za-z_]", name) and not re.search(r"^[/{@$#]|\w\.\w", name)
    return bool(named) and not _CELL.fullmatch(name)


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
        if comparison.key == key.name and comparison.operator == "==" and comparison.constant not in (None, ""):
            found = locate(task, check, comparison.span)
            if found is not None and stance(*found) is Stance.WANTED:
                return True
    return False


def _agents(ground: Ground, key: Key, visible: Visible) -> bool:
    """Whether the key is the agent's to write: the solution does, or it belongs to a data file that the brief names."""
    if ground.solution is not None:
        # An input that cannot be read here may hold the key.
        return ground.writes(key.name) if visible.opaque else ground.solved(key.name, word=True)
    results = (p for p in key.paths if _RESULT.fullmatch(p) and not _SETTINGS.search(p.rpartition("/")[2]))
    return not visible.opaque and any(visible.states_path(p) for p in results)


def _asked_only(task: Task) -> frozenset[str]:
    """Keys that the verifier looks for before it reads them, and can do without: `x["a"] if "a" in x else …`."""
    out = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = parse(fragment)
        for node in module.of(ast.Compare):
            asked = node.left.value if isinstance(node.left, ast.Constant) else None
            if not isinstance(asked, str) or not isinstance(node.ops[0], ast.In):
                continue
            if stance(module, node) in (Stance.OPEN, Stance.EITHER):
                out.add(asked)
    return frozenset(out)


def _own_keys(task: Task) -> frozenset[str]:
    """Keys and columns that the verifier makes itself: `frame["gap"] = …`, what it works out, suffixes of a merge."""
    out = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        for node in parse(fragment).of(ast.Assign, ast.AugAssign, ast.Dict, ast.keyword):
            if isinstance(node, ast.Assign | ast.AugAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                        out.add(target.slice.value)
            elif isinstance(node, ast.Dict):  # a table of constants is what the verifier expects
                pairs = zip(node.keys, node.values, strict=True)
                out |= {k.value for k, v in pairs if isinstance(k, ast.Constant) and not _literal(v)}
            elif isinstance(node, ast.keyword) and node.arg == "suffixes":
                out |= {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
    return frozenset(k for k in out if isinstance(k, str) and k)


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True

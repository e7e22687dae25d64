"""What a format is, and the small helpers that formats share.

A format is an object with the attributes of `Format`, named in the entry-point group `scenlint.formats`. It recognises
its tasks (`find`), turns a folder into a Task (`load`) and a Task into a RunPlan (`plan`); rules then see the Task
only, and the harness the RunPlan.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from scenlint.source import trace
from scenlint.source.data import Data, DataError, parse
from scenlint.source.files import FileTree
from scenlint.source.ignores import ignore_spec
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Source
from scenlint.task.finding import Severity
from scenlint.task.model import BuildFile, Document, Requirement, Task, Value
from scenlint.task.policy import Policy

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from scenlint.task.plan import RunPlan

SCHEMAS = Path(__file__).parent / "schemas"
SNIFF_LIMIT = 64 * 1024  # bytes read of the one file that may decide whether a folder is a task


@dataclass(frozen=True)
class TaskRef:
    """A task that was found, not yet loaded. `key` tells apart the tasks of a folder that holds several."""

    format: str
    folder: Path
    key: str = ""
    suite: Path | None = None  # the folder or file that groups it with others


class Format(Protocol):
    """One task format. `schemas` maps what a document is called to the name of its JSON Schema (see `load_schema`)."""

    name: str
    title: str
    schemas: Mapping[str, str]

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        """The tasks whose root is exactly this folder, [] where it is none of this format.

        `names` are the names in it. Called for every folder walked: at most one small file may be read. A broken task
        (no brief, a syntax error in its metadata) must still be claimed by its other signs, or nobody would be told.
        """
        ...

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        """What the tasks of a suite have in common, as tasks with `shared=True`; usually []."""
        ...

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        """Read a task. Never raises for bad content: a role that cannot be read is absent, with the reason."""
        ...

    def plan(self, task: Task) -> RunPlan:
        """How a trial of the task is run. NotRunnableError, and nothing else, where it cannot be; it says why."""
        ...


@cache
def load_schema(name: str) -> dict[str, Any]:
    """A JSON Schema that ships with scenlint: `schemas/<name>.json`. Shared by all callers; not to be changed."""
    return cast(dict[str, Any], json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))


# ---------------------------------------------------------------- files as fragments

_LANGUAGES = {
    ".py": "python", ".pyi": "python",
    ".sh": "shell", ".bash": "shell", ".bats": "shell",
    ".md": "markdown", ".markdown": "markdown", ".rst": "text", ".txt": "text",
    ".json": "data", ".jsonl": "data", ".ndjson": "data", ".yaml": "data", ".yml": "data", ".toml": "data",
    ".csv": "data", ".tsv": "data", ".xml": "data", ".ini": "data", ".cfg": "data", ".conf": "data",
    ".sql": "sql", ".html": "html",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".ts": "typescript", ".go": "go", ".rs": "rust",
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".java": "java", ".rb": "ruby", ".pl": "perl",
    ".r": "r", ".jl": "julia", ".lua": "lua", ".php": "php", ".bat": "batch", ".ps1": "powershell",
}  # fmt: skip
_DOCKERFILE = regex(r"(?:Dockerfile|Containerfile)(?:\.|$)|.*\.(?:dockerfile|containerfile)$", re.IGNORECASE)
_SHEBANG = regex(r"#![^\r\n]*?\b(?:(python)[\d.]*|(bash|sh|dash|zsh|ksh|bats))\b")


def language_of(path: str, source: Source | None = None) -> str:
    """The language of a file by its name, else by its first line: "python", "shell", "dockerfile", "data", "text" …"""
    name = posixpath.basename(path)
    if _DOCKERFILE.match(name):
        return "dockerfile"
    known = _LANGUAGES.get(posixpath.splitext(name)[1].lower())
    if known is None and source is not None and (first := _SHEBANG.match(source.text[:200])):
        return "python" if first[1] else "shell"
    return known or "text"


def fragment_of(tree: FileTree, path: str, language: str | None = None) -> Fragment | None:
    """A file of the task as text of its language; None where it is missing, unreadable or no text."""
    source = tree.read(path)
    if source is None or source.binary:
        return None
    return source.fragment(language or language_of(path, source))


def fragments_of(tree: FileTree, paths: Iterable[str]) -> list[Fragment]:
    """Those of some files that are text."""
    return [fragment for path in paths if (fragment := fragment_of(tree, path)) is not None]


_LITTER = regex(r"(?:^|/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache)/|\.py[co]$|(?:^|/)\.DS_Store$")


def below(tree: FileTree, folder: str) -> list[str]:
    """The paths of the files below a folder, caches left out."""
    return [entry.path for entry in tree.under(folder) if not is_litter(entry.path)]


def is_litter(path: str) -> bool:
    """Whether a relative path is a cache that tools leave behind."""
    return _LITTER.search(path) is not None


def context_files(tree: FileTree, context: str, ignore_file: str | None = None) -> list[str]:
    """The files of a build context ("" is the task's folder) that its .dockerignore does not keep out."""
    prefix = context.strip("/") + "/" if context.strip("/") else ""
    entries = tree.under(context)
    source = tree.read(ignore_file) if ignore_file else None
    source = source or tree.read(prefix + ".dockerignore")
    if source is None or source.binary:
        return [entry.path for entry in entries]
    ignored = docker_spec(source.text)
    return [entry.path for entry in entries if not ignored.match_file(entry.path.removeprefix(prefix))]


def docker_spec(text: str) -> GitIgnoreSpec:
    """Docker's patterns as git's: they count from the context's root, so each is anchored there."""
    lines = []
    for line in (raw.strip() for raw in text.splitlines()):
        if line and not line.startswith("#"):
            negated = line.startswith("!")
            lines.append(("!" if negated else "") + "/" + line.lstrip("!").strip().strip("/").removeprefix("./"))
    return ignore_spec(lines)


# ---------------------------------------------------------------- metadata


def read_document(tree: FileTree, path: str, language: str, name: str, schema: str | None = None) -> Document | None:
    """A structured file with its JSON Schema; None where it is missing or unreadable. Bad syntax is in `data.error`."""
    source = tree.read(path)
    if source is None:
        return None
    fragment = source.fragment(language)
    binary = DataError("the file is binary", fragment.span(0, 0)) if source.binary else None
    data = Data(fragment, None, binary) if binary else parse(fragment)
    return Document(name, data, load_schema(schema) if schema else None)


def value_at(data: Data | None, *path: str | int, default: Any = None) -> Value:
    """The value at a path with its place; the format's default, without a place, where it is not set."""
    if data is None:
        return Value(default)
    found = data.get(*path)
    return Value(default) if found is None else Value(found, data.span(*path))


def text_at(data: Data | None, *path: str | int) -> str | None:
    """The string at a path, or None where there is none or it is no string."""
    found = data.get(*path) if data is not None else None
    return found if isinstance(found, str) else None


def variables_at(data: Data | None, *path: str | int) -> dict[str, Value]:
    """Environment variables given as a mapping or as a list of NAME=value."""
    found = data.get(*path) if data is not None else None
    if data is None or not isinstance(found, dict | list):
        return {}
    if isinstance(found, dict):
        return {str(name): Value(value, data.span(*path, name)) for name, value in found.items()}
    pairs = ((n, *item.partition("=")) for n, item in enumerate(found) if isinstance(item, str))
    return {name: Value(value if sep else None, data.span(*path, n)) for n, name, sep, value in pairs}


def require(tree: FileTree, path: str, why: str, severity: Severity = Severity.ERROR) -> Requirement:
    """A required file or folder, with whether it is there."""
    return Requirement(path, why, severity, met=path in tree or tree.has_dir(path))


def image_settings(build: BuildFile | None) -> tuple[str | None, Value | None]:
    """The working directory and the user that a Dockerfile leaves its image with."""
    from scenlint.source import dockerfile

    stage = dockerfile.parse(build.fragment, build.arguments).final(build.target) if build else None
    if stage is None:
        return None, None
    said = next((i for i in reversed(stage.history) if i.keyword == "USER"), None)
    return stage.workdir, Value(stage.user, said.span) if said and stage.user else None


# ---------------------------------------------------------------- detection


def sniff(path: Path, limit: int = SNIFF_LIMIT) -> str:
    """The beginning of a small file for `find`; "" where it cannot be read."""
    try:
        if not trace.is_file(path):
            return ""
        text = Source(path, trace.read_bytes(path, limit), truncated=True).text
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except OSError:
        return ""

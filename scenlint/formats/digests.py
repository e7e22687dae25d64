"""Digests of a plan's parts: an edited verifier wants a regrade, an edited environment a rerun, metadata neither.

They are taken from the plan itself, so nothing that a trial depends on can be forgotten. A path counts by what lies
there and never by where it lies; what has its default does not count, so that a plan may gain fields.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from scenlint.formats.base import docker_spec, is_litter
from scenlint.formats.planning import Passed
from scenlint.source import dockerfile
from scenlint.source.files import read_source
from scenlint.source.ignores import ignore_spec
from scenlint.source.text import Source
from scenlint.task.model import Task
from scenlint.task.plan import Build, Compose, NotRunnableError, RunPlan, Upload

PARTS = ("brief", "environment", "verifier", "oracle", "metadata")
LARGEST = 16 << 30  # bytes of one file of a task
_STEP_PARTS = {"brief": "brief", "verify": "verifier", "min_reward": "verifier", "min_rewards": "verifier",
               "oracle": "oracle"}  # fmt: skip
_APART = {"task", "format", "folder", "steps", "reward_strategy", "unsafe", "digests"}


def with_digests(plan: RunPlan, task: Task, apart: Iterable[str] = ()) -> RunPlan:
    """The plan with the digests of its parts.

    `apart` are paths of the task that do not count as files of a folder above them, as they count by themselves.
    """
    parts: dict[str, list[Any]] = {part: [] for part in PARTS}
    for step in plan.steps:
        for item in fields(step):
            parts[_STEP_PARTS.get(item.name, "environment")].append((step.name, item.name, _own(step, item)))
    parts["verifier"].append(plan.reward_strategy)
    parts["environment"] += [(f.name, _own(plan, f)) for f in fields(plan) if f.name not in _APART]
    parts["metadata"] += [plan.format, plan.task, *(d.fragment.text for d in task.documents)]
    outside = tuple(plan.folder / path for path in apart)
    digests = tuple((part, _digest(parts[part], outside)) for part in PARTS)
    return replace(plan, digests=digests)


def _digest(values: Any, apart: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    try:
        for piece in _pieces(values, apart):
            digest.update(len(piece).to_bytes(8, "big") + piece)
    except OSError as exc:
        raise NotRunnableError(f"`{exc.filename}` cannot be read: {exc.strerror}") from exc
    return digest.hexdigest()


def _pieces(value: Any, apart: tuple[Path, ...]) -> Iterator[bytes]:
    match value:
        case Passed():
            yield from _pieces(value.named, apart)
        case bytes():
            yield b"bytes"
            yield value
        case str():
            yield b"str"
            yield value.encode("utf-8", "surrogatepass")
        case Path():
            yield from _tree(value, apart)
        case Upload():
            yield from _pieces((value.target, value.clear, value.executable), apart)
            yield from _tree(value.source, (*apart, *(value.source / path for path in value.exclude)))
        case Build():
            yield from _pieces((value.target, value.arguments), apart)
            yield from _build(value)
        case Compose():
            yield from _pieces((value.main, value.env, value.container, *value.files), apart)
            yield from _tree(value.folder, apart)
        case tuple() | list() | frozenset():
            items = sorted(value) if isinstance(value, frozenset) else value
            yield f"{len(items)} items".encode()
            for item in items:
                yield from _pieces(item, apart)
        case _ if is_dataclass(value):
            yield type(value).__name__.encode()
            for item in fields(value):
                held = _own(value, item)
                if held is not None:
                    yield item.name.encode()
                    yield from _pieces(held, apart)
        case _:
            yield repr(value).encode()


def _own(holder: Any, item: Field[Any]) -> Any:
    """A field's value; None where it is the default, as an unset field could be one that was added later."""
    value = getattr(holder, item.name)
    return None if item.default is not MISSING and value == item.default else value


# ---------------------------------------------------------------- files


def _tree(path: Path, apart: tuple[Path, ...]) -> Iterator[bytes]:
    """A file, or everything below a folder but caches and what stands apart."""
    if not path.is_dir():
        yield from _file(path)
        return
    below = [other.relative_to(path).as_posix() for other in apart if other != path and other.is_relative_to(path)]
    for name in _walk(path):
        if not any(name == other or name.startswith(f"{other}/") for other in below):
            yield os.fsencode(name)
            yield from _file(path / name, follow=False)


def _walk(root: Path) -> Iterator[str]:
    """The files and links below a folder, in order; links are not followed."""
    for folder, folders, files in os.walk(root):
        links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
        folders[:] = sorted(f for f in folders if f not in links and f != ".git")
        for name in sorted([*files, *links]):
            relative = os.path.relpath(os.path.join(folder, name), root)
            if not is_litter(relative):
                yield relative


def _file(path: Path, follow: bool = True) -> Iterator[bytes]:
    info = path.stat() if follow else path.lstat()
    if stat.S_ISLNK(info.st_mode):
        yield b"link"
        yield os.fsencode(os.readlink(path))
    elif stat.S_ISREG(info.st_mode):
        # Of the mode only this reaches a container: the rest is up to a checkout's umask.
        yield b"program" if info.st_mode & 0o111 else b"file"
        if info.st_size > LARGEST:
            raise NotRunnableError(
                f"`{path}` has {info.st_size >> 30} GB, more than a trial is given ({LARGEST >> 30} GB); if it is "
                "needed, bring it in with an image"
            )
        with path.open("rb") as file:
            yield hashlib.file_digest(file, "sha256").digest()
    else:
        yield b"special"


# ---------------------------------------------------------------- build contexts


def _build(build: Build) -> Iterator[bytes]:
    """The Dockerfile and what it copies from its context, which may hold the tests as well."""
    place = build.context / build.dockerfile
    yield from _file(place)
    source = read_source(place)
    wanted = _copied(source, build) if source is not None else None
    ignored = _ignored(build)
    for name in _walk(build.context):
        taken = wanted is None or any(name == path or name.startswith(f"{path}/") for path in wanted)
        if taken and not ignored.match_file(name):
            yield os.fsencode(name)
            yield from _file(build.context / name, follow=False)


def _copied(source: Source, build: Build) -> set[str] | None:
    """The paths that the build's stages copy; None where that may be anything in the context."""
    parsed = dockerfile.parse(source.fragment("dockerfile"), dict(build.arguments))
    if parsed.problems:
        return None
    out = set[str]()
    for instruction in (i for stage in parsed.used(build.target) for i in stage.instructions):
        if instruction.keyword == "RUN" and any(_binds(w.raw) for flag, w in instruction.flags if flag == "mount"):
            return None
        if instruction.keyword not in ("COPY", "ADD") or not instruction.local:
            continue
        for word in instruction.sources:
            if word.text is None:
                return None
            if "://" in word.text:
                continue
            path = os.path.normpath(word.text.lstrip("/") or ".")
            while any(c in path for c in "*?["):
                path = os.path.dirname(path)
            if path in ("", "."):
                return None
            out.add(path)
    return out


def _binds(mount: str) -> bool:
    kind = next((part[5:] for part in mount.split(",") if part.startswith("type=")), "bind")
    return kind == "bind" and "from=" not in mount


def _ignored(build: Build) -> GitIgnoreSpec:
    for path in (build.context / f"{build.dockerfile}.dockerignore", build.context / ".dockerignore"):
        found = read_source(path)
        if found is not None and not found.binary:
            return docker_spec(found.text)
    return ignore_spec([])

"""What is in the environment before the agent starts: paths, the task's files behind them, and what stays unknown."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from scenlint.source.data import listed
from scenlint.source.lazy import cached_property
from scenlint.source.text import Span
from scenlint.task.paths import normal, pattern

if TYPE_CHECKING:
    from scenlint.task.model import Task

ARCHIVES = tuple(
    f".{e}"
    for e in ("tar", "gz", "tgz", "bz2", "xz", "zip", "7z", "zst", "whl", "jar", "deb", "rpm", "bundle", "iso", "img")
)


@dataclass(frozen=True)
class Given:
    """A path that exists when the agent starts. `file`: the task's own file behind it, where there is one."""

    path: str
    file: str | None = None
    span: Span | None = None  # what makes it
    folder: bool = False


@dataclass
class Image:
    """The agent's starting point."""

    given: dict[str, Given] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # task file -> where the agent finds it
    unlisted: list[str] = field(default_factory=list)  # why further paths may exist
    unknown: list[str] = field(default_factory=list)  # why a path's content cannot be known
    hidden: bool = False  # files of the verifier or the oracle that the build copies were left out

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that exists, and the last name of each."""
        found = {g.path for g in self.given.values() if g.folder}
        for path in self.given:
            while (above := posixpath.dirname(path)) and above != path:  # the top ends it: "/", or "//" as POSIX has it
                found.add(above)
                path = above
        return frozenset(found | {posixpath.basename(f) for f in found})

    @cached_property
    def names(self) -> frozenset[str]:
        """The last name of everything that exists."""
        return frozenset(PurePosixPath(path).name for path in self.given)

    @cached_property
    def _open(self) -> list[tuple[re.Pattern[str], Given]]:
        return [(pattern(p), g) for p, g in self.given.items() if "*" in p]

    @cached_property
    def _tails(self) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for path in self.given:
            out.setdefault(posixpath.basename(path).lower(), []).append(path)
        return out

    def find(self, path: str, workdir: str | None = None) -> Given | None:
        """What exists at a path; a relative one may count from the working directory or from any other folder."""
        asked = normal(path)
        path = posixpath.normpath(posixpath.join(workdir or "", asked))
        if path in self.given:
            return self.given[path]
        if path in self.folders:
            return Given(path, folder=True)
        for known in self._tails.get(posixpath.basename(path).lower(), []):
            relative = not known.startswith("/") or not asked.startswith("/")
            if relative and ("/" + known).endswith("/" + asked.lstrip("/")):
                return self.given[known]
        return next((g for p, g in self._open if p.fullmatch(path)), None)

    def named(self, name: str) -> list[Given]:
        """Everything with this base name, wherever it lies."""
        return [self.given[p] for p in self._tails.get(name.lower(), [])]


def read_image(task: Task, *, hide: bool = True) -> Image:
    """The starting point of a task; empty where it has no environment.

    `hide`: leave out the verifier's and the oracle's own folders, even if the build copies them.
    """
    return task.memo(("image", hide), lambda: _read_image(task, hide))


def _read_image(task: Task, hide: bool) -> Image:
    environment = task.environment
    if not hide and not (whole := read_image(task)).hidden:
        return whole
    if environment is None:
        return Image(unlisted=["the task has no environment"] if task.sites else [])
    from scenlint.task.image_build import Builder
    from scenlint.task.model import Place

    image = Image()
    builds = [b for b in environment.builds if b.place is Place.AGENT]
    for build in builds:
        Builder(task, build, image, hide).run()
    for service in environment.builds:
        if service.place is Place.SERVICE:
            Builder(task, service, Image(files=image.files)).run()
    agent_images = [i for i in environment.images if i.place is Place.AGENT]
    if not builds and agent_images:
        image.unlisted.append(f"it starts from the prebuilt image `{agent_images[0].reference}`")
    if task.sites:
        image.unlisted.append("its applications hold data that no file of the task shows")
    _mounts(task, image)
    if not environment.builds and not agent_images:
        for file in environment.files:
            put(image, Given(normal(file), file))
    for name in environment.inline:
        put(image, Given(normal(name)))
    _skill(task, image)
    if not task.files.complete:
        image.unlisted.append("it has more files than are listed")
    return image


def put(image: Image, given: Given) -> None:
    image.given[given.path] = given
    if given.file is not None:
        image.files.setdefault(given.file, given.path)


def _skill(task: Task, image: Image) -> None:
    """The skill that an eval is about, where the eval lies in its folder: the agent is given its text."""
    if any(isinstance(d.data.get("skill"), str) for d in task.documents):
        for path in ("SKILL.md", *(e.path for e in task.files.under("references"))):
            if path in task.files:
                put(image, Given(path, path))


def _mounts(task: Task, image: Image) -> None:
    """Folders that a compose file puts into the services."""
    environment = task.environment
    for document in environment.compose if environment else []:
        services = document.data.value.get("services") if isinstance(document.data.value, dict) else None
        base = posixpath.dirname(_relative(task, document.fragment.path))
        for service in (services or {}).values() if isinstance(services, dict) else []:
            volumes = service.get("volumes") if isinstance(service, dict) else None
            for volume in listed(volumes):
                source, target = _volume(volume)
                if not source.startswith(".") or not target.startswith("/"):
                    continue
                place = posixpath.normpath(posixpath.join(base, source))
                for given in copied(task, "" if place == "." else place, target):
                    put(image, given)


def _volume(volume: Any) -> tuple[str, str]:
    if isinstance(volume, dict):
        return str(volume.get("source", "")), str(volume.get("target", ""))
    source, _, rest = str(volume).partition(":")
    return source, rest.partition(":")[0]


def _relative(task: Task, path: Any) -> str:
    try:
        return str(path.relative_to(task.files.root).as_posix())
    except ValueError:
        return ""


def copied(task: Task, source: str, target: str, span: Span | None = None) -> list[Given]:
    """A file or a folder of the task, put at a place."""
    if source in task.files:
        return [Given(target, source, span)]
    prefix = source + "/" if source else ""
    found = [Given(normal(f"{target}/{e.path[len(prefix) :]}"), e.path, span) for e in task.files.under(source)]
    return [*found, Given(target, None, span, folder=True)] if found or task.files.has_dir(source) else []

"""Compose files: which images their services build and which they start from."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field

from scenlint.formats.base import fragment_of, read_document, variables_at
from scenlint.source.data import Data
from scenlint.source.files import FileTree
from scenlint.task.model import BuildFile, Document, ImageUse, Place


@dataclass
class Compose:
    """A compose file of the task and what its services are made of."""

    document: Document
    builds: list[BuildFile] = field(default_factory=list)
    images: list[ImageUse] = field(default_factory=list)

    def built(self, service: str) -> bool:
        """Whether it says itself how a service's image comes about."""
        return service in {*(b.service for b in self.builds), *(i.service for i in self.images)}


def read_compose(tree: FileTree, path: str, place: Callable[[str], Place]) -> Compose | None:
    """Read a compose file; paths in it count from its own folder. `place` says whose image a service's is."""
    document = read_document(tree, path, "yaml", path)
    if document is None:
        return None
    out = Compose(document)
    data = document.data
    services = data.get("services")
    for name, service in services.items() if isinstance(services, dict) else ():
        if not isinstance(name, str) or not isinstance(service, dict):
            continue
        if service.get("build"):
            build = _build(tree, posixpath.dirname(path), data, name, place(name))
            if build is not None:
                out.builds.append(build)
        elif isinstance(service.get("image"), str):
            out.images.append(ImageUse(service["image"], data.span("services", name, "image"), place(name), name))
    return out


def _build(tree: FileTree, folder: str, data: Data, service: str, place: Place) -> BuildFile | None:
    at = ("services", service, "build")
    build = data.get(*at)
    stated = build.get("context", ".") if isinstance(build, dict) else build
    context = inside(folder, stated) if isinstance(stated, str) else None
    options = build if isinstance(build, dict) else {}
    target = options.get("target")
    arguments = {k: str(v.value) for k, v in variables_at(data, *at, "args").items() if v.value is not None}
    if isinstance(options.get("dockerfile_inline"), str):
        fragment = data.text(*at, "dockerfile_inline", language="dockerfile")
    else:
        name = options.get("dockerfile", "Dockerfile")
        file = inside(context, name) if context is not None and isinstance(name, str) else None
        found = fragment_of(tree, file, "dockerfile") if file is not None else None
        if found is None:
            return None
        fragment = found
    return BuildFile(fragment, context, place, service, target if isinstance(target, str) else None, arguments)


def inside(folder: str, path: str) -> str | None:
    """A path seen from a folder of the task, relative to the task; None where it leads out or hides in a variable."""
    if "$" in path or "://" in path or path.startswith(("/", "~")):
        return None
    joined = posixpath.normpath(posixpath.join(folder or ".", path))
    return None if joined.startswith("..") else "" if joined == "." else joined

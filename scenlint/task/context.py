"""A build context: which of the task's files a COPY can reach, and which .dockerignore keeps out."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING

from scenlint.source.files import FileTree
from scenlint.source.ignores import ignore_spec

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Context:
    """The folder that an image is built from; `folder` is relative to the task, "" for the task's own."""

    def __init__(self, files: FileTree, folder: str) -> None:
        self.files = files
        plain = posixpath.normpath(folder.strip("/") or ".")
        self.folder = "" if plain == "." else plain

    def path(self, source: str) -> str:
        """The task's path of a COPY source; "" for the context's own folder at the task's root."""
        inside = posixpath.normpath(source.lstrip("/") or ".")
        return "/".join(p for p in (self.folder, "" if inside == "." else inside) if p)

    def holds(self, source: str) -> bool:
        """Whether a file or folder lies there, ignored or not."""
        place = self.path(source)
        return not place or place == self.folder or place in self.files or self.files.has_dir(place)

    @cached_property
    def ignore_file(self) -> str:
        return f"{self.folder}/.dockerignore".lstrip("/")

    @cached_property
    def _ignore(self) -> GitIgnoreSpec | None:
        listed = self.files.read(self.ignore_file)
        if listed is None:
            return None
        lines = [line.strip() for line in listed.text.splitlines()]
        # Docker's patterns count from the context's root; git's only do so with a leading slash.
        rooted = [re.sub(r"^(!?)/?(.+)$", r"\1/\2", line) for line in lines if line and not line.startswith("#")]
        return ignore_spec(rooted)

    def ignores(self, path: str) -> bool:
        """Whether .dockerignore keeps a file of the task out of the context."""
        inside = path[len(self.folder) :].lstrip("/")
        return self._ignore is not None and bool(self._ignore.match_file(inside))

    def below(self, source: str) -> list[str]:
        """The files that a COPY of this source takes: the file itself, or those of the folder."""
        place = self.path(source)
        found = [place] if place in self.files else [e.path for e in self.files.under(place)]
        return [p for p in found if not self.ignores(p)]

"""The state of a local sandbox as a snapshot holds it: its working directory, and what was handed in beside it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from scenlint.harness.local import LocalEnvironment
from scenlint.harness.snapshot import Before, Item, Layer, signature
from scenlint.harness.tree import below
from scenlint.task.plan import WORKSPACE


class LocalState:
    """Nothing of the sandbox runs while it is looked at."""

    def __init__(self, environment: LocalEnvironment) -> None:
        self.environment = environment

    def look(self) -> Before:
        return {item.path: signature(item) for item, _ in self._items()}

    def changed(self, before: Before, layer: Layer) -> list[str]:
        there = set()
        for item, place in self._items():
            there.add(item.path)
            if item.kind == "file":
                with place.open("rb") as file:
                    layer.add(item, file)
            else:
                layer.add(item)
        for path in sorted(before.keys() - there):
            layer.add(Item(path, "deleted", new=False))
        return []

    def restore(self, items: Sequence[tuple[Item, bytes]]) -> None:
        for item, data in items:
            tree, path = self.environment._place(item.path)
            match item.kind:
                case "deleted":
                    tree.remove(path)
                case "folder":
                    tree.folder(path, item.mode)
                case "link":
                    tree.link(path, item.target)
                case _:
                    place = tree.write(path, data, item.mode)
                    if item.mtime:
                        os.utime(place, (item.mtime, item.mtime))

    def _items(self) -> Iterator[tuple[Item, Path]]:
        for root, above in ((self.environment.work.root, WORKSPACE), (self.environment.files.root, "/")):
            for place in below(root):
                path = str(PurePosixPath(above, place.relative_to(root).as_posix()))
                info = place.lstat()
                mode = stat.S_IMODE(info.st_mode)
                if stat.S_ISDIR(info.st_mode):
                    yield Item(path, "folder", mode), place
                elif stat.S_ISLNK(info.st_mode):
                    yield Item(path, "link", mode, target=os.readlink(place)), place
                elif stat.S_ISREG(info.st_mode):
                    if not os.access(place, os.R_OK):
                        place.chmod(mode | 0o400)
                    with place.open("rb") as file:
                        digest = hashlib.file_digest(file, "sha256").hexdigest()
                    yield Item(path, "file", mode, 0, 0, info.st_size, info.st_mtime, digest), place

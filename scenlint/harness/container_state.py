"""The state of a container as a snapshot holds it: what differs from its image, read and written as archives."""

from __future__ import annotations

import io
import posixpath
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice

from scenlint.harness import archive
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.environment import GoneError
from scenlint.harness.snapshot import Before, Item, Layer, signature
from scenlint.task.plan import Command

_MANY = 200  # paths to ask for one by one; for more, the whole container is read at once
_IN_MEMORY = 32 * 1024 * 1024
_MODIFIED, _ADDED, _DELETED = 0, 1, 2


class ContainerState:
    """What the engine says differs, with owners, modes and links as they are."""

    def __init__(self, environment: ContainerEnvironment) -> None:
        self.environment = environment

    def look(self) -> Before:
        layer = Layer()
        self.changed({}, layer)
        return {path: signature(item) for path, item in layer.items.items()}

    def changed(self, before: Before, layer: Layer) -> list[str]:
        self.environment.flush()
        differs = {path: kind for path, kind in self._differs().items() if layer.wanted(path)}
        here = {path for path, kind in differs.items() if kind != _DELETED}
        for path in sorted((differs.keys() - here) | (before.keys() - here)):
            layer.add(Item(path, "deleted", new=False))
        whole = [p for p in here if differs[p] == _ADDED and differs.get(posixpath.dirname(p)) != _ADDED]
        single = [p for p in here if differs[p] == _MODIFIED]
        if len(whole) + len(single) > _MANY:
            with self._export() as tar:
                _keep(tar, tar, "/", differs, layer)
        else:
            for path in sorted(whole):
                with self._archive(path) as tar:
                    _keep(tar, tar, posixpath.dirname(path), differs, layer)
            for path in sorted(single):
                with self._archive(path) as tar:  # of a folder, only the folder itself
                    _keep(tar, islice(tar, 1), posixpath.dirname(path), differs, layer)
        return [f"the volume at `{path}` is not in the snapshot" for path in self._volumes()]

    def restore(self, items: Sequence[tuple[Item, bytes]]) -> None:
        self.environment.flush()
        for gone, run in groupby(items, key=lambda pair: pair[0].kind == "deleted"):
            pairs = list(run)
            if gone:
                self._remove([item.path for item, _ in pairs])
                continue
            with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
                with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                    for item, data in pairs:
                        tar.addfile(_entry(item, data), io.BytesIO(data) if item.kind == "file" else None)
                file.seek(0)
                with self.environment._faults("restoring files in the container"):
                    self.environment.engine.api.put_archive(self.environment.name, "/", file)

    # What is there

    def _differs(self) -> dict[str, int]:
        with self.environment._faults("asking what changed in the container"):
            told = self.environment.engine.api.diff(self.environment.name)
        return {one["Path"]: one["Kind"] for one in told or ()}

    def _volumes(self) -> list[str]:
        with self.environment._faults("asking for the container's volumes"):
            told = self.environment.engine.api.inspect_container(self.environment.name)
        return sorted(mount["Destination"] for mount in told.get("Mounts") or () if mount.get("RW"))

    @contextmanager
    def _archive(self, path: str) -> Iterator[tarfile.TarFile]:
        with self.environment._faults(f"reading `{path}`"), self.environment._archive(path) as chunks:
            yield archive.stream(chunks)

    @contextmanager
    def _export(self) -> Iterator[tarfile.TarFile]:
        api = self.environment.engine.api
        with self.environment._faults("reading the container's files"):
            answer = api._get(api._url("/containers/{0}/export", self.environment.name), stream=True)
            try:
                api._raise_for_status(answer)
                yield archive.stream(answer.iter_content(1 << 16))
            finally:
                answer.close()

    def _remove(self, paths: list[str]) -> None:
        command = Command(("rm", "-rf", "--", *paths), user="0:0", timeout=120)
        ran = self.environment.run(command, None)
        if ran.exit_code != 0:
            raise GoneError(f"what the work removed cannot be removed again: {ran.output.strip()[-300:]}")


def _entry(item: Item, data: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(item.path.strip("/"))
    info.type = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}[item.kind]
    info.mode, info.uid, info.gid, info.mtime = item.mode, item.uid, item.gid, item.mtime
    info.size, info.linkname = (len(data) if item.kind == "file" else 0), item.target
    return info


def _keep(
    tar: tarfile.TarFile, entries: Iterable[tarfile.TarInfo], above: str, differs: Mapping[str, int], layer: Layer
) -> None:
    """Hand the entries of an archive that differ to the layer."""
    for entry in entries:
        path = posixpath.join(above, entry.name.strip("/"))
        if differs.get(path, _DELETED) == _DELETED:
            continue
        item = Item(
            *(path, "file", entry.mode & 0o7777, entry.uid, entry.gid, entry.size, float(entry.mtime)),
            new=differs[path] == _ADDED,
        )
        if entry.isreg():
            layer.add(item, tar.extractfile(entry))
        elif entry.isdir():
            layer.add(replace(item, kind="folder", size=0))
        elif entry.issym():
            layer.add(replace(item, kind="link", size=0, target=entry.linkname))
        elif entry.islnk():  # a second name of a file that came before
            first = layer.items.get(posixpath.join(above, entry.linkname.strip("/")))
            if first is not None and first.kind == "file":
                layer.items[path] = replace(first, path=path)

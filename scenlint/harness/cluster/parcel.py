"""What a trial needs on a machine that shares no disk with this one: some values, and the files that they name."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from scenlint.harness.tree import below
from scenlint.task.plan import NotRunnableError

LIMIT = 256 * 1024 * 1024  # bytes of files that go out with a trial
BACK = 256 * 1024 * 1024  # bytes of a trial's folder that come back
LEFT_OUT = "left-out.txt"  # in the folder that came back: files that did not fit
_OURS = (".scenlint",)  # a ledger beside the task is no part of it


class Parcel:
    """Values with the files and folders that the paths in them name; can be pickled, and is made for one trial."""

    def __init__(self, *values: object) -> None:
        named: list[Path] = []
        _Packer(io.BytesIO(), lambda path: named.append(path) or str(path)).dump(values)  # type: ignore[func-returns-value]
        self.roots = _roots(path for path in named if path.exists())
        body = io.BytesIO()
        _Packer(body, self._place).dump(values)
        self.body = body.getvalue()
        self.files = packed(self.roots, LIMIT)

    def open(self, folder: Path) -> Any:
        """Lay the files below a folder, and give the values with the paths of the files there."""
        unpacked(self.files, folder)
        return _Unpacker(io.BytesIO(self.body), folder).load()

    def _place(self, path: Path) -> str:
        """Where a path lies below the folder that the parcel is opened in; what is not sent stays as it is."""
        for number, root in enumerate(self.roots):
            if path == root or path.is_relative_to(root):
                return str(Path(f"{number}", root.name or "root", path.relative_to(root)))
        return str(path)


class _Packer(pickle.Pickler):
    """Writes paths of this machine as `place` has them."""

    def __init__(self, file: BinaryIO, place: Any) -> None:
        super().__init__(file, protocol=5)
        self.place = place

    def persistent_id(self, value: Any) -> str | None:
        return self.place(Path(os.path.abspath(value))) if isinstance(value, Path) else None


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: BinaryIO, folder: Path) -> None:
        super().__init__(file)
        self.folder = folder

    def persistent_load(self, name: Any) -> Path:
        return self.folder / str(name)  # which is `name` where that is absolute


def _roots(paths: Iterable[Path]) -> list[Path]:
    """The paths that lie below no other of them."""
    out: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), str(path))):
        if not any(path.is_relative_to(root) for root in out):
            out.append(path)
    return out


def packed(roots: Iterable[Path], limit: int) -> bytes:
    """Files and folders as one archive, each below its number; links stay links, sockets and pipes stay behind."""
    out, left = io.BytesIO(), limit
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as tar:
        for number, root in enumerate(roots):
            for path, name in _entries(root, f"{number}/{root.name or 'root'}"):
                if path.is_file() and not path.is_symlink():
                    left -= path.stat().st_size
                if left < 0:
                    raise NotRunnableError(
                        f"`{root}` is needed on the cluster and has more than {limit >> 20} MB; put what is large into "
                        "an image, or run the trial here"
                    )
                tar.add(path if path is not root else path.resolve(), name, recursive=False)
    return out.getvalue()


def returned(folder: Path, limit: int = BACK) -> bytes:
    """What a trial left in its folder, small files first; a note names those that did not fit."""
    out, missed, left = io.BytesIO(), [], limit
    items = sorted(below(folder), key=lambda path: (not path.is_dir(), path.lstat().st_size, str(path)))
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as tar:
        for path in items:
            name, size = path.relative_to(folder).as_posix(), 0 if path.is_dir() else path.lstat().st_size
            if size > left:
                missed.append(f"{name} ({size} bytes)")
                continue
            left -= size
            with suppress(OSError):
                tar.add(path, name, recursive=False)
        if missed:
            data = "\n".join([*missed, ""]).encode("utf-8", "replace")
            info = tarfile.TarInfo(LEFT_OUT)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def unpacked(archive: bytes, folder: Path) -> None:
    """Lay an archive of `packed` or `returned` below a folder; nothing gets outside of it."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        folders = []
        for entry in tar:
            place = folder / entry.name
            if entry.name.startswith("/") or ".." in Path(entry.name).parts or _through_link(place.parent, folder):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if entry.isdir():
                place.mkdir(exist_ok=True)
                folders.append((place, entry.mode))
            elif entry.issym():
                place.unlink(missing_ok=True)
                place.symlink_to(entry.linkname)
            elif (content := tar.extractfile(entry) if entry.isreg() else None) is not None:
                place.unlink(missing_ok=True)
                with place.open("wb") as file:
                    while chunk := content.read(1 << 20):
                        file.write(chunk)
                place.chmod(entry.mode & 0o777)
                os.utime(place, (entry.mtime, entry.mtime))
        for place, mode in reversed(folders):
            place.chmod(mode & 0o777)


def _through_link(place: Path, folder: Path) -> bool:
    return any(part.is_symlink() for part in (place, *place.parents) if part != folder and part.is_relative_to(folder))


def _entries(root: Path, name: str) -> Iterator[tuple[Path, str]]:
    yield root, name
    if root.is_dir():
        for path in below(root, _OURS):
            if path.is_symlink() or path.is_dir() or path.is_file():
                yield path, f"{name}/{path.relative_to(root).as_posix()}"

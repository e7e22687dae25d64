"""Files of a local sandbox on the host. Whatever lies there, no link is ever followed and nothing outside is touched.

Nothing of the sandbox runs while a tree is read or changed, so what was looked at is what is used.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from scenlint.harness.environment import Fault, GoneError, InfrastructureError
from scenlint.harness.identity import Identity
from scenlint.task.plan import Upload

ENTRIES = 200_000  # files and folders that are ever copied out, or may be made


class Tree:
    """A folder whose contents belong to `owner`, or to the harness where there is none."""

    def __init__(self, root: Path, owner: Identity | None = None) -> None:
        self.root, self.owner = root, owner

    @classmethod
    def make(cls, root: Path, owner: Identity | None = None) -> Tree:
        tree = cls(root, owner)
        with _writing(root):
            root.mkdir(parents=True)
            root.chmod(0o755)
            tree._own(root)
        return tree

    def put(self, upload: Upload, path: str) -> None:
        """Copy a host file or folder to a path; whatever is in the way goes. Links in a folder stay links."""
        source = upload.source
        if not source.is_dir() and not source.is_file():
            raise Fault(f"`{source}`, which is to be copied to `{upload.target}`, does not exist")
        with _writing(self.root):
            if source.is_dir():
                if upload.clear:
                    self.remove(path)
                self._folder(path)
                for item in below(source, upload.exclude):
                    inner = PurePosixPath(path, item.relative_to(source).as_posix())
                    self._copy(item, inner, upload.executable and is_script(item))
            else:
                self._copy(source.resolve(), PurePosixPath(path), upload.executable)

    def write(self, path: str, content: bytes, mode: int = 0o644) -> Path:
        """Make a file."""
        with _writing(self.root):
            place = self._free(PurePosixPath(path))
            place.write_bytes(content)
            place.chmod(mode)
            self._own(place)
        return place

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Make a folder, or keep the one that is there."""
        with _writing(self.root):
            self._folder(path).chmod(mode)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link; whatever is in the way goes. It is never followed here."""
        with _writing(self.root):
            place = self._free(PurePosixPath(path))
            os.symlink(target, place)
            self._own(place)

    def fresh(self, path: str) -> None:
        """Make a folder anew, empty and writable for everyone."""
        with _writing(self.root):
            self.remove(path)
            self._folder(path).chmod(0o777)

    def read(self, path: str, limit: int) -> bytes | None:
        """The first bytes of a regular file; None where there is none."""
        place = self._find(path)
        if place is None or not stat.S_ISREG(place.lstat().st_mode):
            return None
        with _readable(place).open("rb") as file:
            return file.read(limit)

    def remove(self, path: str) -> None:
        """Remove what lies at a path."""
        place = self._find(path)
        if place is None:
            return
        if place.is_dir() and not place.is_symlink():
            _unlock(place)
            shutil.rmtree(place)
        else:
            place.unlink()

    def collect(self, path: str, target: Path, limit: int) -> bool:
        """Copy a file or folder out; links and devices are left out."""
        place = self._find(path)
        if place is None or place.is_symlink():
            return False
        _unlock(place)
        count = 0
        with _writing(target):
            for item in (place, *(below(place) if place.is_dir() else ())):
                count += 1
                info = item.lstat()
                copy = target / item.relative_to(place) if item != place else target
                if count > ENTRIES:
                    raise Fault(f"what was to be copied out has more than {ENTRIES} entries")
                if stat.S_ISDIR(info.st_mode):
                    copy.mkdir(parents=True, exist_ok=True)
                elif stat.S_ISREG(info.st_mode):
                    limit -= info.st_size
                    if limit < 0:
                        raise Fault("what was to be copied out is larger than the limit")
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    with _readable(item).open("rb") as file, copy.open("wb") as out:
                        shutil.copyfileobj(file, out)
        return place.is_dir() or place.is_file()

    def check_size(self, limit_mb: int) -> None:
        """GoneError where more is stored than allowed. May be called while the sandbox runs."""
        used, count = 0, 0
        for _, folders, files, fd in os.fwalk(self.root, follow_symlinks=False, onerror=None):
            count += len(folders) + len(files)
            for name in files:
                with suppress(OSError):
                    used += os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512
            if used > limit_mb * 1024 * 1024:
                raise GoneError(f"more than {limit_mb} MB were written, which is the limit of disk")
            if count > ENTRIES * 5:
                raise GoneError(f"more than {ENTRIES * 5} files were made")

    def discard(self) -> None:
        """Remove it all."""
        if self.root.is_dir() and not self.root.is_symlink():
            _unlock(self.root)
            shutil.rmtree(self.root)

    # Places

    def _find(self, path: str) -> Path | None:
        """Where a path leads, if through folders only and to something that is there."""
        here = self.root
        parts = _parts(path)
        for n, part in enumerate(parts):
            here = here / part
            try:
                mode = here.lstat().st_mode
            except OSError:
                return None
            if n < len(parts) - 1 and not stat.S_ISDIR(mode):
                return None
        return here

    def _folder(self, path: str | PurePosixPath) -> Path:
        """A folder and those above it; what is in the way and is none goes."""
        here = self.root
        for part in _parts(path):
            here = here / part
            with suppress(FileNotFoundError):
                if stat.S_ISDIR(here.lstat().st_mode):
                    continue
                here.unlink()
            here.mkdir()
            here.chmod(0o755)
            self._own(here)
        return here

    def _free(self, path: PurePosixPath) -> Path:
        """A path for a new file: its folders are there, and nothing lies at it."""
        place = self._folder(path.parent) / path.name
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(place.lstat().st_mode):
                shutil.rmtree(place)
            else:
                place.unlink()
        return place

    def _copy(self, source: Path, path: PurePosixPath, executable: bool) -> None:
        info = source.lstat()
        if stat.S_ISDIR(info.st_mode):
            self._folder(path)
            return
        if stat.S_ISLNK(info.st_mode):
            place = self._free(path)
            os.symlink(os.readlink(source), place)
        elif stat.S_ISREG(info.st_mode):
            place = self._free(path)
            shutil.copyfile(source, place)
            # A checkout's umask must not decide what the agent may read.
            place.chmod(0o755 if info.st_mode & 0o111 or executable else 0o644)
        else:
            return
        self._own(place)

    def _own(self, path: Path) -> None:
        if self.owner is not None:
            self.owner.own(path)


def below(folder: Path, exclude: Collection[str] = (), inside: str = "") -> Iterator[Path]:
    """Everything below a folder but what is left out, parents first; links to folders are not entered."""
    for item in sorted(folder.iterdir()):
        name = f"{inside}{item.name}"
        if name in exclude:
            continue
        yield item
        if item.is_dir() and not item.is_symlink():
            yield from below(item, exclude, f"{name}/")


def _parts(path: str | PurePosixPath) -> tuple[str, ...]:
    parts = tuple(p for p in PurePosixPath(path).parts if p != "/")
    if ".." in parts:
        raise Fault(f"the path `{path}` leads out of its folder")
    return parts


def _unlock(folder: Path) -> None:
    """Make every folder passable for this user: what runs in the sandbox may have locked its own."""
    if folder.is_symlink() or not folder.is_dir():
        return
    with suppress(OSError):
        folder.chmod(0o755)
    with suppress(OSError):
        for item in folder.iterdir():
            _unlock(item)


def _readable(path: Path) -> Path:
    """A regular file that this user can read, even if its maker locked it."""
    if not os.access(path, os.R_OK):
        with suppress(OSError):
            path.chmod(0o600)
    return path


def is_script(path: Path) -> bool:
    """Whether a file is made to be started."""
    if path.suffix in (".sh", ".bash"):
        return True
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file:
                return file.read(2) == b"#!"
    return False


class _writing:  # noqa: N801
    """Turns an OSError into a Fault that names the place."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise InfrastructureError(f"`{self.place}` could not be written: {error.strerror or error}") from error

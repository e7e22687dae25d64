"""Tar archives into and out of an environment: what goes in is root's, what comes out is plain files and folders."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from scenlint.harness.environment import Fault
from scenlint.harness.tree import below, is_script
from scenlint.task.plan import Upload

ENTRIES = 200_000  # files and folders of one archive that are ever taken out
_IN_MEMORY = 32 * 1024 * 1024
# A name that this machine's file system refuses is left out like a link.
_LEFT_OUT = {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}


class Pack:
    """A tar archive to be unpacked at an environment's root."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._tar = tarfile.open(fileobj=self.file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self.empty = True

    def folder(self, path: str, mode: int = 0o755, *, clear: bool = False) -> None:
        """A folder; with `clear` nothing that lay there before is left.

        Unpacking an entry of another kind removes what is in the way, whatever it is: so a file comes first, then the
        folder. It needs no program of the container's, which an agent may have replaced.
        """
        if clear:
            self._add(path, tarfile.REGTYPE, 0o600)
        self._add(path, tarfile.DIRTYPE, mode)

    def data(self, path: str, content: bytes, mode: int = 0o644) -> None:
        info = self._info(path, tarfile.REGTYPE, mode)
        info.size = len(content)
        self._put(info, io.BytesIO(content))

    def upload(self, upload: Upload, *, keep_modes: bool = False) -> None:
        """A host file or folder. Links inside a folder stay links; modes are 644 and 755 unless kept."""
        source = upload.source
        try:
            if source.is_dir():
                self.folder(upload.target, clear=upload.clear)
                for path in below(source, upload.exclude):
                    target = str(PurePosixPath(upload.target) / path.relative_to(source).as_posix())
                    self._entry(path, target, keep_modes, upload.executable and is_script(path))
            elif source.is_file():
                self._entry(source.resolve(), upload.target, keep_modes, upload.executable)
            else:
                raise Fault(f"`{source}`, which is to be copied to `{upload.target}`, does not exist")
        except OSError as exc:
            raise Fault(f"`{source}` cannot be read: {exc.strerror}") from exc

    def finish(self) -> IO[bytes]:
        self._tar.close()
        self.file.seek(0)
        return self.file

    def _entry(self, path: Path, target: str, keep_mode: bool, executable: bool) -> None:
        info = path.lstat()
        mode = stat.S_IMODE(info.st_mode) & 0o777
        if not keep_mode:  # a checkout's umask must not decide what the agent may read
            mode = 0o755 if mode & 0o111 or executable else 0o644
        if stat.S_ISLNK(info.st_mode):
            entry = self._info(target, tarfile.SYMTYPE, 0o777)
            entry.linkname = os.readlink(path)
            self._put(entry)
        elif stat.S_ISDIR(info.st_mode):
            self._add(target, tarfile.DIRTYPE, mode if keep_mode else 0o755)
        elif stat.S_ISREG(info.st_mode):
            entry = self._info(target, tarfile.REGTYPE, mode)
            entry.size, entry.mtime = info.st_size, int(info.st_mtime)
            with path.open("rb") as file:
                self._put(entry, file)

    def _info(self, path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
        info = tarfile.TarInfo(path.strip("/"))
        info.type, info.mode, info.uname, info.gname = kind, mode, "root", "root"
        return info

    def _add(self, path: str, kind: bytes, mode: int) -> None:
        self._put(self._info(path, kind, mode))

    def _put(self, info: tarfile.TarInfo, file: IO[bytes] | None = None) -> None:
        self._tar.addfile(info, file)
        self.empty = False


class _Reader:
    """Chunks as a file that is read forwards; `limit` bytes at most come out of it."""

    def __init__(self, chunks: Iterable[bytes], limit: int) -> None:
        self._chunks, self._left, self._have = iter(chunks), limit, b""

    def read(self, size: int) -> bytes:
        parts = [self._have]
        held = len(self._have)
        while held < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._left -= len(chunk)
            if self._left < 0:
                raise Fault("what was to be copied out is larger than the limit")
            parts.append(chunk)
            held += len(chunk)
        data = b"".join(parts)
        self._have = data[size:]
        return data[:size]


def stream(chunks: Iterable[bytes]) -> tarfile.TarFile:
    """An archive that is read forwards, as it comes."""
    try:
        return tarfile.open(fileobj=_Reader(chunks, 2**62), mode="r|")  # type: ignore[call-overload,no-any-return]
    except tarfile.TarError as exc:
        raise Fault(f"the archive from the environment cannot be read: {exc}") from exc


def read_file(chunks: Iterable[bytes], limit: int) -> bytes | None:
    """The first `limit` bytes of the one regular file in an archive; None where it is something else."""
    with suppress(tarfile.TarError):
        tar = tarfile.open(fileobj=_Reader(chunks, 2**62), mode="r|")  # type: ignore[call-overload]  # noqa: SIM115
        first = tar.next()
        content = tar.extractfile(first) if first is not None and first.isreg() else None
        return None if content is None else bytes(content.read(limit))
    return None


def unpack(chunks: Iterable[bytes], target: Path, limit: int) -> None:
    """Lay an archive's files and folders at `target` (its first entry is `target` itself).

    Links, devices and pipes are left out, a second name of a file becomes a copy, no entry gets outside of `target`,
    and a Fault ends it where the archive is larger than `limit` bytes.
    """
    count = 0
    try:
        tar = tarfile.open(fileobj=_Reader(chunks, limit), mode="r|")  # type: ignore[call-overload]  # noqa: SIM115
        for entry in tar:
            count += 1
            if count > ENTRIES:
                raise Fault(f"what was to be copied out has more than {ENTRIES} entries")
            place = _place(entry.name, target)
            if place is None:
                continue
            try:
                _lay(tar, entry, place, target)
            except OSError as exc:
                if exc.errno not in _LEFT_OUT:
                    raise
    except tarfile.TarError as exc:
        raise Fault(f"the archive from the environment cannot be read: {exc}") from exc
    except OSError as exc:
        raise Fault(f"`{target}` could not be written: {exc.strerror or exc}") from exc


def _place(name: str, target: Path) -> Path | None:
    parts = [p for p in PurePosixPath(name).parts if p not in ("/", ".")]
    if not parts or ".." in parts or any("\0" in p for p in parts):
        return None
    return target.joinpath(*parts[1:])


def _lay(tar: tarfile.TarFile, entry: tarfile.TarInfo, place: Path, target: Path) -> None:
    if entry.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if entry.islnk():
        first = _place(entry.linkname, target)
        if first is not None and first.is_file():
            shutil.copy(first, place)
    elif entry.isreg():
        content = tar.extractfile(entry)
        assert content is not None
        with place.open("wb") as file:
            shutil.copyfileobj(content, file, 1024 * 1024)
        place.chmod((entry.mode & 0o777) | 0o600)

"""Searches a built image for what the agent must not see: its files, archives, git objects, history."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import posixpath
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = 32 * 1024 * 1024  # bytes of a file that is searched
DEPTH = 2  # archives in archives
MEMBERS = 5_000  # files of an archive
_SYSTEM = re.compile(
    r"(?:usr/(?:lib|lib32|lib64|libexec|include|bin|sbin|share|src)|usr/local/(?:lib|include|share)|lib\w*|bin|sbin|proc"
    r"|sys|dev|var/(?:lib/(?:dpkg|apt|pam)|cache/(?:apt|debconf|man)|log)|etc/(?:ssl|ca-certificates|alternatives)|boot)(?:/|$)"
)
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip", ".jar", ".whl", ".egg", ".gz", ".bz2", ".xz")
_OBJECTS = re.compile(
    r"(.*?)(?:^|/)((?:[^/]+\.git|\.git)/(?:modules/[^/]+/)?objects|objects)"
    r"/(pack/[^/]+\.(?:pack|idx)|[0-9a-f]{2}/[0-9a-f]{38,62})$"
)
_WHITEOUT = ".wh."
_EMPTY = (b"", b"\n")


@dataclass(frozen=True)
class Hit:
    """What was found (the index of the text that was looked for), where, and whether the agent itself can see it."""

    needle: int
    place: str
    seen: bool = True


@dataclass
class Search:
    """The texts that are looked for, and what has been found."""

    wanted: Sequence[bytes]
    hits: dict[tuple[int, str], Hit] = field(default_factory=dict)

    def look(self, content: bytes, place: str, seen: bool = True) -> None:
        """Search one content, whatever it is."""
        for n, text in enumerate(self.wanted):
            if text in content:
                self.hits.setdefault((n, place), Hit(n, place, seen))

    def file(self, name: str, content: bytes, place: str, seen: bool = True, depth: int = DEPTH) -> None:
        """Search a file, and what is packed in it."""
        self.look(content, place, seen)
        if depth and name.lower().endswith(_ARCHIVES):
            for inner, data in _unpacked(name.lower(), content):
                self.file(inner, data, f"{place}!{inner}", seen, depth - 1)


def search_image(
    export: Iterable[bytes], wanted: Sequence[str], *, git: bool = True, stop: Callable[[], bool] = bool
) -> list[Hit]:
    """Search what `docker save` gives; `git`: the objects of repositories too."""
    search = Search([text.encode("utf-8", "surrogatepass") for text in wanted])
    if not search.wanted:
        return []
    with tempfile.TemporaryDirectory(prefix="scenlint-image-") as folder:
        place = Path(folder, "image.tar")
        with place.open("wb") as file:
            for chunk in export:
                file.write(chunk)
        with tarfile.open(place) as image:
            _search(image, search, Path(folder), git, stop)
    return list(search.hits.values())


def _search(image: tarfile.TarFile, search: Search, folder: Path, git: bool, stop: Callable[[], bool]) -> None:
    manifest = _json(image, "manifest.json")
    if not isinstance(manifest, list) or not manifest:
        return
    config = _json(image, manifest[0]["Config"])
    layers = [str(name) for name in manifest[0]["Layers"]]
    _history(config if isinstance(config, dict) else {}, search)
    gone = _gone(image, layers)
    objects = _Objects(folder)
    for number, name in enumerate(layers):
        if stop():
            return
        for path, content in _files(image, name):
            seen = number >= gone.get(path, -1)
            parts = _OBJECTS.match(path) if git else None
            if parts:
                objects.add(f"/{parts[1]}/{parts[2]}".replace("//", "/"), parts[3], content)
            elif not _SYSTEM.match(path):
                label = f"/{path}" if seen else f"/{path} (deleted in a later layer)"
                search.file(posixpath.basename(path), content, label, seen)
    for place, content in objects.contents():
        search.look(content, place)


def _history(config: Mapping[str, Any], search: Search) -> None:
    settings = config.get("config") or {}
    for text in settings.get("Env") or ():
        search.look(str(text).encode(), "the image's environment variables")
    for name, value in (settings.get("Labels") or {}).items():
        search.look(f"{name}={value}".encode(), "the image's labels", seen=False)
    for entry in config.get("history") or ():
        search.look(str(entry.get("created_by", "")).encode(), "the image's history", seen=False)


def _gone(image: tarfile.TarFile, layers: Sequence[str]) -> dict[str, int]:
    """Path -> the first layer from which on it is not what an earlier layer had: deleted there, or replaced."""
    out: dict[str, int] = {}
    folders: list[tuple[str, int]] = []
    names: dict[str, list[int]] = {}
    for number, layer in enumerate(layers):
        for member in _members(image, layer):
            path = _plain(member.name)
            base = posixpath.basename(path)
            if base == f"{_WHITEOUT}{_WHITEOUT}.opq":
                folders.append((posixpath.dirname(path) + "/", number))
            elif base.startswith(_WHITEOUT):
                hidden = posixpath.join(posixpath.dirname(path), base[len(_WHITEOUT) :])
                out[hidden] = number
                folders.append((hidden + "/", number))
            elif member.isfile():
                names.setdefault(path, []).append(number)
    for path, numbers in names.items():
        if len(numbers) > 1:
            out[path] = max(out.get(path, -1), numbers[-1])
        for prefix, number in folders:
            if path.startswith(prefix) and numbers[0] < number:
                out[path] = max(out.get(path, -1), number)
    return out


def _members(image: tarfile.TarFile, layer: str) -> Iterator[tarfile.TarInfo]:
    with _opened(image, layer) as tar:
        yield from tar


def _files(image: tarfile.TarFile, layer: str) -> Iterator[tuple[str, bytes]]:
    with _opened(image, layer) as tar:
        for member in tar:
            path = _plain(member.name)
            # Git objects are looked at wherever they lie.
            if not member.isfile() or member.size > FILE or (_SYSTEM.match(path) and "/objects/" not in path):
                continue
            file = tar.extractfile(member)
            content = file.read() if file else b""
            if content not in _EMPTY:
                yield path, content


def _opened(image: tarfile.TarFile, layer: str) -> tarfile.TarFile:
    file = image.extractfile(layer)
    assert file is not None
    return tarfile.open(fileobj=file, mode="r:*")


def _json(image: tarfile.TarFile, name: str) -> Any:
    with suppress(KeyError, ValueError):
        file = image.extractfile(name)
        return json.load(file) if file else None
    return None


def _plain(name: str) -> str:
    return posixpath.normpath(name).lstrip("/")


class _Objects:
    """The git objects of an image: each repository's go into a new one, without its configuration."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.places = folder, dict[str, Path]()

    def add(self, repository: str, name: str, content: bytes) -> None:
        place = self.places.setdefault(repository, self.folder / f"git-{len(self.places)}")
        target = place / "objects" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def contents(self) -> Iterator[tuple[str, bytes]]:
        git = shutil.which("git")
        for repository, place in self.places.items() if git else ():
            (place / "refs").mkdir(exist_ok=True)
            (place / "HEAD").write_text("ref: refs/heads/main\n")
            (place / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
            env = {"GIT_DIR": str(place), "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder), "PATH": "/usr/bin:/bin"}
            argv = [str(git), "cat-file", "--batch", "--batch-all-objects", "--buffer"]
            with suppress(OSError, subprocess.SubprocessError):
                ran = subprocess.run(argv, env=env, capture_output=True, timeout=120)
                yield f"the git objects of {posixpath.dirname(repository)}", ran.stdout


def _unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of an archive, or the one that is compressed; nothing where it cannot be read."""
    with suppress(Exception):  # untrusted: broken archives are no concern of ours
        if name.endswith((".zip", ".jar", ".whl", ".egg")):
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                for info in packed.infolist()[:MEMBERS]:
                    if not info.is_dir() and info.file_size <= FILE:
                        yield info.filename, packed.read(info)
        elif re.search(r"\.tar(?:\.\w+)?$|\.tgz$", name):
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as tar:
                for _, member in zip(range(MEMBERS), tar, strict=False):
                    if member.isfile() and member.size <= FILE:
                        file = tar.extractfile(member)
                        yield member.name, file.read() if file else b""
        else:
            openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
            stem, suffix = posixpath.splitext(name)
            with openers[suffix](io.BytesIO(content)) as file:
                yield stem, file.read(FILE)

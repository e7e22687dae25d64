"""Images for trials: prebuilt or built once for their content, with local stand-ins where they are mapped."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.harness.builder import build
from scenlint.harness.capture import Watch
from scenlint.harness.engine import Engine, EngineError, Options, explanation, faults
from scenlint.harness.environment import Fault
from scenlint.task.plan import Build, Image

if TYPE_CHECKING:
    from scenlint.source.dockerfile import Word

_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


@dataclass(frozen=True)
class Ready:
    """An image that containers can be made from."""

    reference: str  # as the task names it, or scenlint/<hash of the content> for what was built
    id: str  # the engine's own id
    digest: str  # of the registry it came from; the id where there is none
    substitutes: tuple[tuple[str, str], ...] = ()  # (pinned reference, local image that stood in for it)
    log: str = ""  # what the build said, head and tail

    @property
    def substitute(self) -> str:
        return "; ".join(f"{local} for {pinned}" for pinned, local in self.substitutes)


def prepare(
    engine: Engine,
    image: Image,
    options: Options,
    *,
    timeout: float,
    log: Path | None = None,
    stop: threading.Event | None = None,
) -> Ready:
    """The image, pulled or built if it is not there yet. A Fault says what to do about one that cannot be had."""
    if image.build is not None:
        try:
            return _built(engine, image.build, options, log, Watch("the build", timeout, stop))
        except OSError as exc:
            raise Fault(f"the build's files cannot be read: {exc}") from exc
    reference = image.reference or ""
    local = substitute(reference, options.substitutes)
    if local is not None:
        stand_in = _need(engine, reference, local)
        return Ready(reference, stand_in.id, stand_in.digest, ((reference, local),))
    found = _here(engine, reference)
    if found is None:
        _pull(engine, reference, Watch(f"pulling `{reference}`", timeout, stop))
        found = _here(engine, reference)
    if found is None:
        raise EngineError(f"`{reference}` was pulled, but the engine does not know it")
    return found


def substitute(reference: str, mapping: Mapping[str, str]) -> str | None:
    """The local image mapped to a reference; a key without a digest serves every digest of that name and tag."""
    wanted = _plain(reference)
    known = {_plain(key): value for key, value in mapping.items()}
    return known.get(wanted) or known.get(_plain(wanted.partition("@")[0]))


def _plain(reference: str) -> str:
    for prefix in ("docker.io/", "index.docker.io/", "library/"):
        reference = reference.removeprefix(prefix)
    name, at, digest = reference.partition("@")
    if not at and ":" not in name.rpartition("/")[2]:
        name += ":latest"
    return name + at + digest


def _here(engine: Engine, reference: str) -> Ready | None:
    import docker.errors

    with faults(f"looking for the image `{reference}`"):
        try:
            found = engine.api.inspect_image(reference)
        except docker.errors.ImageNotFound:
            return None
    digests = [d.partition("@")[2] for d in found.get("RepoDigests") or ()]
    named = reference.partition("@")[2]
    return Ready(reference, found["Id"], named if named in digests else next(iter(digests), found["Id"]))


def _need(engine: Engine, reference: str, local: str) -> Ready:
    found = _here(engine, local)
    if found is None:
        raise EngineError(
            f"`{local}`, which `[images] substitutes` names for `{reference}`, is not on this engine: "
            f"build, load or import it (`docker images` shows what is there)"
        )
    return found


def _pull(engine: Engine, reference: str, watch: Watch) -> None:
    import docker.errors

    name, _, tag = reference.rpartition(":") if ":" in reference.rpartition("/")[2] else (reference, "", "latest")
    if "@" in reference:
        name, tag = reference, ""
    with faults(f"pulling `{reference}`"):
        try:
            for event in engine.api.pull(name, tag=tag or None, stream=True, decode=True):
                watch.check()
                if "error" in event:
                    raise EngineError(unavailable(reference, event["error"]))
        except docker.errors.APIError as exc:
            raise EngineError(unavailable(reference, explanation(exc))) from exc


def unavailable(reference: str, why: str) -> str:
    """What to tell someone whose image cannot be had."""
    return (
        f"the image `{reference}` is neither here nor can it be pulled ({why.strip()}). What to do: pull or load it "
        f"where a registry answers, or map it to a local image under `[images] substitutes`"
    )


# Builds


def _built(engine: Engine, plan: Build, options: Options, log: Path | None, watch: Watch) -> Ready:
    dockerfile = plan.context / plan.dockerfile
    text, used, bases = _substituted(engine, dockerfile, plan, options.substitutes)
    key = _content_key(plan, text, bases, engine)
    tag = f"scenlint/{key[:32]}{'-anew' if plan.anew else ''}"
    with _locks_guard:
        lock = _locks.setdefault(key, threading.Lock())
    with lock:  # trials of one task that start at once build once
        found = None if plan.anew else _here(engine, tag)
        said = "found in the cache"
        if found is None:
            with tempfile.TemporaryDirectory(prefix="scenlint-build-") as folder:
                copy = Path(folder) / "Dockerfile"
                copy.write_bytes(text)
                ignore = dockerfile.with_name(dockerfile.name + ".dockerignore")
                if ignore.is_file():
                    shutil.copyfile(ignore, copy.with_name("Dockerfile.dockerignore"))
                said = build(engine, plan, copy, tag, options.build_network, log, watch)
            found = _here(engine, tag)
    if found is None:
        raise EngineError(f"the build of `{plan.dockerfile}` ended well, but its image is not there")
    return Ready(tag, found.id, found.digest, used, said)


def _substituted(
    engine: Engine, path: Path, plan: Build, mapping: Mapping[str, str]
) -> tuple[bytes, tuple[tuple[str, str], ...], list[str]]:
    """The Dockerfile with images replaced as mapped, what was replaced, and the state of each image it builds on."""
    from scenlint.source.dockerfile import parse
    from scenlint.source.text import Source

    source = Source(path, path.read_bytes())
    content, used, bases = source.text, dict[str, str](), list[str]()
    for word in reversed(list(_images(parse(source.fragment("dockerfile"), dict(plan.arguments)).stages))):
        reference = word.text or ""
        local = substitute(reference, mapping)
        if local is not None:
            found = _need(engine, reference, local)
            used[reference] = local
            content = content[: word.span.start] + local + content[word.span.end :]
        else:
            local_copy = _here(engine, reference)
            # A base that is not here yet is settled by its reference alone.
            found = local_copy or Ready(reference, "", "")
        bases.append(f"{reference}={found.id}")
    return content.encode("utf-8", "surrogateescape"), tuple(sorted(used.items())), bases


def _images(stages: object) -> Iterator[Word]:
    """The words of a Dockerfile that name images: FROM, and `--from=` where it is no stage; in the file's order."""
    from scenlint.source.dockerfile import Stage

    assert isinstance(stages, list)
    named: set[str] = set()
    for stage in stages:
        assert isinstance(stage, Stage)
        if stage.parent is None and stage.base.text not in (None, "", "scratch"):
            yield stage.base
        for instruction in stage.instructions:
            for word in instruction.origins:
                if word.text and word.text.lower() not in named and not word.text.isdigit():
                    yield word
        if stage.name:
            named.add(stage.name)


def _content_key(plan: Build, text: bytes, bases: list[str], engine: Engine) -> str:
    """Everything that decides what a build makes."""
    parts = [text.decode("utf-8", "surrogateescape"), plan.target or "", repr(plan.arguments), *sorted(bases)]
    parts.append(f"{engine.info.get('OSType')}/{engine.info.get('Architecture')}")
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape"))
    for path, mode, content in _context(plan.context):
        digest.update(f"\0{path}\0{mode:o}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


def _context(root: Path) -> Iterator[tuple[str, int, bytes]]:
    """Each file of a context: its path, mode, and the digest of its content or where a link points (never followed)."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
        for name in sorted([*files, *links, *(f for f in folders if f not in links)]):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = b""
            if stat.S_ISLNK(info.st_mode):
                content = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.file_digest(file, "sha256").digest()
            yield os.path.relpath(path, root), info.st_mode, content

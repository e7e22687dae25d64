"""Every image a task names, split into its parts: in Dockerfiles, compose files and metadata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scenlint.source import dockerfile
from scenlint.source.dockerfile.words import expand
from scenlint.source.regex import regex
from scenlint.source.text import Edit, Span
from scenlint.task.fix import Fix
from scenlint.task.locks import digest_of
from scenlint.task.model import BuildFile, Document, Place, Task, once_a_task

_DIGEST = regex(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_OPEN_END = regex(r"\$(?:\w+|\{[^}]*\})$")  # ends in a variable: tag and digest may stand in it


@dataclass(frozen=True)
class Reference:
    """An image reference in its parts; "" for what is not given."""

    text: str
    registry: str
    repository: str
    tag: str
    digest: str

    @property
    def pinned(self) -> bool:
        """Whether a well-formed digest names what it holds."""
        return _DIGEST.fullmatch(self.digest) is not None

    @property
    def floating(self) -> bool:
        """Whether it is whatever is newest: no digest, and `latest` or no tag."""
        return not self.digest and self.tag in ("", "latest")

    @property
    def name(self) -> str:
        """Without tag and digest, Docker Hub's own prefixes left out: `python` for docker.io/library/python:3.12."""
        hub = self.registry in ("", "docker.io", "index.docker.io", "registry-1.docker.io")
        return self.repository.removeprefix("library/") if hub else f"{self.registry}/{self.repository}"


@dataclass(frozen=True)
class Image:
    """An image that is built on, copied from or started; `how` is the instruction or field that names it."""

    reference: Reference
    span: Span
    how: str
    place: Place
    service: str
    base: bool  # the image that a container or a build starts from, not one that files are copied out of


@lru_cache(maxsize=1024)
def split(text: str) -> Reference | None:
    """The parts of a reference; None for what is none, or hides its tag or digest in an unset variable."""
    text = text.strip()
    if not text or text == "scratch" or len(text.split()) > 1 or _OPEN_END.search(text):
        return None
    name, _, digest = text.partition("@")
    first, slash, rest = name.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost" or first.startswith("$"))
    registry, path = (first, rest) if is_host else ("", name)
    folder, slash, last = path.rpartition("/")
    last, _, tag = last.partition(":")
    if not last or "$" in last + tag + digest:
        return None
    return Reference(text, registry, folder + slash + last, tag, digest)


def pin(task: Task, image: Image) -> Fix | None:
    """The fix that adds the known digest to a reference; None where none is known, or the file spells it otherwise."""
    text = image.reference.text
    digest = digest_of(task.policy.digests, text)
    at = image.span.text.find(text)
    if digest is None or at < 0 or image.span.text.strip("\"'") != text:
        return None
    end = image.span.start + at + len(text)
    return Fix.of("pin it by its known digest", Edit(Span(image.span.source, end, end), f"@{digest}"))


@once_a_task
def find_images(task: Task) -> list[Image]:
    """Every image of the task's environment and of its verifier, in no case one that the task builds itself."""
    environment = task.environment
    if environment is None:
        return []
    built = {s for document in environment.compose for s in _built(document)}
    contexts = {name for document in environment.compose for name in _extra_contexts(document)}
    found = [image for build in environment.builds for image in _of_build(build, contexts)]
    for use in environment.images:
        reference = split(expand(use.reference, {}) or use.reference)
        if reference and use.service not in built and reference.text not in built:
            found.append(Image(reference, use.span, "image", use.place, use.service, base=True))
    return found


def services(document: Document) -> dict[str, dict[str, Any]]:
    """The services of a compose file, those of an odd shape left out."""
    value = document.data.value
    listed = value.get("services") if isinstance(value, dict) else None
    return {str(k): v for k, v in listed.items() if isinstance(v, dict)} if isinstance(listed, dict) else {}


def _built(document: Document) -> Iterator[str]:
    """The services that are built here, and the names their images get."""
    for name, service in services(document).items():
        if service.get("build"):
            yield name
            if isinstance(service.get("image"), str):
                yield service["image"]


def _extra_contexts(document: Document) -> Iterator[str]:
    for service in services(document).values():
        build = service.get("build")
        extra = build.get("additional_contexts") if isinstance(build, dict) else None
        yield from (str(item).partition("=")[0] for item in (extra if isinstance(extra, dict | list) else ()))


def _of_build(build: BuildFile, contexts: set[str]) -> Iterator[Image]:
    parsed = dockerfile.parse(build.fragment, build.arguments)
    for stage in parsed.stages:
        reference = split(stage.base.text or stage.base.raw) if stage.parent is None else None
        if reference and reference.text not in contexts:
            yield Image(reference, stage.base.span, "FROM", build.place, build.service, base=True)
        for instruction in stage.instructions:
            for word in instruction.origins:
                name = word.text or word.raw
                if parsed.stage(name) is None and name not in contexts and (reference := split(name)):
                    yield Image(
                        reference, word.span, f"{instruction.keyword} --from", build.place, build.service, base=False
                    )

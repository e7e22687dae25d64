"""What a team has locked: the digests of images, and the versions in lock files of Python packages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from scenlint.source.regex import regex

FILE_NAME = "scenlint.lock"
DIGEST_PATTERN = "^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$"
DIGEST = regex(DIGEST_PATTERN)
_HEAD = (
    "# Digests of the images that the tasks name by tag, written by `scenlint pin`.\n"
    "# `scenlint check --fix` pins by them.\n"
    "[images]\n"
)
_HUB = ("docker.io/", "index.docker.io/", "registry-1.docker.io/")
_FROZEN = regex(r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*===?\s*(?P<version>[^\s;#*,\\]+)\s*(?:[;#\\-]|$)")


class LockError(Exception):
    """A lock file cannot be used; the message says which and why."""


def image_key(reference: str) -> str:
    """The one spelling of a reference without a digest: `python:3.12` for docker.io/library/python:3.12."""
    name = reference.strip().partition("@")[0]
    for prefix in (*_HUB, "library/"):
        name = name.removeprefix(prefix)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def digest_of(digests: Mapping[str, str], reference: str) -> str | None:
    """The known digest of an image that is named by tag."""
    wanted = image_key(reference)
    return next((digest for known, digest in digests.items() if image_key(known) == wanted), None)


def read_images(file: Path) -> dict[str, str]:
    """The digests in scenlint.lock: reference -> digest."""
    try:
        listed = tomllib.loads(file.read_text("utf-8")).get("images", {})
    except (OSError, ValueError) as exc:
        raise LockError(f"{file}: {getattr(exc, 'strerror', None) or exc}") from None
    items = listed.items() if isinstance(listed, dict) else [("images", None)]
    for reference, digest in items:
        if not isinstance(digest, str) or not DIGEST.match(digest):
            raise LockError(f"{file}: `{reference}` has no well-formed digest; `scenlint pin` writes this file")
    return dict(items)


def write_images(digests: Mapping[str, str]) -> str:
    """The text of scenlint.lock."""
    rows = (f"{json.dumps(reference)} = {json.dumps(digest)}\n" for reference, digest in sorted(digests.items()))
    return _HEAD + "".join(rows)


def package_key(name: str) -> str:
    """The one spelling of a Python package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_packages(file: Path) -> dict[str, str]:
    """Package -> version of a lock file: uv.lock, poetry.lock and their like, Pipfile.lock, or `name==version` lines.

    A package of which it names several versions is left out: which of them counts depends on the machine.
    """
    try:
        text = file.read_text("utf-8-sig")
        found = list(_packages(file.name, text))
    except (OSError, ValueError, TypeError, AttributeError) as exc:
        raise LockError(f"{file}: cannot be read as a lock file: {getattr(exc, 'strerror', None) or exc}") from None
    if not found:
        raise LockError(f"{file}: no package with an exact version is in this lock file")
    versions: dict[str, set[str]] = {}
    for name, version in found:
        versions.setdefault(package_key(name), set()).add(version)
    return {name: several.pop() for name, several in versions.items() if len(several) == 1}


def _packages(name: str, text: str) -> Iterable[tuple[str, str]]:
    if name == "Pipfile.lock":
        groups = [json.loads(text).get(group, {}) for group in ("default", "develop")]
        entries = [(package, about.get("version", "")) for group in groups for package, about in group.items()]
        return [(package, version[2:]) for package, version in entries if version.startswith("==")]
    if name.endswith((".lock", ".toml")) and "[[package" in text:
        data = tomllib.loads(text)
        listed = data.get("package") or data.get("packages") or []
        return [(p["name"], p["version"]) for p in listed if "name" in p and "version" in p]
    lines = (line.strip() for line in text.splitlines())
    matches = (_FROZEN.match(line) for line in lines if line and not line.startswith(("#", "-")))
    return [(match["name"], match["version"]) for match in matches if match]


def pinned_requirement(text: str, packages: Mapping[str, str]) -> str | None:
    """A requirement at its locked version; None where that is not known, or not what the requirement allows."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    version = packages.get(package_key(wanted.name))
    if version is None or wanted.url or not wanted.specifier.contains(version, prereleases=True):
        return None
    head = re.match(r"[\w.-]+(?:\s*\[[^\]]*\])?", text)
    marker = text.partition(";")[1:]
    return f"{head[0]}=={version}{''.join(marker)}" if head else None

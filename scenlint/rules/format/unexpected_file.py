"""A file beside the format's own set that nothing in the task reads."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule
from scenlint.source.regex import regex

# What people keep beside any work, and what belongs to tools.
_USUAL = regex(
    r"(?:readme|licen[cs]e|copying|notice|changelog|changes|contributing|authors|citation|security)(?:[._-].*)?", re.I
)
_LITTER = regex(r"__pycache__|.*\.py[co]|\..*")  # caches and hidden files: leftover-artifact's matter


@rule(
    "unexpected-file",
    "SL113",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    refute="a file of the task, or the harness, opens it",
)
def unexpected_file(task: Task) -> Iterator[Finding]:
    if not task.known_files or task.shared:
        return
    strangers = [e.path for e in task.files if e.path not in task.known_files and not _passes(e.path)]
    if not strangers:
        return
    named, known = _words(task), _folders(task.known_files)
    places: dict[str, list[str]] = {}
    for path in strangers:
        place = _top(path, known)
        if not _names(path, place, named):
            places.setdefault(place, []).append(path)
    for folder, paths in places.items():
        place = folder if len(paths) > 1 else paths[0]
        what = f"the folder `{folder}` ({len(paths)} files)" if len(paths) > 1 else f"`{place}`"
        verb = "is not part of the format, and nothing in the task reads it"
        yield Finding.at(task.folder / place, f"{what} {verb}", help="remove it, or say where it is used")


def _passes(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return any(_LITTER.fullmatch(part) for part in parts) or _USUAL.fullmatch(parts[-1]) is not None


def _folders(paths: set[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents}


def _top(path: str, known: set[str]) -> str:
    """The topmost folder above a file that holds nothing the task knows; else the file itself."""
    above = [str(p) for p in reversed(PurePosixPath(path).parents)]
    return next((p for p in above if p not in known and p != "."), path)


def _words(task: Task) -> set[str]:
    """Every word of the task's texts that a file could be named by."""
    fragments = [d.fragment for d in task.documents] + [b.prose for b in task.briefs]
    fragments += task.verifier.files if task.verifier else []
    fragments += task.oracle.files if task.oracle else []
    fragments += [b.fragment for b in task.environment.builds] if task.environment else []
    texts = [f.text for f in fragments]
    texts += [s.text for e in task.files if _USUAL.fullmatch(e.name) and (s := task.files.read(e.path)) is not None]
    return {word for text in texts for word in re.findall(r"[\w.-]+", text)}


def _names(path: str, place: str, words: set[str]) -> bool:
    """Whether the texts name the file, the module that it is, or the folder that it came with."""
    file = PurePosixPath(path)
    module = file.suffix == ".py" and file.stem in words
    return file.name in words or module or PurePosixPath(place).name in words

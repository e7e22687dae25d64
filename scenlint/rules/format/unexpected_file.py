"""A file beside the format's own set that nothing in the task reads."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule

# What people keep beside any work, and what belongs to tools.
_USUAL = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|changelog|changes|contributing|authors|citation|security)(?:[._-].*)?", re.I
)
_LITTER = re.compile(r"__pycache__|.*\.py[co]|\..*")  # caches and hidden files: leftover-artifact's matter


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
    named = _words(task)
    strangers = [path for path in strangers if not _names(path, named)]
    for place, paths in _places(task, strangers).items():
        what = f"`{place}`" if paths == [place] else f"the folder `{place}` ({len(paths)} files)"
        verb = "is not part of the format, and nothing in the task reads it"
        yield Finding.at(task.folder / place, f"{what} {verb}", help="remove it, or say where it is used")


def _passes(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return any(_LITTER.fullmatch(part) for part in parts) or _USUAL.fullmatch(parts[-1]) is not None


def _places(task: Task, paths: list[str]) -> dict[str, list[str]]:
    """The strangers by the topmost folder that holds nothing else."""
    known = {str(parent) for path in task.known_files for parent in PurePosixPath(path).parents}
    out: dict[str, list[str]] = {}
    for path in paths:
        above = [str(p) for p in reversed(PurePosixPath(path).parents) if str(p) not in known and str(p) != "."]
        out.setdefault(above[0] if above else path, []).append(path)
    return out


def _words(task: Task) -> set[str]:
    """Every word of the task's texts that a file could be named by."""
    fragments = [d.fragment for d in task.documents] + [b.prose for b in task.briefs]
    fragments += task.verifier.files if task.verifier else []
    fragments += task.oracle.files if task.oracle else []
    fragments += [b.fragment for b in task.environment.builds] if task.environment else []
    texts = [f.text for f in fragments]
    texts += [s.text for e in task.files if _USUAL.fullmatch(e.name) and (s := task.files.read(e.path)) is not None]
    return {word for text in texts for word in re.findall(r"[\w.-]+", text)}


def _names(path: str, words: set[str]) -> bool:
    """Whether the texts name the file, its module, or a folder it lies in."""
    parts = PurePosixPath(path).parts
    return parts[-1] in words or PurePosixPath(path).stem in words or any(part in words for part in parts[:-1])

"""Applies a unified diff to texts in memory: exact hunks only, and no file is made, deleted or renamed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from .errors import PatchError

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_REFUSED = re.compile(
    r"(?:(?:new file|deleted file|old|new) mode|(?:rename|copy) (?:from|to)|GIT binary|Binary files)\b"
)


def apply_patch(patch: str, files: Mapping[str, str]) -> dict[str, str]:
    """The texts with the diff applied; PatchError (a SolutionError) where it is none or does not fit exactly."""
    out = dict(files)
    lines = patch.splitlines(keepends=True)
    found = False
    at = 0
    while at < len(lines):
        if _REFUSED.match(lines[at]):
            raise PatchError(f"a patch may only change texts: `{lines[at].strip()[:80]}`", "invalid_patch")
        if not lines[at].startswith("--- "):
            at += 1
            continue
        if at + 1 >= len(lines) or not lines[at + 1].startswith("+++ "):
            raise PatchError("a line `---` without its line `+++`", "invalid_patch")
        name = _target(lines[at], lines[at + 1], out)
        at += 2
        hunks = []
        while at < len(lines) and lines[at].startswith("@@"):
            hunk, at = _hunk(lines, at)
            hunks.append(hunk)
        if not hunks:
            raise PatchError(f"no hunk for `{name}`", "invalid_patch")
        out[name] = _applied(name, out[name], hunks)
        found = True
    if not found:
        raise PatchError("there is no patch", "invalid_patch")
    return out


def _target(old: str, new: str, files: Mapping[str, str]) -> str:
    names = [_name(line) for line in (old, new)]
    if "/dev/null" in names:
        raise PatchError("a patch may not make or delete files", "invalid_patch")
    if names[0] != names[1]:
        raise PatchError(f"a patch may not rename `{names[0]}` to `{names[1]}`", "invalid_patch")
    if names[0] not in files:
        raise PatchError(f"the patch is for `{names[0]}`, which is not there", "patch_apply_failed")
    return names[0]


def _name(line: str) -> str:
    path = line[4:].rstrip("\r\n").split("\t")[0].strip()
    if path == "/dev/null":
        return path
    if path.startswith('"'):
        raise PatchError("quoted names are not supported", "invalid_patch")
    if path[:2] in ("a/", "b/"):
        path = path[2:]
    if posixpath.isabs(path) or posixpath.normpath(path) != path or path.startswith(".."):
        raise PatchError(f"`{path}` is no plain relative path", "invalid_patch")
    return path


def _hunk(lines: list[str], at: int) -> tuple[tuple[int, list[str], list[str]], int]:
    """(first old line, old lines, new lines) of a hunk, and where the next one begins."""
    head = _HUNK.match(lines[at])
    if head is None:
        raise PatchError(f"a broken hunk `{lines[at].strip()[:80]}`", "invalid_patch")
    start, olds, news = int(head[1]), int(head[2] or 1), int(head[4] or 1)
    old: list[str] = []
    new: list[str] = []
    at += 1
    while len(old) < olds or len(new) < news or (at < len(lines) and lines[at].startswith("\\")):
        if at >= len(lines):
            raise PatchError("a hunk is shorter than it says", "invalid_patch")
        tag, text = lines[at][:1], lines[at][1:]
        if tag == "\\":  # "No newline at end of file" is about the line before
            for side in _sides(lines[at - 1][:1], old, new):
                side[-1] = side[-1].rstrip("\r\n") if side else ""
        elif tag in (" ", "-", "+", "\n", "\r"):
            for side in _sides(tag, old, new):
                side.append(text if tag in " -+" else lines[at])
        else:
            raise PatchError(f"a broken line `{lines[at].strip()[:80]}`", "invalid_patch")
        at += 1
    if len(old) != olds or len(new) != news:
        raise PatchError("a hunk is longer than it says", "invalid_patch")
    return (start if olds else start + 1, old, new), at


def _sides(tag: str, old: list[str], new: list[str]) -> Iterator[list[str]]:
    if tag != "+":
        yield old
    if tag != "-":
        yield new


def _applied(name: str, text: str, hunks: list[tuple[int, list[str], list[str]]]) -> str:
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    for start, old, new in hunks:
        begin = start - 1
        if begin < at or lines[begin : begin + len(old)] != old:
            raise PatchError(f"the hunk at line {start} of `{name}` does not fit", "patch_apply_failed")
        out += lines[at:begin] + new
        at = begin + len(old)
    return "".join(out + lines[at:])

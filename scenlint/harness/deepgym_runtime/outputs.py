"""Reads what a solution left in a folder, and its source, without following any link."""

from __future__ import annotations

import ast
import os
import stat
from pathlib import PurePosixPath

from .errors import SolutionError, raised
from .process import SESSION

LIMIT = 64 * 1024 * 1024


def read_output_bytes(path: str | os.PathLike[str], root: str | os.PathLike[str], limit: int = LIMIT) -> bytes:
    """A regular file below `root`, at most `limit` bytes; a SolutionError for links, devices and what is too large."""
    shown = os.fspath(path)
    full = os.path.normpath(os.path.join(os.path.abspath(root), shown))
    relative = PurePosixPath(os.path.relpath(full, os.path.abspath(root)))
    if ".." in relative.parts or not relative.parts:
        raise raised("ValueError", "ValueError", f"`{shown}` is not in the folder of the solution's output")
    fds = [os.open(root, os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for part in relative.parts[:-1]:
            fds.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fds[-1]))
        fds.append(os.open(relative.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fds[-1]))
        info = os.fstat(fds[-1])
        if not stat.S_ISREG(info.st_mode):
            raise raised("OSError", "OSError", f"`{shown}` is no regular file")
        if info.st_size > limit:
            raise raised("ValueError", "ValueError", f"`{shown}` has {info.st_size} bytes, more than {limit}")
        with os.fdopen(os.dup(fds[-1]), "rb") as file:
            return file.read(limit + 1)[:limit]
    except SolutionError:
        raise
    except OSError as exc:
        text = f"`{shown}` cannot be read: {exc.strerror} (links are not followed)"
        raise raised(type(exc).__name__, type(exc).__name__, text) from None
    finally:
        for fd in fds:
            os.close(fd)


def read_output(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> str:
    """A text file below `root`, as UTF-8."""
    try:
        return read_output_bytes(path, root).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise raised("ValueError", "ValueError", f"`{os.fspath(path)}` is not UTF-8: {exc.reason}") from None


def solution_source(path: str | os.PathLike[str], name: str | None = None) -> str:
    """The solution's text, or that of one of its top-level functions or classes; nothing is run."""
    SESSION.consulted = True
    try:
        text = solution_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise raised("SyntaxError", "SyntaxError", f"the solution is not UTF-8: {exc.reason}") from None
    if name is None:
        return text
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise raised("SyntaxError", "SyntaxError", f"the solution cannot be parsed: {exc}") from None
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return ast.get_source_segment(text, node) or ""
    raise raised("LookupError", "LookupError", f"the solution defines no `{name}`")


def solution_bytes(path: str | os.PathLike[str]) -> bytes:
    """The solution's file as it is."""
    folder, name = os.path.split(os.path.abspath(path))
    return read_output_bytes(name, folder)

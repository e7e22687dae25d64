"""The graders of an eval and of a task: what is declared, the scripts that are run, and the code that stands inline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scenlint.formats.base import language_of, text_at, value_at
from scenlint.formats.waza.suite import Places
from scenlint.source.data import Data
from scenlint.source.text import Fragment
from scenlint.task.model import Grader, Value

DEFAULT_TIMEOUT = 30.0
_CODE_FLAG = re.compile(r"-[a-zA-Z]*c|-e|--eval|-Command", re.IGNORECASE)
_INTERPRETERS = (
    (re.compile(r"python[\d.]*|py|pypy3?"), "python"),
    (re.compile(r"(?:ba|da|z|k)?sh"), "shell"),
    (re.compile(r"node|deno|bun"), "javascript"),
    (re.compile(r"pwsh|powershell"), "powershell"),
)


def read_graders(data: Data, scope: str, timeout: Value, places: Places) -> Iterator[tuple[Grader, list[Fragment]]]:
    """Each declared grader with the fragments of its code."""
    declared = data.get("graders")
    for n, entry in enumerate(declared) if isinstance(declared, list) else ():
        if not isinstance(entry, dict):
            continue
        at: tuple[str | int, ...] = ("graders", n)
        name = text_at(data, *at, "name") or f"grader {n + 1}"
        kind = text_at(data, *at, "type") or ("code" if "assertions" in entry else "")
        grader = Grader(name, data.span(*at, "name" if "name" in entry else "type"), kind, scope=scope)
        weight = entry.get("weight")
        grader.weight = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else None
        grader.config = entry.get("config")
        code = _program(grader, data, at, timeout, places) if kind == "program" else []
        if kind == "code":
            code = [f for f in (_assertions(data, at),) if f is not None]
        external = _script(text_at(data, *at, "script"), places)
        code += [external] if external is not None else []
        grader.script = code[0] if code else None
        yield grader, code


def _program(grader: Grader, data: Data, at: tuple[str | int, ...], timeout: Value, places: Places) -> list[Fragment]:
    config = (*at, "config")
    grader.timeout = value_at(data, *config, "timeout", default=timeout.value)
    if grader.timeout.span is None:
        grader.timeout = timeout
    command = text_at(data, *config, "command")
    if command is None:
        return []
    arguments = data.get(*config, "args")
    arguments = arguments if isinstance(arguments, list) else []
    grader.argv = [Value(command, data.span(*config, "command"))]
    grader.argv += [Value(str(a), data.span(*config, "args", n)) for n, a in enumerate(arguments)]
    language = next((lang for p, lang in _INTERPRETERS if p.fullmatch(Path(command).name.removesuffix(".exe"))), None)
    out: list[Fragment] = []
    for n, argument in enumerate(arguments):
        if language and isinstance(argument, str) and n and _CODE_FLAG.fullmatch(str(arguments[n - 1])) and not out:
            out.append(data.text(*config, "args", n, language=language))
        elif isinstance(argument, str) and (script := _script(argument, places)) is not None:
            out.append(script)
    direct = _script(command, places) if "/" in command else None
    return [direct, *out] if direct is not None else out


def _script(name: str | None, places: Places) -> Fragment | None:
    """A file of code that a path names; None for data, folders and what is not there."""
    if not name or "\n" in name or len(name) > 400 or Path(name).is_absolute() or not re.search(r"\w\.\w+$", name):
        return None
    path = places.find(name)
    source = places.read(path) if path is not None and path.is_file() else None
    if source is None or source.binary:
        return None
    language = language_of(source.path.name, source)
    return None if language in ("data", "text", "markdown") else Fragment.of(source, language)


def _assertions(data: Data, at: tuple[str | int, ...]) -> Fragment | None:
    """The assertions of a `code` grader as one text, a line each, mapped back to the strings they stand in."""
    place = (
        (*at, "config", "assertions")
        if isinstance(data.get(*at, "config", "assertions"), list)
        else (*at, "assertions")
    )
    listed = data.get(*place)
    language = text_at(data, *at, "config", "language") or "python"
    texts = [
        data.text(*place, n, language=language)
        for n, item in enumerate(listed if isinstance(listed, list) else [])
        if isinstance(item, str)
    ]
    if not texts:
        return None
    text, pieces = "", []
    for part in texts:
        pieces += [(len(text) + begin, host) for begin, host in part.pieces]
        text += part.text + "\n"
    return Fragment(data.fragment.source, text, language, pieces)

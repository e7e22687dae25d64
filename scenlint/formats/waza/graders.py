"""The graders of an eval and of a task: what is declared, the scripts that are run, and the code that stands inline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scenlint.formats.base import language_of, text_at, value_at
from scenlint.formats.waza.suite import Places
from scenlint.source import trace
from scenlint.source.data import Data
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.model import Grader, Value

DEFAULT_TIMEOUT = 30.0
_CODE_FLAG = regex(r"-[a-zA-Z]*c|-e|--eval|-Command", re.IGNORECASE)
_INTERPRETERS = (
    (regex(r"python[\d.]*|py|pypy3?"), "python"),
    (regex(r"(?:ba|da|z|k)?sh"), "shell"),
    (regex(r"node|deno|bun"), "javascript"),
    (regex(r"pwsh|powershell"), "powershell"),
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
        grader.missing += _missing_files(data, at, places)
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
    grader.missing += _missing_arguments(grader.argv, places)
    language = next((lang for p, lang in _INTERPRETERS if p.fullmatch(Path(command).name.removesuffix(".exe"))), None)
    out: list[Fragment] = []
    for n, argument in enumerate(arguments):
        if language and isinstance(argument, str) and n and _CODE_FLAG.fullmatch(str(arguments[n - 1])) and not out:
            out.append(data.text(*config, "args", n, language=language))
        elif isinstance(argument, str) and (script := _script(argument, places)) is not None:
            out.append(script)
    direct = _script(command, places) if "/" in command else None
    return [direct, *out] if direct is not None else out


def _missing_arguments(argv: list[Value], places: Places) -> Iterator[Value]:
    """The command or the script it runs, and further paths that lead into the graders' own folders, where not there."""
    command = str(argv[0].value)
    if command.startswith(("./", "../")) or re.match(r"[\w.-]+/", command):
        yield from [argv[0]] if places.find(command) is None else []
        at = 1
    elif re.fullmatch(r"(?:python|pypy)[\d.]*|py|(?:ba|da|z|k)?sh|node|deno|bun|ruby|perl|pwsh|tsx|ts-node", command):
        at = 1
        while at < len(argv) and str(argv[at].value).startswith("-"):
            flag = str(argv[at].value)
            if _CODE_FLAG.fullmatch(flag):
                at += 2
                break
            if re.fullmatch(r"-[a-zA-Z]*m", flag):
                yield from _missing_module(argv[at + 1 : at + 2], places)
                at += 2
                break
            at += 2 if flag in ("-W", "-X", "-r", "--require", "--import") else 1
        else:
            at += str(argv[at].value) == "run" if at < len(argv) else 0
            yield from (a for a in argv[at : at + 1] if _is_path(str(a.value)) and places.find(str(a.value)) is None)
            at += 1
    else:
        at = 1
    for argument in argv[at:]:
        text = str(argument.value)
        folder, _, name = text.rpartition("/")
        # Elsewhere it may be a file of the workspace.
        if folder and "." in name and _is_path(text) and places.find(folder) is not None and places.find(text) is None:
            yield argument


def _missing_module(argument: list[Value], places: Places) -> Iterator[Value]:
    """`python -m graders.check`: only a module of a folder that is there can be missed."""
    for value in argument:
        path = str(value.value).replace(".", "/")
        if "/" in path and places.find(path.split("/")[0]) is not None:
            yield from [value] if not any(places.find(p) for p in (path, path + ".py")) else []


def _is_path(text: str) -> bool:
    """A relative path without anything in it that only a run would fill in."""
    return re.fullmatch(r"(?!/)[\w.@+-]+(?:/[\w.@+-]+)*", text) is not None and re.search(r"\.\w+$|/", text) is not None


def _missing_files(data: Data, at: tuple[str | int, ...], places: Places) -> Iterator[Value]:
    """Scripts, schemas and snapshots that a grader names outside a command."""
    named = [((*at, "script"), ()), ((*at, "config", "schema_file"), ("fixtures",))]
    expected = data.get(*at, "config", "expected_files")
    context = text_at(data, *at, "config", "context_dir") or "fixtures"
    for n in range(len(expected) if isinstance(expected, list) else 0):
        named.append(((*at, "config", "expected_files", n, "snapshot"), (context,)))
    for path, bases in named:
        name = text_at(data, *path)
        if name is not None and _is_path(name) and places.find(name, *bases) is None:
            yield Value(name, data.span(*path))


def _script(name: str | None, places: Places) -> Fragment | None:
    """A file of code that a path names; None for data, folders and what is not there."""
    if not name or "\n" in name or len(name) > 400 or Path(name).is_absolute() or not re.search(r"\w\.\w+$", name):
        return None
    path = places.find(name)
    source = places.read(path) if path is not None and trace.is_file(path) else None
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

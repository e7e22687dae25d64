"""What the few programs that print and move text about do to a state."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from scenlint.source.shell import Command
from scenlint.task.verdict_flow.roles import Purpose, purpose
from scenlint.task.verdict_flow.values import EMPTY, State, Status, Value

if TYPE_CHECKING:
    from scenlint.task.verdict_flow.commands import Commands

Builtin = Callable[["Commands", Command, State, str, "Value | None"], "list[State] | None"]


def done(state: State, command: Command, what: Purpose = Purpose.OUTPUT) -> list[State]:
    state.status = Status(True, command, what)
    return [state]


def _echo(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    words = command.words[1:]
    end, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0].raw):
        end = "" if "n" in words[0].raw else end
        escapes |= "e" in words[0].raw
        words = words[1:]
    values = [run.value(w, state, command) for w in words]
    _print(run, command, state, out, values, end, " ", escapes)
    return done(state, command)


def _print(
    run: Commands, command: Command, state: State, out: str, values: list[Value], end: str, gap: str, escapes: bool
) -> None:
    if all(v.text is not None for v in values):
        text = gap.join(v.text or "" for v in values)
        run.write(state, out, Value((_unescaped(text) if escapes else text) + end, source=command))
    elif len(values) == 1:
        only = values[0]
        run.write(state, out, Value(status=only.status, purpose=only.purpose, source=command, maker=only.maker))
    else:
        run.write(state, out, Value(purpose=run.mixed(values).purpose, source=command))


def _unescaped(text: str) -> str:
    try:
        return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape")
    except (UnicodeDecodeError, ValueError):
        return text


def _printf(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    words = [w for w in command.words[1:] if w.raw != "--"]
    if words and words[0].raw == "-v" and len(words) > 2:
        state.variables[words[1].raw] = run.value(words[-1], state, command) if len(words) == 4 else Value()
        return done(state, command)
    if not words:
        return done(state, command)
    form = run.value(words[0], state, command).text
    values = [run.value(w, state, command) for w in words[1:]]
    if form is None:
        _print(run, command, state, out, [Value()], "", "", False)
    elif "%" not in form:
        _print(run, command, state, out, [Value(form)], "", "", True)
    elif any(v.text is None for v in values):
        only = re.fullmatch(r"%[-\d.]*[sdfg](?:\\n)?", form) and len(values) == 1
        _print(run, command, state, out, values if only else [run.mixed(values)], "", "", False)
    else:
        rest = iter(v.text or "" for v in values)
        text = re.sub(r"%[-\d.]*[sdifg]", lambda m: next(rest, ""), form).replace("%%", "%")
        _print(run, command, state, out, [Value(text)], "", "", True)
    return done(state, command)


def _cat(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State] | None:
    files = [w for w in command.words[1:] if not w.is_option]
    made = frozenset(p for p in state.files if not p.startswith("\0"))
    if not files or files[0].raw == "-":
        run.write(state, out, feed or Value(purpose=Purpose.OPEN, source=command))
        return done(state, command)
    paths = [run.path(w, state, command) for w in files]
    if all(p in state.files for p in paths):
        for path in paths:
            run.write(state, out, replace(state.files[path], source=command))
        return done(state, command)
    what = purpose(command, run.setting, made=made)
    return [run.program(command, state, out, what)]


def _tee(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    value = feed or Value(purpose=Purpose.OPEN, source=command)
    append = any(w.raw in ("-a", "--append") for w in command.words[1:])
    for word in command.words[1:]:
        if not word.is_option:
            path = run.path(word, state, command)
            before = state.files.get(path, EMPTY) if append else EMPTY
            state.files[path] = before.plus(replace(value, source=command))
    run.write(state, out, value)
    return done(state, command)


def _rm(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    from fnmatch import fnmatchcase

    for word in command.words[1:]:
        if not word.is_option:
            path = run.path(word, state, command)
            for known in [p for p in state.files if not p.startswith("\0")]:
                if (
                    known == path
                    or known.startswith(path.rstrip("/") + "/")
                    or ("*" in path and fnmatchcase(known, path))
                ):
                    del state.files[known]
    return done(state, command, Purpose.SETUP)


def _copy(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State] | None:
    words = [w for w in command.words[1:] if not w.is_option]
    if len(words) != 2:
        return None
    source, target = (run.path(w, state, command) for w in words)
    name = posixpath.basename(source)
    if target not in run.setting.verdicts:
        inside = posixpath.join(target, name)
        target = inside if inside in run.setting.verdicts else target
    known = state.files.get(source)
    if target in run.setting.verdicts or known is not None:
        kind = Purpose.CHECK if run.setting.is_work(source) else Purpose.OPEN
        state.files[target] = known or Value(purpose=kind, source=command)
        if command.program == "mv":
            state.files.pop(source, None)
    state.status = Status(None, command, Purpose.SETUP, (*run.frames, id(command)))
    return [state]


def _touch(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    for word in command.words[1:]:
        if not word.is_option:
            state.files.setdefault(run.path(word, state, command), Value("", source=command))
    return done(state, command)


TEXT_COMMANDS: dict[str, Builtin] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "rm": _rm,
    "cp": _copy,
    "mv": _copy,
    "touch": _touch,
}

"""What the shell's own commands, and the few programs that move text about, do to a state."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from scenlint.source.shell import Command, parse
from scenlint.task.verdict_flow.conditions import test_outcome
from scenlint.task.verdict_flow.roles import Purpose, purpose
from scenlint.task.verdict_flow.statuses import asked
from scenlint.task.verdict_flow.values import EMPTY, State, Status, Trap, Value

if TYPE_CHECKING:
    from scenlint.task.verdict_flow.commands import Commands

Builtin = Callable[["Commands", Command, State, str, "Value | None"], "list[State] | None"]


def _done(state: State, command: Command, what: Purpose = Purpose.OUTPUT) -> list[State]:
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
    return _done(state, command)


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
        return _done(state, command)
    if not words:
        return _done(state, command)
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
    return _done(state, command)


def _cat(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State] | None:
    files = [w for w in command.words[1:] if not w.is_option]
    made = frozenset(p for p in state.files if not p.startswith("\0"))
    if not files or files[0].raw == "-":
        run.write(state, out, feed or Value(purpose=Purpose.OPEN, source=command))
        return _done(state, command)
    paths = [run.path(w, state, command) for w in files]
    if all(p in state.files for p in paths):
        for path in paths:
            run.write(state, out, replace(state.files[path], source=command))
        return _done(state, command)
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
    return _done(state, command)


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
    return _done(state, command, Purpose.SETUP)


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
    return _done(state, command)


def _test(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    state.status = test_outcome(run, command, state)
    if state.status.ok is None and state.status.command is command and state.status.purpose is Purpose.CHECK:
        state.checks |= {command}
    return [state]


def _exit(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    words = command.words[1:]
    if words:
        state.status = _status(run, run.value(words[0], state, command), command, state)
    elif state.status.mask is not None or state.status.ok is None:
        state.status = asked(state, state.status)
    state.signal = "return" if command.program == "return" else "exit"
    state.ended_by = command
    return [state]


def _status(run: Commands, value: Value, command: Command, state: State) -> Status:
    if value.status is not None:
        return value.status
    if value.text is not None:
        return Status(value.text.strip() in ("0", ""), command, Purpose.OUTPUT, code=value.text)
    return Status(None, command, value.purpose, (*run.frames, id(command)))


def _jump(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    state.signal = command.program or ""
    return [state]


def _set(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    words = [w.pattern for w in command.words[1:]]
    for n, word in enumerate(words):
        if word[:1] not in ("-", "+") or word == "--":
            continue
        on = word[0] == "-"
        if "e" in word[1:].replace("pipefail", "") and not word.startswith("--"):
            state.errexit = on
        if "o" in word[1:] and n + 1 < len(words):
            state.pipefail = on if words[n + 1] == "pipefail" else state.pipefail
            state.errexit = on if words[n + 1] == "errexit" else state.errexit
    if words[:1] == ["--"]:
        state.arguments = tuple(run.value(w, state, command) for w in command.words[2:])
    return _done(state, command)


def _trap(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    signals = {w.pattern.upper().removeprefix("SIG") for w in command.words[2:]}
    trap = None if len(command.words) > 1 and command.words[1].pattern in ("-", "") else Trap(command)
    if signals & {"EXIT", "0"}:
        state.exit_trap = trap
    if "ERR" in signals:
        state.error_trap = trap
    return _done(state, command)


def _cd(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    words = [w for w in command.words[1:] if not w.is_option]
    path = run.path(words[0], state, command) if words else None
    state.cwd = path if path and path.startswith("/") and "*" not in path else None
    state.status = Status(None, command, Purpose.SETUP, (*run.frames, id(command)))
    return [state]


def _run_shell(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State] | None:
    """`bash script`, `source script`, `bash -c …`, `eval …`, `./script` where the code is at hand."""
    sourced = command.program in ("source", ".", "eval")
    code = command.inline or (command.heredoc if command.heredoc and command.heredoc.language == "shell" else None)
    if code is None and command.script_word is not None:
        code = run.find(run.path(command.script_word, state, command))
    if code is None or code.language != "shell" or parse(code).error is not None:
        return None
    return run.script(command, code, state, out, own=not sourced)


def _exec(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State] | None:
    # A bare `exec > file` redirects the rest of the script: a log, as far as any script shows.
    return _done(state, command) if len(command.argv) == 1 else None


def _true(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    return _done(state, command)


def _false(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    state.status = Status(False, command)
    return [state]


def _read(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    for word in command.words[1:]:
        if re.fullmatch(r"[A-Za-z_]\w*", word.raw):
            state.variables[word.raw] = Value(purpose=feed.purpose if feed else Purpose.OPEN)
    state.status = Status(None, command, Purpose.SETUP, (*run.frames, id(command)))
    return [state]


def _arithmetic(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    """`((n++))`, `let n+=1`: what it changes is unknown from then on, and hangs on the decisions so far."""
    raw = " ".join(w.raw for w in command.words[1:])
    changed = re.findall(
        r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%]|(?<![=!<>]))=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)", raw
    )
    if not changed and command.program == "((":
        return _test(run, command, state, out, feed)
    for first, second in changed:
        state.variables[first or second] = Value(purpose=Purpose.CHECK)
    return _done(state, command)


def _unset(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    for word in command.words[1:]:
        state.variables.pop(word.raw, None)
    return _done(state, command)


def _wait(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    if len(command.words) == 1:
        return _done(state, command)
    state.status = Status(None, command, Purpose.CHECK, (*run.frames, id(command)))
    return [state]


BUILTINS: dict[str, Builtin] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "rm": _rm,
    "cp": _copy,
    "mv": _copy,
    "touch": _touch,
    "[": _test,
    "[[": _test,
    "test": _test,
    "((": _arithmetic,
    "let": _arithmetic,
    "exit": _exit,
    "return": _exit,
    "break": _jump,
    "continue": _jump,
    "set": _set,
    "trap": _trap,
    "cd": _cd,
    "pushd": _cd,
    "source": _run_shell,
    ".": _run_shell,
    "eval": _run_shell,
    "bash": _run_shell,
    "sh": _run_shell,
    "zsh": _run_shell,
    "exec": _exec,
    ":": _true,
    "true": _true,
    "false": _false,
    "read": _read,
    "unset": _unset,
    "wait": _wait,
}

"""What the shell's own commands do to a state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scenlint.source.shell import Command, parse
from scenlint.task.verdict_flow.conditions import test_outcome
from scenlint.task.verdict_flow.roles import Purpose
from scenlint.task.verdict_flow.statuses import asked
from scenlint.task.verdict_flow.text_commands import TEXT_COMMANDS, Builtin, done
from scenlint.task.verdict_flow.values import State, Status, Trap, Value

if TYPE_CHECKING:
    from scenlint.task.verdict_flow.commands import Commands


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
    return done(state, command)


def _trap(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    signals = {w.pattern.upper().removeprefix("SIG") for w in command.words[2:]}
    trap = None if len(command.words) > 1 and command.words[1].pattern in ("-", "") else Trap(command)
    if signals & {"EXIT", "0"}:
        state.exit_trap = trap
    if "ERR" in signals:
        state.error_trap = trap
    return done(state, command)


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
    return done(state, command) if len(command.argv) == 1 else None


def _true(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    return done(state, command)


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
    return done(state, command)


def _unset(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    for word in command.words[1:]:
        state.variables.pop(word.raw, None)
    return done(state, command)


def _wait(run: Commands, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
    if len(command.words) == 1:
        return done(state, command)
    state.status = Status(None, command, Purpose.CHECK, (*run.frames, id(command)))
    return [state]


BUILTINS: dict[str, Builtin] = {
    **TEXT_COMMANDS,
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

"""What `[ … ]`, `[[ … ]]` and `(( … ))` come to when some of their operands are known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scenlint.source.shell import Command, Word
from scenlint.task.verdict_flow.roles import Purpose, purpose
from scenlint.task.verdict_flow.statuses import asked, turned
from scenlint.task.verdict_flow.values import State, Status, Value

if TYPE_CHECKING:
    from scenlint.task.verdict_flow.commands import Commands

_NUMERIC = {"-eq": "==", "-ne": "!=", "-gt": ">", "-lt": "<", "-ge": ">=", "-le": "<="}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def test_outcome(run: Commands, command: Command, state: State) -> Status:
    words = [w for w in command.words[1:] if w.raw not in ("]", "]]", "))")]
    inverted = False
    while words and words[0].raw == "!":
        words, inverted = words[1:], not inverted
    outcome = None if any(w.raw in ("&&", "||", "-a", "-o") for w in words) else _simple(run, command, words, state)
    if isinstance(outcome, bool):
        return Status(outcome != inverted, command)
    if isinstance(outcome, Status):
        return turned(State(status=outcome)).status if inverted else outcome
    return Status(None, command, _purpose(run, command, words, state), (*run.frames, id(command)))


def _purpose(run: Commands, command: Command, words: list[Word], state: State) -> Purpose:
    values = [run.value(w, state, command) for w in words]
    kinds = [v.status.purpose if v.status else v.purpose for v in values if v.text is None]
    if Purpose.CHECK in kinds:
        return Purpose.CHECK
    if any(w.variables and w.variables[0] in ("PWD", "HOME", "USER", "EUID", "UID", "BASH_VERSION") for w in words):
        return Purpose.SETUP
    return purpose(command, run.setting)


def _simple(run: Commands, command: Command, words: list[Word], state: State) -> bool | Status | None:
    """True or False where the test is decided, a Status where it is that of another command."""
    if len(words) == 3:
        left, operator, right = words
        sides = [_operand(run, command, w, state) for w in (left, right)]
        op = _NUMERIC.get(operator.raw, operator.raw)
        if sides[0].status is None and sides[1].status is not None:
            sides, op = sides[::-1], _MIRRORED.get(op, op)
        if sides[0].status is not None:
            return _of_status(run, sides[0].status, op, sides[1], state, command)
        return _compare(sides[0].text, op, sides[1].text)
    if len(words) == 2 and words[0].raw in ("-z", "-n"):
        text = run.value(words[1], state, command).text
        return None if text is None else (text == "") == (words[0].raw == "-z")
    if len(words) == 2 and words[0].raw in ("-f", "-e", "-s", "-r"):
        path = run.path(words[1], state, command)
        made = state.files.get(path)
        if made is not None and made.sure:
            return True if words[0].raw != "-s" or made.text is None else bool(made.text)
        return False if path in run.setting.verdicts and made is None else None
    if len(words) == 1:
        value = _operand(run, command, words[0], state)
        if command.name == "((":
            if value.status is not None:
                return _of_status(run, value.status, "!=", Value("0"), state, command)
            return None if value.text is None else value.text.strip() not in ("0", "")
        return None if value.text is None else value.text != ""
    return None


def _operand(run: Commands, command: Command, word: Word, state: State) -> Value:
    if command.name == "((" and re.fullmatch(r"[A-Za-z_]\w*", word.raw):
        return run.variable(word.raw, state)
    return run.value(word, state, command)


def _of_status(
    run: Commands, status: Status, op: str, other: Value, state: State, command: Command
) -> bool | Status | None:
    """A comparison of a status with a number."""
    status = asked(state, status)
    zero = other.text is not None and other.text.strip() == "0"
    if not zero or op not in ("==", "=", "!=", ">", "<="):
        # `-eq 5` or `-le 1` splits the failures, which are one outcome here.
        return Status(None, status.command, status.purpose, (*run.frames, id(command)))
    if status.mask is not None:
        return (
            Status(True, status.command, status.purpose, mask=status.mask)
            if op in ("==", "=", "<=")
            else turned(State(status=Status(True, status.command, status.purpose, mask=status.mask))).status
        )
    return status if op in ("==", "=", "<=") else turned(State(status=status)).status


def _compare(left: str | None, op: str, right: str | None) -> bool | None:
    if left is None or right is None:
        return None
    if op in ("==", "=", "!=") and not (left.lstrip("-").isdigit() and right.lstrip("-").isdigit()):
        return None if "*" in right else (left == right) == (op != "!=")
    try:
        a, b = int(left), int(right)
    except ValueError:
        return None
    return {"==": a == b, "=": a == b, "!=": a != b, ">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b}.get(op)

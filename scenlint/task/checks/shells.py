"""Checks stated in shell: `test -f`, `grep -q`, `diff` and programs whose exit status decides."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from scenlint.source import shell
from scenlint.source.pyfold import normal
from scenlint.source.shell import Command, Word
from scenlint.source.text import Fragment
from scenlint.task.checks.criteria import named
from scenlint.task.checks.facts import Event
from scenlint.task.checks.model import Access, Check, Comparison, Dialect, How
from scenlint.task.checks.runner import RUNNERS

if TYPE_CHECKING:
    from scenlint.task.checks.program import Setup
    from scenlint.task.model import Grader

_TESTS = ("test", "[", "[[")
_FILE_TESTS = frozenset(["-e", "-f", "-d", "-s", "-r", "-x", "-w", "-L", "-h"])
_COMPARE = {
    "=": "==", "==": "==", "!=": "!=", "-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">=",
    "=~": "matches",
}  # fmt: skip
_SEARCH = frozenset(["grep", "egrep", "fgrep", "rg"])
_DIFFERENCE = frozenset(["diff", "cmp", "comm"])
_OTHER = frozenset(["sha256sum", "sha1sum", "md5sum", "jq", "xmllint", "yq", "sqlite3", "psql", "awk"])
# What prepares, reports or records; its status decides nothing.
_SILENT = frozenset([
    "echo", "printf", "set", "export", "cd", "mkdir", "rm", "cp", "mv", "cat", "chmod", "chown", "exit", "return",
    "true", "false", ":", "source", ".", "trap", "sleep", "shift", "local", "declare", "read", "wait", "kill",
    "touch", "unset", "tee", "head", "tail", "cut", "sort", "wc", "tr", "sed", "ls", "pwd", "date", "apt-get",
    "apt", "apk", "yum", "dnf", "pip", "pip3", "uv", "uvx", "curl", "wget", "command", "which", "type", "eval",
    "let", "readonly", "exec", "stat", "id", "su", "ln", "pushd", "popd", "ulimit", "umask", "tar", "unzip",
    "docker", "git", "mktemp", "dirname", "basename", "realpath", "seq", "xargs", "nproc",
])  # fmt: skip


def checks(grader: Grader, script: Fragment, setup: Setup, events: list[Event]) -> Iterator[Check]:
    """The commands of a shell script whose outcome decides, one check each."""
    parsed = shell.parse(script)
    cwd = ""
    for command in parsed.commands:
        if command.program == "cd" and command.arguments:
            cwd = posixpath.join(cwd, command.arguments[-1].pattern)
        if not command.words or (command.in_substitution and command.program not in _SEARCH):
            continue
        found = _check(command, setup)
        if found is None:
            continue
        accesses, comparisons, presence = found
        accesses = [_moved(a, cwd, script, events) for a in accesses]
        yield Check(
            id=" ".join(command.span.text.split())[:80],
            label=_comment(script, command) or " ".join(command.span.text.split())[:80],
            span=command.span,
            fragment=script,
            dialect=Dialect.COMMAND,
            required=grader.required,
            accesses=accesses,
            comparisons=comparisons,
            criteria=named(_comment(script, command)),
            existence_only=presence,
        )


def programs(script: Fragment, setup: Setup) -> bool:
    """Whether a script starts a program of which is not known what it checks."""
    known = (*_TESTS, *_SEARCH, *_DIFFERENCE, *_SILENT)
    return any(
        c.program is None or (c.program not in known and c.tool not in RUNNERS and not _own_code(c, setup))
        for c in shell.parse(script).commands
        if c.words
    )


def _own_code(command: Command, setup: Setup) -> bool:
    """Whether a command runs code of the verifier's own, which is followed by itself."""
    script = command.script_word
    if script is not None:
        return setup.own(_path(script)) or setup.own("/" + _path(script).lstrip("*/"))
    return bool(shell.language_of(command.program))


def decides(command: Command) -> bool:
    """Whether a command's exit status has a say: it is tested, asked for later, or ends the script."""
    if command.in_condition or command.followed_by or command.script.option("errexit", command):
        return True
    if any(command is c for c in shell.last_status(command.script.root)):
        return True
    return any(
        "?" in word.variables and command in command.script.status_of(other)
        for other in command.script.commands
        for word in (*other.argv, *(a.value for a in other.assignments if a.value is not None))
    )


def _moved(access: Access, cwd: str, script: Fragment, events: list[Event]) -> Access:
    """An access behind a `cd`: its path starts from the folder that was changed to."""
    if not cwd or access.path.startswith(("/", "*", "~")):
        return access
    path = normal(posixpath.join(cwd, access.path))
    events.append(Event("moved", access.span, f"{access.path}\n{path}"))
    return replace(access, path=path)


def _check(command: Command, setup: Setup) -> tuple[list[Access], list[Comparison], bool] | None:
    program = command.program
    if program in _TESTS:
        return _test(command, setup)
    if program is None or program in _SILENT or command.tool in RUNNERS:
        return None
    if _own_code(command, setup):
        return None
    script = command.script_word
    paths = [w for w in command.arguments if not w.is_option and _is_path(w)]
    if program in _SEARCH:
        operands = [w for w in command.arguments if not w.is_option]
        if not operands:
            return None
        pattern = operands[0]
        constant = Comparison(
            "not matches" if command.negated else "matches", pattern.text, pattern.text is not None, True, command.span,
            pattern.span,
        )  # fmt: skip
        files = [w for w in operands[1:] if not _ignored(w, setup)]
        if not files and operands[1:]:
            return None
        return [Access(_path(w), How.READ, w.span) for w in files], [constant], False
    if program in _DIFFERENCE or program in _OTHER:
        return [Access(_path(w), How.READ, w.span) for w in paths if not _ignored(w, setup)], [], False
    if not decides(command):
        return None
    accesses = [
        Access(_path(w), How.RUN if w is script else How.READ, w.span)
        for w in ([script] if script is not None and _is_path(script) else []) + [p for p in paths if p is not script]
        if not _ignored(w, setup)
    ]
    return accesses, [], False


def _test(command: Command, setup: Setup) -> tuple[list[Access], list[Comparison], bool] | None:
    words = [w for w in command.arguments if w.raw not in ("]", "]]")]
    accesses: list[Access] = []
    comparisons: list[Comparison] = []
    negated = command.negated
    for n, word in enumerate(words):
        after = words[n + 1] if n + 1 < len(words) else None
        if word.raw in _FILE_TESTS and after is not None and not _ignored(after, setup):
            accesses.append(Access(_path(after), How.EXISTS, after.span))
        elif word.raw in _COMPARE and after is not None and n:
            left = words[n - 1]
            if any(_is_status(w, command) for w in (left, after)) or "PWD" in left.raw:
                return None
            constant = after if after.text is not None else left
            sources = _written(left, command) + _written(after, command)
            operator = _COMPARE[word.raw]
            comparisons.append(
                Comparison(
                    {"==": "!=", "!=": "=="}.get(operator, operator) if negated else operator,
                    _number(constant.text),
                    constant.text is not None,
                    True,
                    command.span,
                    constant.span,
                    paths=tuple(sources),
                )
            )
            accesses += [Access(p, How.READ, command.span) for p in sources]
    if not accesses and not comparisons:
        return None
    return accesses, comparisons, not comparisons


def _is_status(word: Word, command: Command) -> bool:
    """Whether a word is an exit status: `$?`, or a variable that was set to it."""
    names = set(word.variables)
    kept = (a for a in command.script.assignments if a.name in names and a.value is not None)
    return "?" in names or any("?" in a.value.variables for a in kept if a.value is not None)


def _written(word: Word, command: Command) -> list[str]:
    """The absolute paths in a substitution that a word holds (`"$(cat /app/x)"`)."""
    return [
        normal(p) for p in re.findall(r"(?<![\w$])/(?:app|home|root|srv|opt|var|workspace|data|tmp)/[\w./-]+", word.raw)
    ]


def _number(text: str | None) -> str | int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def _path(word: Word) -> str:
    return normal(word.pattern)


def _is_path(word: Word) -> bool:
    return bool(re.match(r"[\w.$~{}/*-]+$", word.raw.strip("\"'"))) and (
        "/" in word.raw or bool(re.search(r"\.\w{1,5}$", word.raw))
    )


def _ignored(word: Word, setup: Setup) -> bool:
    path = _path(word)
    return setup.own(path) or setup.hidden(path) or path.strip("*/") == ""


def _comment(script: Fragment, command: Command) -> str:
    """The comment right above a command."""
    index = script.index
    line = index.position(command.start)[0] - 1
    text = index.line_text(line).strip()
    return text.lstrip("# ").strip() if text.startswith("#") and not text.startswith("#!") else ""

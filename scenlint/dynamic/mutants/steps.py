"""Mutants of the reference solution itself: one of its top-level commands or statements left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from scenlint.dynamic.mutants.model import Label
from scenlint.source import shell
from scenlint.source.shell.model import Command, Function, Node
from scenlint.source.text import Fragment

STEPS = 8  # that are left out, one at a time
# What prepares or reports, and makes nothing by itself.
_ARID = frozenset(
    [
        *("mkdir", "cd", "pushd", "popd", "echo", "printf", "set", "shopt", "export", "source", ".", "trap", "sleep"),
        *("wait", "true", ":", "rm", "chmod", "ls", "cat", "pwd", "which", "command", "test", "[", "[[", "git", "exit"),
        *(
            "local",
            "declare",
            "readonly",
            "unset",
            "curl",
            "wget",
            "apt",
            "apt-get",
            "apk",
            "yum",
            "dnf",
            "pip",
            "pip3",
        ),
        *("pip3", "uv", "npm"),
    ]
)


class Step(NamedTuple):
    """A solution without one of its steps."""

    text: str
    did: str
    label: Label
    reason: str


def without_a_step(script: Fragment, random: Random) -> list[Step]:
    """At most STEPS versions of a shell or Python script, each without one step that makes something."""
    found = list(
        _shell(script) if script.language == "shell" else _python(script) if script.language == "python" else ()
    )
    if len(found) < 2:
        return []  # all of its work is one step, which doing nothing leaves out as well
    chosen = sorted(random.sample(range(len(found)), min(STEPS, len(found))))
    return [found[n] for n in chosen]


def _shell(script: Fragment) -> Iterator[Step]:
    parsed = shell.parse(script)
    if parsed.error is not None:
        return
    for statement in parsed.root.items:
        if not isinstance(statement, Function) and any(map(_makes, statement.commands)):
            yield _cut(script, statement.start, _end(script.text, statement), ":\n")


def _makes(command: Command) -> bool:
    """Whether a command makes something: echo and its like do where they write a file."""
    return bool(command.argv) and (command.program not in _ARID or any(r.writes for r in command.redirects))


def _end(text: str, statement: Node) -> int:
    """Behind the statement's line, and behind the here-documents that belong to it."""
    end = statement.end
    for node in statement.walk():
        if node.document is not None:
            inner, outer = (node.document.pieces or [(0, text.find("\n", node.end) + 1)])[-1]
            end = max(end, outer + len(node.document.text) - inner)  # where the line with the marker begins
    line_end = text.find("\n", end)
    return len(text) if line_end < 0 else line_end + 1


def _python(script: Fragment) -> Iterator[Step]:
    try:
        module = ast.parse(script.text)
    except (SyntaxError, ValueError):
        return
    main = next((n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == "main"), None)
    lines = script.text.splitlines(keepends=True)
    for node in main.body if main is not None else module.body:
        made = (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.For | ast.With)
        called = node.value if isinstance(node, ast.Expr) else None
        if made and not (isinstance(called, ast.Call) and getattr(called.func, "id", "") == "print"):
            start = sum(map(len, lines[: node.lineno - 1]))
            end = sum(map(len, lines[: node.end_lineno]))
            indent = script.text[start : start + len(lines[node.lineno - 1]) - len(lines[node.lineno - 1].lstrip())]
            yield _cut(script, start, end, f"{indent}pass\n")


def _cut(script: Fragment, start: int, end: int, instead: str) -> Step:
    text = script.text
    words = " ".join(text[start:end].split())
    line = text.count("\n", 0, start) + 1
    did = f"line {line} of the solution was left out: `{words if len(words) < 80 else words[:79] + '…'}`"
    return Step(text[:start] + instead + text[end:], did, Label.DIE, "the solution takes this step to solve the task")

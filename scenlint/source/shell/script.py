"""A parsed script and the questions asked of it: its commands, what a variable can hold, whose status `$?` is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from scenlint.source.shell.model import AndOr, Assignment, Case, Command, Function, If, Loop, Node, Pipeline, Sequence
from scenlint.source.text import Fragment, Span

_DECLARE = ("export", "declare", "readonly", "local", "typeset")
_LETTERS = {"e": "errexit", "u": "nounset", "x": "xtrace", "E": "errtrace", "f": "noglob", "n": "noexec"}


@dataclass(frozen=True)
class Option:
    """`set -e` and its like: one option switched on or off, and where."""

    name: str
    on: bool
    start: int
    command: Command | None  # None: in the first line (`#!/bin/bash -e`)


@dataclass
class Reaching:
    """The assignments whose value a variable can have at some place; `unset`: it can also be none of the script's."""

    assignments: list[Assignment] = field(default_factory=list)
    unset: bool = False


class Script:
    """A shell script. `error` is what the grammar could not read first; it refuses a little that bash accepts."""

    def __init__(self, fragment: Fragment, root: Sequence, error: Span | None) -> None:
        self.fragment = fragment
        self.root = root
        self.error = error
        for node in root.walk():
            node.script = self

    @cached_property
    def commands(self) -> list[Command]:
        """Every simple command in source order, wherever it stands (function, condition, substitution, subshell)."""
        return sorted((n for n in self.root.walk() if isinstance(n, Command)), key=lambda c: c.start)

    def deep(self, depth: int = 3) -> Iterator[Command]:
        """The commands, and those of the shell code that they carry (`bash -c '…'`, a trap's action, `bash <<EOF`)."""
        from scenlint.source.shell.build import parse

        for command in self.commands:
            yield command
            for code in (command.inline, command.heredoc):
                if code is not None and code.language == "shell" and depth:
                    yield from parse(code).deep(depth - 1)

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {n.name: n for n in self.root.walk() if isinstance(n, Function)}

    @cached_property
    def assignments(self) -> list[Assignment]:
        """Every assignment, with None as value where a command fills the variable (`read x`, `for x in …`)."""
        out: list[Assignment] = []
        for node in self.root.walk():
            if isinstance(node, Command):
                # `X=1 cmd` sets it for cmd alone.
                out += node.assignments if not node.argv or node.argv[0].raw in _DECLARE else []
                out += [Assignment(name, None, node.span, node) for name in _filled(node)]
            elif isinstance(node, Loop) and node.variable:
                out += [Assignment(node.variable, w, node.span, _carrier(node)) for w in node.words]
                if not node.words:
                    out.append(Assignment(node.variable, None, node.span, _carrier(node)))
        return sorted(out, key=lambda a: a.span.start)

    @cached_property
    def _by_name(self) -> dict[str, list[Assignment]]:
        out: dict[str, list[Assignment]] = {}
        for assignment in self.assignments:
            out.setdefault(assignment.name, []).append(assignment)
        return out

    @cached_property
    def variables(self) -> dict[str, str]:
        """The variables that hold one known value wherever they are set."""
        out = {}
        for name, found in self._by_name.items():
            values = {a.value.text if a.value else None for a in found}
            only = values.pop() if len(values) == 1 else None
            if only is not None:
                out[name] = only
        return out

    def reaching(self, name: str, node: Node, at: int) -> Reaching:
        """What can have set variable `name` when the word at offset `at` of statement `node` is expanded."""
        found = self._by_name.get(name, [])
        around = [node, *node.ancestors()]
        spaces = {id(n) for n in around}
        # A subshell's assignment is gone behind it.
        found = [a for a in found if all(id(n) in spaces for n in a.command.ancestors() if _own_process(n))]
        repeated = [n for n in around if isinstance(n, Function | Loop)]
        before = [a for a in found if a.command.start < at and a.command is not node]
        sure = [a for a in before if _always_first(a.command, spaces)]
        if sure:
            last = sure[-1]
            loops = [n for n in repeated if not any(n is up for up in last.command.ancestors())]
            later = [a for a in found if a.command.start >= at and any(_within(a.command, n) for n in loops)]
            # A loop's words all stand at its own place.
            return Reaching([*(a for a in before if a.command.start >= last.command.start), *later])
        return Reaching(found, unset=not repeated) if repeated and found else Reaching(before, unset=True)

    @cached_property
    def options(self) -> list[Option]:
        """Every option switched on or off, in source order."""
        out: list[Option] = []
        first = re.match(r"#!\s*\S+(?:\s+(?:ba|da|z|k)?sh)?\s+-([a-zA-Z]+)", self.fragment.text)
        out += [Option(_LETTERS[c], True, 0, None) for c in (first[1] if first else "") if c in _LETTERS]
        for command in self.commands:
            if command.program == "set":
                words = [w.pattern for w in command.arguments]
                for n, word in enumerate(words):
                    if word == "--" or word[:1] not in "-+":
                        continue
                    on = word[0] == "-"
                    for letter in word[1:]:
                        if letter == "o" and n + 1 < len(words):
                            out.append(Option(words[n + 1], on, command.start, command))
                        elif letter in _LETTERS:
                            out.append(Option(_LETTERS[letter], on, command.start, command))
        return out

    def option(self, name: str, node: Node) -> bool:
        """Whether an option (`errexit`, `pipefail`) is on when a statement runs."""
        around = {id(n) for n in [node, *node.ancestors()]}
        state = False
        for option in self.options:
            if option.name != name or option.start >= node.start:
                continue
            # One set in another subshell, function or branch says little; of these only the subshell is certain.
            if option.command and any(_own_process(n) and id(n) not in around for n in option.command.ancestors()):
                continue
            state = option.on
        return state

    def status_of(self, command: Command) -> list[Command]:
        """The commands whose status a `$?` in this command (or a bare `exit`) can be; [] where it is unknown."""
        node: Node = command
        for above in command.ancestors():
            if isinstance(above, Sequence):
                at = next(n for n, item in enumerate(above.items) if item is node) if node in above.items else 0
                before = [n for n in above.items[:at] if not isinstance(n, Function)]
                if before:
                    return last_status(before[-1])
            elif isinstance(above, AndOr):
                at = above.items.index(node)
                if at:
                    return last_status(
                        AndOr(above.fragment, 0, 0, items=above.items[:at], operators=above.operators[: at - 1])
                    )
            elif isinstance(above, If):
                sources = _before_in_if(above, node)
                if sources is not None:
                    return sources
            elif isinstance(above, Loop) and above.condition and node is above.body:
                return last_status(above.condition)
            elif isinstance(above, Function | Pipeline):
                return []
            node = above
        return []


def _before_in_if(statement: If, node: Node) -> list[Command] | None:
    for n, (condition, body) in enumerate(statement.branches):
        if node is condition:
            return last_status(statement.branches[n - 1][0]) if n else None
        if node is body:
            return last_status(condition)
    return last_status(statement.branches[-1][0]) if node is statement.orelse and statement.branches else None


def last_status(node: Node) -> list[Command]:
    """The commands one of which gives a statement its exit status."""
    if node.background:
        return []
    if isinstance(node, Command):
        runs = [a.substitution for a in node.assignments if a.substitution]
        return last_status(runs[-1]) if runs and not node.argv else [node]
    if isinstance(node, Sequence):
        items = [n for n in node.items if not isinstance(n, Function)]
        return last_status(items[-1]) if items else []
    if isinstance(node, AndOr):
        out = []
        for n, item in enumerate(node.items):
            # An item's status is the list's where all that follows is skipped: `a` of `a && b` where it fails.
            if len(set(node.operators[n:])) <= 1:
                out += last_status(item)
        return out
    if isinstance(node, Pipeline):
        stages = node.items if node.script.option("pipefail", node) else node.items[-1:]
        return [c for stage in stages for c in last_status(stage)]
    if isinstance(node, If | Case):
        bodies = [b for _, b in node.branches] + ([node.orelse] if isinstance(node, If) and node.orelse else [])
        return [c for body in bodies for c in last_status(body)]
    if isinstance(node, Loop) and node.body is not None:
        return last_status(node.body)
    return []


def _filled(command: Command) -> list[str]:
    """The variables that a command sets by other means than an assignment."""
    # As written: to put variables in here would ask for the assignments that are being collected.
    words = [w.raw for w in command.argv]
    if words[:1] in (["read"], ["mapfile"], ["readarray"], ["getopts"], ["unset"]):
        return [w for w in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", w)]
    return words[2:3] if words[:2] == ["printf", "-v"] else []


def _carrier(loop: Loop) -> Command:
    """A stand-in command, so that a loop's variable is set where its body begins."""
    command = Command(loop.fragment, loop.start, loop.start, parent=loop.body)
    command.script = loop.script
    return command


def _own_process(node: Node) -> bool:
    if isinstance(node, Sequence) and node.subshell:
        return True
    return node.parent is not None and any(node is n for n in node.parent.inner)


def _within(node: Node, outer: Node) -> bool:
    return any(n is outer for n in node.ancestors())


def _always_first(command: Command, around: set[int]) -> bool:
    """Whether a command has run whenever the statement whose ancestors are `around` runs, if it stands before it."""
    for above in command.ancestors():
        if isinstance(above, Sequence):
            if id(above) in around:
                return True
        elif not isinstance(above, AndOr) or above.items[0] is not command:
            return False
    return False

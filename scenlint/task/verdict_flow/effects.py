"""What the programs that a verifier's script starts do to the verdict, as far as their code is at hand."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.source.text import Fragment
from scenlint.task.checks.facts import Failure, Output, Place
from scenlint.task.checks.model import Access, How
from scenlint.task.checks.runner import RUNNERS
from scenlint.task.verdict_flow.programs import Program
from scenlint.task.verdict_flow.roles import HEADER, SUMMARY, Purpose, Setting, purpose
from scenlint.task.verdict_flow.statuses import split
from scenlint.task.verdict_flow.values import State, Status, Value

if TYPE_CHECKING:
    from scenlint.task.model import Task, Verifier
    from scenlint.task.verdict_flow.commands import Commands


class Files:
    """The verifier's own files by the path at which its scripts name them."""

    def __init__(self, task: Task, verifier: Verifier, script: Fragment) -> None:
        self.by_path: dict[str, Fragment] = {}
        self.by_name: dict[str, list[Fragment]] = {}
        # A step's own folder is laid over the shared one.
        for base in (task.folder / (verifier.folder or ""), script.path.parent):
            for fragment in verifier.files:
                if fragment.path.is_relative_to(base):
                    place = fragment.path.relative_to(base).as_posix()
                    self.by_path[posixpath.join(verifier.mount or "", place)] = fragment
        for fragment in verifier.files:
            self.by_name.setdefault(fragment.path.name, []).append(fragment)
        self.all = list(verifier.files)

    def find(self, path: str) -> Fragment | None:
        if path in self.by_path:
            return self.by_path[path]
        named = self.by_name.get(posixpath.basename(path), [])
        return named[0] if len(named) == 1 and ("*" in path or not path.startswith("/")) else None

    def shell(self, path: str) -> Fragment | None:
        found = self.find(path)
        return found if found is not None and found.language == "shell" else None


class Effects:
    """What a program does to the verdict, as far as the code that it runs shows."""

    def __init__(self, files: Files, setting: Setting, known: Iterable[Program]) -> None:
        self.files = files
        self.setting = setting
        self.programs = {id(p.entry.command): p for p in known if p.entry.command is not None}
        self.named = re.compile("|".join(re.escape(posixpath.basename(v)) for v in setting.verdicts) or r"(?!)")

    def __call__(self, run: Commands, command: Command, state: State, out: str, what: Purpose) -> list[State] | None:
        program = self.programs.get(id(command))
        written = self._written(program) if program is not None and program.complete else []
        if program is not None and written:
            return self._writes(run, command, state, out, program, written)
        if self.setting.verdicts and self.may_write(run, command, state):
            end = run.program(command, state, out, Purpose.CHECK if what is Purpose.OUTPUT else what)
            end.files[self.setting.verdicts[0]] = Value(purpose=Purpose.CHECK, source=command, sure=False)
            return [end]
        if program is not None and program.always_succeeds:
            end = run.program(command, state, out, Purpose.CHECK)
            end.status = Status(True, command, Purpose.CHECK)
            return [end]
        if program is not None and program.blind:
            return [run.program(command, state, out, Purpose.SETUP)]
        return None

    def _written(self, program: Program) -> list[tuple[str, Output]]:
        """The writes of a program to the verdict's path."""
        outputs = [(path, o) for o in program.flow.outputs if o.kind == "write" for path in program.paths(o)]
        return [(path, o) for path, o in outputs if self.setting.is_verdict(path)]

    def _writes(
        self,
        run: Commands,
        command: Command,
        state: State,
        out: str,
        program: Program,
        written: list[tuple[str, Output]],
    ) -> list[State]:
        before = state.copy()
        done = run.program(command, state, out, Purpose.CHECK)
        path, first = written[-1]
        path = next(v for v in self.setting.verdicts if posixpath.basename(v) == posixpath.basename(path))
        text = program.fixed([o for _, o in written], self.setting.verdicts)
        done.files[path] = Value(text, purpose=Purpose.CHECK, source=first.place)
        place = crash(program, [o for _, o in written])
        if place is None:
            return [done]
        failed = run.program(command, before, out, Purpose.CHECK)
        failed.crash = place
        ends = split(done, done.status)[:1] + split(failed, failed.status)[1:]
        return ends or [done]

    def may_write(self, run: Commands, command: Command, state: State) -> bool:
        """Whether what a command runs can be the one that writes the verdict."""
        if command.program in _LOOKING:
            return False
        texts = [w.pattern for w in command.words] + [a.value.pattern for a in command.assignments if a.value]
        texts += [f.text for f in (command.inline, command.heredoc) if f is not None]
        if any(self.named.search(t) for t in texts) or self._exported(command, state):
            return True
        code = self._code(run, command, state)
        return code is not None and (code == _UNSEEN or bool(self.named.search(code) or _FOLDER.search(code)))

    def _exported(self, command: Command, state: State) -> bool:
        """Whether a program is told the verdict's path by an exported variable."""
        names = {a.name for c in command.script.commands if c.program == "export" for a in c.assignments}
        told = any(self.named.search(v.text or "") for name, v in state.variables.items() if name in names)
        return told and purpose(command, self.setting) in (Purpose.CHECK, Purpose.OPEN)

    def _code(self, run: Commands, command: Command, state: State) -> str | None:
        """The text of the code that a command runs; _UNSEEN where it is not at hand, None where it runs none."""
        if command.tool in RUNNERS:
            # Hooks and fixtures of any file that is collected can write it.
            return "\n".join(f.text for f in self.files.all if f.language == "python")
        word = command.script_word
        if word is None:
            return None
        path = run.path(word, state, command)
        found = self.files.find(path)
        if found is not None:
            return "\n".join(f.text for f in self.files.all if f.language == found.language)
        return None if self.setting.is_work(path) else _UNSEEN


class SummaryEffects(Effects):
    """The same for legacy Terminal-Bench, whose verdict is pytest's short summary on the terminal."""

    def __call__(self, run: Commands, command: Command, state: State, out: str, what: Purpose) -> list[State] | None:
        shown = Value(HEADER, source=command)
        if command.tool in ("pytest", "py.test"):
            end = run.program(command, state, out, Purpose.CHECK)
            if out and not out.startswith("\0"):
                return [end]  # into a file; what a later `cat` shows of it is its own matter
            if _shows_passed(command) or any(self._reports_all(f) for f in self.files.all):
                end.files[SUMMARY] = shown
                return [end]
            # Without -rA pytest prints a short summary only where a test fails.
            ends = split(end, end.status)
            for failed in ends:
                if not failed.status.ok:
                    failed.files[SUMMARY] = shown
            return ends
        code = self._code(run, command, state)
        inline = command.inline or command.heredoc
        text = inline.text if inline is not None else code
        if text is not None and (text == _UNSEEN or HEADER in text):
            end = run.program(command, state, out, Purpose.CHECK if what is Purpose.OUTPUT else what)
            end.files[SUMMARY] = shown
            return [end]
        return None

    @staticmethod
    def _reports_all(file: Fragment) -> bool:
        """Whether it is pytest's configuration and asks for the passed tests too."""
        return file.path.suffix in (".ini", ".cfg", ".toml") and bool(re.search(r"addopts.*-r\w*[AapP]", file.text))


def _shows_passed(command: Command) -> bool:
    """Whether pytest is told to name the passed tests in its short summary (-rA, -rp …)."""
    words = [w.pattern for w in command.tool_words[1:]]
    return any(w in ("-r", "*") or re.match(r"-\w*r\w*[ApP]", w) for w in words)


_UNSEEN = "\0"
_LOOKING = frozenset(["ls", "chmod", "chown", "mkdir", "test", "[", "[[", "stat", "find", "grep", "head", "tail", "wc"])
_FOLDER = regex(r"/logs/verifier/?['\"]")


def crash(program: Program, written: list[Output]) -> Place | None:
    """Where a program breaks off before it writes if the agent's file is missing: it opens it unasked."""
    facts = program.flow.facts
    asked = {fact.path for fact in facts.list if isinstance(fact, Access) and fact.how is How.EXISTS}
    if any(_in_finally(output.place) for output in written):
        return None
    for failure in program.failures:
        opened = set(facts.paths(failure.data))
        unread = failure.kind == "implicit" and failure.exception == "OSError" and not failure.why and opened - asked
        if unread and all(_before(failure, output) for output in written):
            return failure.place
    return None


def _before(failure: Failure, output: Output) -> bool:
    """Whether a failure comes before an output: where their ways part, in one function, it stands above."""
    ways = [[*(step.call for step in reversed(end.stack)), end.place] for end in (failure, output)]
    for one, other in zip(*ways, strict=False):
        if one.node is not other.node:
            function = one.module.function_of(one.node)
            return other.module.function_of(other.node) is function and _line(one) < _line(other)
    return False


def _line(place: Place) -> int:
    return getattr(place.node, "lineno", 0)


def _in_finally(place: Place) -> bool:
    node: ast.AST = place.node
    for above in place.module.parents(place.node):
        if isinstance(above, ast.Try) and any(node is n for n in above.finalbody):
            return True
        node = above
    return False

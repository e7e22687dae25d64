"""What a simple command does to a state: assignments, the shell's own commands, functions, scripts, programs."""

from __future__ import annotations

from collections.abc import Callable

from scenlint.source.shell import Command, Function, Node, Sequence, parse
from scenlint.source.text import Fragment
from scenlint.task.verdict_flow.expand import Expander
from scenlint.task.verdict_flow.roles import Purpose, Setting, is_runner, purpose
from scenlint.task.verdict_flow.statuses import merged
from scenlint.task.verdict_flow.values import EMPTY, State, Status, Value

DEEPEST = 6  # calls of functions and scripts inside each other
_DECLARING = ("export", "local", "declare", "readonly", "typeset")
_FILTERS = ("cat", "tee", "head", "tail", "sed", "sort", "tr", "cut", "uniq")  # they print what they read

Effect = Callable[["Commands", Command, State, str, Purpose], "list[State] | None"]
Find = Callable[[str], "Fragment | None"]


class Commands(Expander):
    """`effect` says what a program does (None: by its purpose alone), `find` gives the shell script at a path."""

    def __init__(self, setting: Setting, effect: Effect | None = None, find: Find | None = None) -> None:
        super().__init__(setting)
        self.effect = effect
        self.find: Find = find or (lambda path: None)
        self.functions: dict[str, Function] = {}  # of the scripts read so far
        self.frames: list[int] = []

    def node(self, node: Node, state: State, out: str, *, tested: bool, feed: Value | None = None) -> list[State]:
        raise NotImplementedError  # see Interpreter

    def errexit(self, state: State, at: Node, tested: bool) -> list[State]:
        raise NotImplementedError  # see Interpreter

    def command(self, command: Command, state: State, out: str, feed: Value | None, tested: bool) -> list[State]:
        ends: list[State] = []
        for before in self.substitutions(command, state):
            target = self.redirected(command, before, out)
            if command.assignments and (not command.argv or command.name in _DECLARING):
                for assignment in command.assignments:
                    before.variables[assignment.name] = self.assigned(assignment, before)
                if not command.argv:
                    runs = [a.substitution for a in command.assignments if a.substitution]
                    if not runs:
                        before.status = Status(True, command, Purpose.OUTPUT)
                    ends += self.errexit(before, command, tested)
                    continue
            if not command.argv:
                before.status = Status(True, command, Purpose.OUTPUT)
                ends.append(before)
                continue
            for end in self.simple(command, before, target, feed):
                if command.name == "exec" and len(command.argv) > 1 and not end.signal:
                    # The program takes the shell's place: nothing behind it runs, not even a trap.
                    end.signal, end.ended_by, end.exit_trap = "exit", command, None
                ends += self.errexit(end, command, tested)
        for end in ends:
            for inner in command.inner:
                end.files.pop(f"\0{id(inner)}", None)
        return ends

    def substitutions(self, command: Command, state: State) -> list[State]:
        """The states behind what the command's own `$(…)` run; their output is kept under the statement's id."""
        states = [state]
        for inner in command.inner:
            following: list[State] = []
            for before in states:
                sink = f"\0{id(inner)}"
                before.files[sink] = EMPTY
                process = Sequence(inner.fragment, inner.start, inner.end, items=list(inner.parts()), subshell=True)
                following += self.node(process, before, sink, tested=True)
            states = merged(following)
        return states

    def simple(self, command: Command, state: State, out: str, feed: Value | None) -> list[State]:
        """One command with arguments. First the shell's own, then functions and scripts, then programs."""
        from scenlint.task.verdict_flow.builtins import BUILTINS

        name = command.program
        made = frozenset(p for p in state.files if not p.startswith("\0"))
        builtin = BUILTINS.get(name or "")
        if name and name in self.functions and len(self.frames) < DEEPEST:
            return self.call(command, self.functions[name], state, out, feed)
        if builtin is not None and command.words and (ends := builtin(self, command, state, out, feed)) is not None:
            return ends
        what = purpose(command, self.setting, made=made)
        if feed is not None and feed.purpose is Purpose.CHECK and what is not Purpose.OUTPUT:
            what = Purpose.CHECK
        if self.effect is not None and (ends := self.effect(self, command, state, out, what)) is not None:
            return ends
        return [self.program(command, state, out, what, feed)]

    def program(self, command: Command, state: State, out: str, what: Purpose, feed: Value | None = None) -> State:
        """A program of which only the purpose is known."""
        if what is Purpose.OUTPUT:
            state.status = Status(True, command, what)
            if command.program in _FILTERS and feed is not None:
                self.write(state, out, Value(purpose=feed.purpose, source=command))
                return state
        else:
            state.status = Status(None, command, what, (*self.frames, id(command)))
        if what is Purpose.CHECK:
            state.checks |= {command}
            state.unread = command if is_runner(command) else state.unread
        self.write(state, out, Value(purpose=what, source=command, maker=command))
        return state

    def call(self, command: Command, function: Function, state: State, out: str, feed: Value | None) -> list[State]:
        kept = state.arguments
        state.arguments = tuple(self.value(w, state, command) for w in command.words[1:])
        self.frames.append(id(command))
        ends = self.node(function.body, state, out, tested=False, feed=feed) if function.body else [state]
        self.frames.pop()
        for end in ends:
            end.arguments = kept
            if end.signal == "return":
                end.signal = ""
        return ends

    def script(self, command: Command, code: Fragment, state: State, out: str, *, own: bool) -> list[State]:
        """Another shell script: `own` in a process of its own, otherwise sourced."""
        inner = parse(code)
        if len(self.frames) >= DEEPEST:
            return [self.program(command, state, out, Purpose.CHECK)]
        self.frames.append(id(command))
        self.functions |= inner.functions
        kept = state.arguments
        state.arguments = tuple(self.value(w, state, command) for w in command.words[1:])
        if own:
            root = Sequence(code, 0, len(code.text), items=inner.root.items, subshell=True)
            start = state.copy(errexit=False, pipefail=False)
            ends = self.node(root, start, out, tested=True)
            for end in ends:
                end.errexit, end.pipefail = state.errexit, state.pipefail
        else:
            ends = self.node(inner.root, state, out, tested=False)
        self.frames.pop()
        for end in ends:
            end.arguments = kept
            if end.signal == "return":
                end.signal = ""
        return ends

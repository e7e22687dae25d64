"""Follows a verifier's shell script along every path: what it writes, with which status, and on what that hangs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from scenlint.source.shell import (
    AndOr,
    Assignment,
    Case,
    Command,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Script,
    Sequence,
    Word,
    parse,
)
from scenlint.source.shell.words import Part
from scenlint.source.text import Fragment
from scenlint.task.checks.runner import RUNNERS
from scenlint.task.verdict_flow.conditions import test_outcome
from scenlint.task.verdict_flow.roles import HEADER, SUMMARY, Purpose, Setting, is_runner, purpose
from scenlint.task.verdict_flow.values import EMPTY, Mask, State, Status, Use, Value

MOST_STATES = 96
DEEPEST = 6  # calls of functions and scripts inside each other
TERMINAL = ""  # the sink that nobody reads

Effect = Callable[["Interpreter", Command, State, str, Purpose], list[State] | None]


class TooManyPathsError(Exception):
    """The script has more paths than are worth following."""


class Interpreter:
    """`effect` says what a command that is not the shell's own does (None: by its purpose alone)."""

    def __init__(
        self, setting: Setting, effect: Effect | None = None, find: Callable[[str], Fragment | None] | None = None
    ) -> None:
        self.setting = setting
        self.effect = effect
        self.find = find or (lambda path: None)
        self.functions: dict[str, Function] = {}  # of the scripts read so far
        self.frames: list[int] = []
        self.buffers = 0

    def run(self, script: Script, state: State | None = None) -> list[State]:
        """The states in which the script can end, its traps run."""
        start = state or State(cwd=self.setting.workdir)
        self.functions |= script.functions
        if script.options:
            for option in script.options:
                if option.command is None and option.name == "errexit":
                    start.errexit = option.on
        ends = self.node(script.root, start, TERMINAL, tested=False)
        return merged(end for state in ends for end in self.finish(state))

    def finish(self, state: State) -> list[State]:
        """What the EXIT trap still does."""
        trap, state.exit_trap = state.exit_trap, None
        if trap is None:
            return [state]
        status = state.status
        action = self.action(trap.command)
        inner = state.copy(signal="", errexit=False)
        ends = [inner] if action is None else self.node(action, inner, TERMINAL, tested=True)
        for end in ends:
            if end.signal != "exit":
                end.status = status
            end.signal = "exit"
        return ends

    @staticmethod
    def action(command: Command) -> Node | None:
        code = command.inline
        if code is None:
            return None
        root = parse(code).root
        # The action's functions are the script's.
        for node in root.walk():
            node.script = command.script
        return root

    # Statements

    def node(self, node: Node, state: State, out: str, *, tested: bool, feed: Value | None = None) -> list[State]:
        """The states behind a statement: `out` takes its output, `feed` is its input, `tested`: `set -e` spares it."""
        if state.signal:
            return [state]
        if not isinstance(node, Command):
            out = self.redirected(node, state, out)
        if node.heredoc is not None or node.herestring is not None:
            feed = self.document(node, state)
        if isinstance(node, Command):
            ends = self.command(node, state, out, feed, tested)
        elif isinstance(node, Sequence):
            ends = self.sequence(node, state, out, tested, feed)
        elif isinstance(node, AndOr):
            ends = self.and_or(node, state, out, tested)
        elif isinstance(node, Pipeline):
            ends = self.pipeline(node, state, out, tested)
        elif isinstance(node, If):
            ends = self.if_statement(node, state, out, tested)
        elif isinstance(node, Case):
            ends = self.case(node, state, out, tested)
        elif isinstance(node, Loop):
            ends = self.loop(node, state, out, tested)
        else:
            ends = [state]
        if node.negated:
            ends = [self.turned(end) for end in ends]
        return merged(ends)

    def turned(self, state: State) -> State:
        status = state.status
        if not state.signal and status.ok is not None:
            state.status = Status(not status.ok, status.command, status.purpose, status.key, status.mask)
        elif not state.signal:
            state.status = Status(None, status.command, status.purpose, (-1, *status.key))
        return state

    def sequence(self, node: Sequence, state: State, out: str, tested: bool, feed: Value | None) -> list[State]:
        if node.subshell:
            return self.subshell(node, state, out, tested, feed)
        states = [state]
        for item in node.items:
            if isinstance(item, Function):
                continue
            states = merged(end for s in states for end in self.node(item, s, out, tested=tested, feed=feed))
        return states

    def subshell(self, node: Sequence, state: State, out: str, tested: bool, feed: Value | None) -> list[State]:
        inner = state.copy(exit_trap=None)
        plain = Sequence(node.fragment, node.start, node.end, items=node.items)
        ends = []
        for end in self.sequence(plain, inner, out, tested, feed):
            for done in self.finish(end):
                done.variables, done.cwd = dict(state.variables), state.cwd
                done.errexit, done.pipefail = state.errexit, state.pipefail
                done.exit_trap, done.signal = state.exit_trap, ""
                ends += self.errexit(done, node, tested)
        return ends

    def and_or(self, node: AndOr, state: State, out: str, tested: bool) -> list[State]:
        states = self.node(node.items[0], state, out, tested=True)
        for at, (operator, item) in enumerate(zip(node.operators, node.items[1:], strict=True), 1):
            last = tested or at < len(node.operators)
            ends: list[State] = []
            for before in states:
                if before.signal:
                    ends.append(before)
                    continue
                for branch in self.branch(before, item):
                    held, lost = bool(branch.status.ok), branch.status
                    if held != (operator == "&&"):
                        ends.append(branch)
                        continue
                    for end in self.node(item, branch, out, tested=last):
                        if operator == "||" and lost.purpose is Purpose.CHECK and lost.command is not None:
                            self.swallow(end, lost.command, item, out)
                        ends.append(end)
            states = merged(ends)
        return states

    @staticmethod
    def swallow(state: State, check: Command, by: Node, out: str) -> None:
        """Behind `check || true` the check's failure shows in nothing."""
        if not isinstance(by, Command) or not is_runner(check) or not state.status.ok:
            return
        idle = by.program in ("true", ":") or (by.program in ("echo", "printf") and not out and not by.redirects)
        if idle or (by.program in ("exit", "return") and state.signal):
            mask = Mask("swallow", check, by)
            state.status = Status(True, state.status.command, Purpose.OUTPUT, mask=mask)
            state.swallowed |= {mask}

    def pipeline(self, node: Pipeline, state: State, out: str, tested: bool) -> list[State]:
        states = [(state, None, ())]  # type: list[tuple[State, Value | None, tuple[Status, ...]]]
        for at, stage in enumerate(node.items):
            following: list[tuple[State, Value | None, tuple[Status, ...]]] = []
            for before, feed, statuses in states:
                last = at == len(node.items) - 1
                sink = out if last else self.buffer()
                if not last:
                    before.files[sink] = EMPTY
                kept = dict(before.variables)
                for end in self.node(stage, before, sink, tested=True, feed=feed):
                    end.variables = kept
                    if end.signal == "exit":
                        end.signal = ""  # a stage is a process of its own
                    made = None if last else end.files.pop(sink, EMPTY)
                    following.append((end, made, (*statuses, end.status)))
            states = following[:MOST_STATES]
        ends: list[State] = []
        for end, _, statuses in states:
            end.pipe = statuses
            end.status = self.pipe_status(node, statuses, end.pipefail)
            ends += self.errexit(end, node, tested)
        return ends

    def pipe_status(self, node: Pipeline, statuses: tuple[Status, ...], pipefail: bool) -> Status:
        last = statuses[-1]
        checks = [s for s in statuses[:-1] if s.purpose is Purpose.CHECK and s.command and is_runner(s.command)]
        if pipefail:
            failed = next((s for s in reversed(statuses) if s.ok is False), None)
            return failed or next((s for s in statuses if s.ok is None), last)
        if not checks or last.mask is not None:
            return last
        if last.purpose is Purpose.CHECK or last.command is None:
            return last
        check = checks[-1].command
        assert check is not None
        return Status(True, last.command, Purpose.OUTPUT, mask=Mask("pipe", check, node))

    def if_statement(self, node: If, state: State, out: str, tested: bool) -> list[State]:
        open_states, ends = [state], []
        for condition, body in node.branches:
            states = [s for o in open_states for s in self.node(condition, o, out, tested=True)]
            open_states = []
            for before in states:
                if before.signal:
                    ends.append(before)
                    continue
                for branch in self.branch(before, condition):
                    if branch.status.ok:
                        ends += self.node(body, branch, out, tested=tested)
                    else:
                        open_states.append(branch)
            open_states = merged(open_states)
        for rest in open_states:
            if node.orelse is not None:
                ends += self.node(node.orelse, rest, out, tested=tested)
            else:
                rest.status = Status(True)
                ends.append(rest)
        return ends

    def case(self, node: Case, state: State, out: str, tested: bool) -> list[State]:
        value = self.value(node.word, state, node) if node.word else Value()
        if value.status is not None:
            state.status = self.asked(state, value.status, node)
            branches = self.branch(state, node)
        else:
            branches = [state]
        ends: list[State] = []
        for branch in branches:
            text = value.text if value.status is None else "0" if branch.status.ok else "1"
            certain = False
            for number, (patterns, body) in enumerate(node.branches):
                fits = [_matches(p.pattern, text) for p in patterns]
                # Any status but 0 can be the one that a pattern names.
                failed = (
                    value.status is not None
                    and not branch.status.ok
                    and any(p.pattern.isdigit() and p.pattern != "0" for p in patterns)
                )
                if text is not None and not any(fits) and not failed:
                    continue
                chosen = branch.copy()
                if text is None:
                    chosen.decisions[(id(node),)] = (number, value.purpose)
                ends += self.node(body, chosen, out, tested=tested)
                if text is not None and any(fits):
                    certain = True
                    break
            if not certain and not node.exhaustive:
                branch.status = Status(True)
                if text is None:
                    branch.decisions[(id(node),)] = (-1, value.purpose)
                ends.append(branch)
        return ends

    def loop(self, node: Loop, state: State, out: str, tested: bool) -> list[State]:
        ends: list[State] = []
        if node.kind == "for" and node.body is not None:
            values = [self.value(w, state, node) for w in node.words]
            if node.variable:
                alike = {v.text for v in values}
                state.variables[node.variable] = values[0] if len(alike) == 1 and values else Value()
            if (
                not any(
                    v.text and "*" not in w.raw and "$" not in w.raw for v, w in zip(values, node.words, strict=True)
                )
                and node.words
            ):
                ends.append(state.copy(status=Status(True)))
            starts = [state]
        elif node.condition is not None:
            starts = []
            for before in self.node(node.condition, state, out, tested=True):
                for branch in self.branch(before, node) if not before.signal else [before]:
                    if branch.signal:
                        ends.append(branch)
                    elif bool(branch.status.ok) == (node.kind != "until"):
                        starts.append(branch)
                    else:
                        branch.status = Status(True)
                        ends.append(branch)
        else:
            starts = [state]
        for start in starts:
            for end in self.node(node.body, start, out, tested=tested) if node.body else [start]:
                if end.signal in ("break", "continue"):
                    end.signal = ""
                ends.append(end)
        return ends

    # Statuses

    def branch(self, state: State, at: Node) -> list[State]:
        """The states in which the last status is success and failure; that it is asked for counts as a use of it."""
        status = state.status
        if status.mask is not None:
            state.uses |= {Use(status.mask, at, True)}
            return self.split(state, Status(None, status.mask.check, Purpose.CHECK, (id(status.mask.check),)))
        if status.command is not None and status.command is state.unread:
            state.unread = None
        return [state] if status.ok is not None else self.split(state, status)

    def split(self, state: State, status: Status) -> list[State]:
        key, turned = status.key, status.key[:1] == (-1,)
        base = key[1:] if turned else key
        decided = state.decisions.get(base)
        out = []
        for choice in (True, False):
            if decided is not None and decided[0] != (choice != turned):
                continue
            branch = state.copy() if decided is None else state
            branch.decisions[base] = (choice != turned, status.purpose)
            branch.status = Status(choice, status.command, status.purpose, key)
            out.append(branch)
        return out

    def errexit(self, state: State, at: Node, tested: bool) -> list[State]:
        """What `set -e` and a trap on ERR make of a status that nothing tests."""
        status = state.status
        if tested or state.signal or not (state.errexit or state.error_trap):
            return [state]
        if status.mask is not None:
            state.uses |= {Use(status.mask, at, False)}
            return [state]
        if status.ok or (status.ok is None and status.purpose is not Purpose.CHECK):
            return [state]
        ends = []
        for branch in self.branch(state, at):
            if branch.status.ok:
                ends.append(branch)
                continue
            failed = branch.status
            states = [branch]
            if branch.error_trap and (action := self.action(branch.error_trap.command)) is not None:
                branch.error_trap = None
                states = self.node(action, branch, TERMINAL, tested=True)
            for end in states:
                if end.errexit and not end.signal:
                    end.signal, end.ended_by, end.status = "exit", at, failed
                ends.append(end)
        return ends

    def asked(self, state: State, status: Status, at: Node) -> Status:
        """A status that `$?` is asked for: if it is that of mere output, a check before it goes unread."""
        if status.mask is None and status.ok and status.purpose is Purpose.OUTPUT and state.unread and status.command:
            mask = Mask("status", state.unread, status.command)
            return Status(True, status.command, Purpose.OUTPUT, mask=mask)
        return status

    # Commands

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
            if name_passes_on(command) and feed is not None:
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

    # Files and values

    def buffer(self) -> str:
        self.buffers += 1
        return f"\0pipe{self.buffers}"

    def redirected(self, node: Node, state: State, out: str) -> str:
        """Where the statement's output goes; what it opens for writing is emptied."""
        for redirect in node.redirects:
            if redirect.op == ">&" and redirect.target and redirect.target.text in ("2", "1"):
                out = TERMINAL if redirect.target.text == "2" and redirect.fd in (None, 1) else out
                continue
            if not redirect.writes or redirect.target is None:
                continue
            path = self.path(redirect.target, state, node)
            if redirect.fd in (None, 1):
                out = path
            if path in ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"):
                out = TERMINAL if redirect.fd in (None, 1) else out
            elif ">>" not in redirect.op or path not in state.files:
                state.files[path] = Value("", source=node)
        return out

    def path(self, word: Word, state: State, node: Node) -> str:
        """The path that a word names, `*` for its unknown parts; the verdict's own path where it is that."""
        text = "".join(self.piece(p, state, node) for p in word.parts)
        if text and not text.startswith(("/", "*", "~", "$")) and state.cwd:
            text = posixpath.join(state.cwd, text)
        text = posixpath.normpath(text) if text else text
        if text not in self.setting.verdicts and self.setting.is_verdict(text):
            return next(v for v in self.setting.verdicts if posixpath.basename(v) == posixpath.basename(text))
        return text

    def piece(self, part: Part, state: State, node: Node) -> str:
        value = self.value_of((part,), state, node)
        return "*" if value.text is None else value.text

    def write(self, state: State, sink: str, value: Value) -> None:
        shown = HEADER in (value.text or "") or (value.maker is not None and value.maker.tool in RUNNERS and not sink)
        if SUMMARY in self.setting.verdicts and shown and value.source is not value.maker:
            state.files[SUMMARY] = Value(HEADER, source=value.source)
        if sink:
            state.files[sink] = state.files.get(sink, EMPTY).plus(value)

    def document(self, node: Node, state: State) -> Value:
        """What a here-document or here-string feeds a statement."""
        if node.herestring is not None:
            value = self.value(node.herestring, state, node)
            return value.plus(Value("\n")) if value.text is not None else value
        assert node.document is not None
        if node.document.literal or not re.search(r"[$`]", node.document.text):
            return Value(node.document.text)
        found = [self.variable(n, state) for n in re.findall(r"\$\{?(\w+)", node.document.text)]
        if any(v.text is None for v in found) or re.search(r"\$[({]?[^\w{]|`|\$\{\w+[^\w}]", node.document.text):
            return self.mixed(found)
        return Value(re.sub(r"\$\{?(\w+)\}?", lambda m: self.variable(m[1], state).text or "", node.document.text))

    @staticmethod
    def mixed(values: Iterable[Value]) -> Value:
        unknown = [v for v in values if v.text is None]
        purposes = [v.status.purpose if v.status else v.purpose for v in unknown]
        maker = unknown[0].maker if len(unknown) == 1 else None
        return Value(
            maker=maker, purpose=Purpose.CHECK if Purpose.CHECK in purposes else next(iter(purposes), Purpose.OPEN)
        )

    def value(self, word: Word, state: State, node: Node) -> Value:
        return self.value_of(word.parts, state, node, word.raw)

    def value_of(self, parts: tuple[Part, ...], state: State, node: Node, raw: str = "") -> Value:
        stage = re.search(r"\$\{(?:PIPESTATUS|pipestatus)\[(\d+)\]\}", raw)
        if stage is not None and int(stage[1]) < len(state.pipe):
            return Value(status=state.pipe[int(stage[1])])
        values = [self.part(p, state, node) for p in parts]
        if len(values) == 1:
            return values[0]
        if all(v.text is not None for v in values):
            return Value("".join(v.text or "" for v in values))
        found = self.mixed(values)
        return found if all(v.text in (None, "") for v in values) else replace(found, maker=None)

    def part(self, part: Part, state: State, node: Node) -> Value:
        if isinstance(part, str):
            return Value(part)
        if part is None:
            outputs = [state.files.get(f"\0{id(inner)}", Value()) for inner in node.inner]
            if len(outputs) == 1 and outputs[0].text is not None:
                return Value(outputs[0].text.rstrip("\n"))
            return self.mixed(outputs)
        if part.name == "?":
            status = self.asked(state, state.status, node)
            if status.ok is not None and status.mask is None:
                return Value(status.code if status.code is not None else "0" if status.ok else "1")
            if status.command is state.unread:
                state.unread = None
            return Value(status=status)
        value = self.variable(part.name, state)
        if part.operator in (":-", "-", ":=", "=") and part.name not in state.variables:
            return self.value_of(part.default, state, node)
        return value if part.operator in ("", ":-", "-", ":=", "=") else Value(purpose=value.purpose)

    def variable(self, name: str, state: State) -> Value:
        if name.isdigit() and name != "0":
            at = int(name) - 1
            return state.arguments[at] if at < len(state.arguments) else Value()
        if name in ("@", "*") and len(state.arguments) == 1:
            return state.arguments[0]
        return state.variables.get(name, Value())

    def assigned(self, assignment: Assignment, state: State) -> Value:
        if assignment.value is None:
            return Value()
        return self.value(assignment.value, state, assignment.command)

    def test(self, command: Command, state: State) -> Status:
        """The status of `[ … ]`, `[[ … ]]`, `test …` or `(( … ))`."""
        return test_outcome(self, command, state)


_DECLARING = ("export", "local", "declare", "readonly", "typeset")


def name_passes_on(command: Command) -> bool:
    """Whether a program prints what it reads."""
    return command.program in ("cat", "tee", "head", "tail", "sed", "sort", "tr", "cut", "uniq")


def merged(states: Iterable[State]) -> list[State]:
    """The states, those that behave alike as one."""
    out: dict[tuple[object, ...], State] = {}
    for state in states:
        key = state.key()
        if key in out:
            out[key].merge(state)
        else:
            out[key] = state
        if len(out) > MOST_STATES:
            raise TooManyPathsError
    return list(out.values())


def _matches(pattern: str, text: str | None) -> bool:
    if text is None:
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)

"""Follows a verifier's shell script along every path: what it writes, with which status, and on what that hangs."""

from __future__ import annotations

from fnmatch import fnmatchcase

from scenlint.source.shell import AndOr, Case, Command, Function, If, Loop, Node, Pipeline, Script, Sequence, parse
from scenlint.task.verdict_flow.commands import Commands
from scenlint.task.verdict_flow.expand import TERMINAL
from scenlint.task.verdict_flow.roles import Purpose
from scenlint.task.verdict_flow.statuses import MOST_STATES, asked, merged, pipe_status, split, swallow, turned
from scenlint.task.verdict_flow.values import EMPTY, State, Status, Use, Value


class Interpreter(Commands):
    """The statements; `run` gives the states in which a script can end."""

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
            ends = [turned(end) for end in ends]
        return merged(ends)

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
                            swallow(end, lost.command, item, out)
                        ends.append(end)
            states = merged(ends)
        return states

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
            end.status = pipe_status(node, statuses, end.pipefail)
            ends += self.errexit(end, node, tested)
        return ends

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
            state.status = asked(state, value.status)
            branches = self.branch(state, node)
        else:
            branches = [state]
        ends: list[State] = []
        for branch in branches:
            text = value.text if value.status is None else "0" if branch.status.ok else "1"
            certain = False
            for number, (patterns, body) in enumerate(node.branches):
                fits = [text is not None and fnmatchcase(text, p.pattern) for p in patterns]
                # Any status but 0 can be the one that a pattern names.
                failed = (
                    value.status is not None
                    and not branch.status.ok
                    and any(p.pattern.isdigit() and p.pattern != "0" for p in patterns)
                )
                if text is not None and not any(fits) and not failed:
                    continue
                chosen = branch.copy()
                if text is None and not chosen.decide((id(node),), number, value.purpose):
                    continue
                ends += self.node(body, chosen, out, tested=tested)
                if text is not None and any(fits):
                    certain = True
                    break
            if not certain and not node.exhaustive:
                branch.status = Status(True)
                if text is not None or branch.decide((id(node),), -1, value.purpose):
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

    def branch(self, state: State, at: Node) -> list[State]:
        """The states in which the last status is success and failure; that it is asked for counts as a use of it."""
        status = state.status
        if status.mask is not None:
            state.uses |= {Use(status.mask, at, True)}
            return split(state, Status(None, status.mask.check, Purpose.CHECK, (id(status.mask.check),)))
        if status.command is not None and status.command is state.unread:
            state.unread = None
        return [state] if status.ok is not None else split(state, status)

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

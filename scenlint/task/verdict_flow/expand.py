"""Words, files and output in a state: what a word is worth there, where a statement's output goes, what is written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import replace

from scenlint.source.shell import Assignment, Node, Word
from scenlint.source.shell.words import Part
from scenlint.task.checks.runner import RUNNERS
from scenlint.task.verdict_flow.roles import HEADER, SUMMARY, Purpose, Setting
from scenlint.task.verdict_flow.statuses import asked
from scenlint.task.verdict_flow.values import EMPTY, State, Value

TERMINAL = ""  # the sink that nobody reads


class Expander:
    """The half of the interpreter that deals in texts."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.buffers = 0

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
            status = asked(state, state.status)
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

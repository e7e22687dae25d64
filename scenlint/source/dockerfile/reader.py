"""Reads a Dockerfile top to bottom as the builder would, keeping what is in force at every instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scenlint.source.dockerfile import scripts
from scenlint.source.dockerfile.model import Dockerfile, Instruction, Stage
from scenlint.source.dockerfile.tree import Tree, below, child, children
from scenlint.source.dockerfile.words import Word, absolute, expand
from scenlint.source.regex import regex
from scenlint.source.text import Fragment

if TYPE_CHECKING:
    from tree_sitter import Node

_DIRECTIVE = regex(r"#\s*(\w+)\s*=\s*(\S.*?)\s*$")
_RUNS = frozenset({"RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK"})


class Reader:
    """The state of one reading; `given` are build arguments."""

    def __init__(self, fragment: Fragment, given: dict[str, str]) -> None:
        self.tree = Tree(fragment)
        self.given = given
        self.globals: dict[str, str] = {}  # ARG before the first FROM
        self.result = Dockerfile(fragment)

    def read(self) -> Dockerfile:
        self._directives()
        for node in self.tree.root.children:
            if node.type == "comment":
                self.result.comments.append(self.tree.span(node))
            elif node.type.endswith("_instruction"):
                self._instruction(node)
            if node.has_error:
                self._problem(node, "could not be read as a Dockerfile instruction, so what it does was not analysed")
        if not self.result.stages:
            self.result.problems.append((self.result.fragment.span(), "has no FROM instruction"))
        return self.result

    def _directives(self) -> None:
        for line in self.result.fragment.text.splitlines():
            found = _DIRECTIVE.match(line)
            if not found:
                return
            self.result.directives.setdefault(found[1].lower(), found[2])

    def _problem(self, node: Node, why: str) -> None:
        self.result.problems.append((self.tree.span(node), why))

    def _word(self, node: Node, variables: Mapping[str, str]) -> Word:
        raw = self.tree.text(node)
        return Word(raw, expand(raw, variables), self.tree.span(node))

    def _instruction(self, node: Node, *, onbuild: bool = False) -> None:
        keyword = self.tree.text(node.children[0]).upper()
        if keyword == "FROM":
            self._stage(node)
        elif keyword == "ARG" and not self.result.stages:
            self._declare(node, self.globals, self.globals)
        elif not self.result.stages:
            self._problem(node, "stands before the first FROM")
        elif keyword == "ONBUILD":
            for inner in node.named_children:
                self._instruction(inner, onbuild=True)
        else:
            self._step(node, keyword, self.result.stages[-1], onbuild)

    def _stage(self, node: Node) -> None:
        image = child(node, "image_spec")
        if image is None:
            return
        base = self._word(image, self.globals)
        parent = self.result.stage(base.text or "")
        stage = Stage(len(self.result.stages), self.tree.span(node), base, parent)
        if parent is not None:
            stage.user, stage.workdir, stage.shell = parent.user, parent.workdir, parent.shell
            stage.variables, stage.environment = dict(parent.variables), set(parent.environment)
        alias = child(node, "image_alias")
        stage.name = self.tree.text(alias).lower() if alias else None
        stage.platform = next((w for n, w in self._flags(node, self.globals) if n == "platform"), None)
        self.result.stages.append(stage)

    def _step(self, node: Node, keyword: str, stage: Stage, onbuild: bool) -> None:
        seen = dict(stage.variables)
        made = Instruction(keyword, self.tree.span(node), stage, onbuild=onbuild)
        made.user, made.workdir, made.variables = stage.user, stage.workdir, seen
        made.flags = self._flags(node, seen)
        if keyword == "HEALTHCHECK":
            node = child(node, "cmd_instruction") or node
        array = child(node, "json_string_array")
        listed = [scripts.string(self.tree, c) for c in array.named_children] if array else None
        if keyword in _RUNS:
            made.argv = listed
            markers = [self.tree.text(m) for m in below(node, "heredoc_marker")]
            made.heredocs = scripts.heredocs(self.tree, node, markers)
            made.scripts = scripts.body(self.tree, node, listed, made.heredocs, stage.shell[0])
        elif listed is not None:
            made.words = [Word(w.raw, expand(w.text or "", seen), w.span) for w in listed]
        else:
            made.words = [self._word(c, seen) for c in children(node, "path", "unquoted_string")]
            made.heredocs = scripts.heredocs(self.tree, node, [w.raw for w in made.words])
        stage.instructions.append(made)
        if not onbuild:
            self._apply(node, made, stage)

    def _apply(self, node: Node, made: Instruction, stage: Stage) -> None:
        """What the instruction changes for those that follow."""
        first = made.words[0].text if made.words else None
        if made.keyword in ("ARG", "ENV"):
            names = self._declare(node, stage.variables, made.variables)
            stage.environment.update(names if made.keyword == "ENV" else ())
        elif made.keyword == "USER":
            stage.user = first
        elif made.keyword == "WORKDIR":
            stage.workdir = None if first is None else absolute(first, stage.workdir or "/")
        elif made.keyword == "SHELL" and made.words:
            stage.shell = tuple(w.text or "" for w in made.words)

    def _declare(self, node: Node, into: dict[str, str], scope: Mapping[str, str]) -> list[str]:
        """Set the variables of an ARG or ENV in `into`; returns their names."""
        names = []
        for pair in children(node, "arg_pair", "env_pair"):
            first, end = pair.named_children[0], self.tree.bounds(pair)[1]
            name = self.tree.text(first)
            equals = next((c for c in pair.children if c.type == "="), None)
            raw = self.result.fragment.text[self.tree.bounds(equals or first)[1] : end]
            value = None if pair.type == "env_pair" else self.given.get(name)
            if value is None and pair.type == "arg_pair" and equals is None:
                value = self.globals.get(name)
            elif value is None:
                value = expand(raw if equals else raw.strip(), scope)
            into.pop(name, None)
            if value is not None:
                into[name] = value
            names.append(name)
        return names

    def _flags(self, node: Node, variables: Mapping[str, str]) -> list[tuple[str, Word]]:
        out = []
        for flag in children(node, "param", "mount_param"):
            name, equals, raw = self.tree.text(flag).removeprefix("--").partition("=")
            begin, end = self.tree.bounds(flag)
            span = self.result.fragment.span(end - len(raw) if equals else begin, end)
            out.append((name, Word(raw, expand(raw, variables), span)))
        return out

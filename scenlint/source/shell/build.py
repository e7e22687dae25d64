"""From tree-sitter's tree of a shell script to the statements of `model`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scenlint.source import patient
from scenlint.source.shell.model import (
    Assignment,
    Case,
    Command,
    Function,
    If,
    Loop,
    Node,
    Sequence,
)
from scenlint.source.shell.redirects import OPERANDS, Redirects
from scenlint.source.shell.script import Script
from scenlint.source.shell.words import (
    Word,
)
from scenlint.source.text import Fragment, write_as_is

if TYPE_CHECKING:
    from tree_sitter import Node as Tree
    from tree_sitter import Parser

_SIMPLE = (
    "command",
    "declaration_command",
    "unset_command",
    "test_command",
    "variable_assignment",
    "variable_assignments",
)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(fragment: Fragment) -> Script:
    """The script, parsed once per fragment; never raises, whatever the text."""
    return fragment.memo("shell", lambda: _parse(fragment))


def syntax(fragment: Fragment) -> tuple[Fragment, Tree]:
    """The syntax tree, and the fragment that its offsets count in."""
    fragment = _unix(fragment)
    tree = fragment.memo("shell syntax", lambda: patient.parse(_parser(), fragment.index.utf8))
    return fragment, tree.root_node


def _parse(fragment: Fragment) -> Script:
    fragment, tree = syntax(fragment)
    build = _Build(fragment)
    try:
        root = build.sequence(tree)
    except RecursionError:
        return Script(fragment, Sequence(fragment, 0, len(fragment.text)), fragment.span(0, 0))
    _adopt(root)
    bad = _first_error(tree) if tree.has_error else None
    return Script(fragment, root, build.span(bad) if bad is not None else None)


def _unix(fragment: Fragment) -> Fragment:
    """The fragment without the carriage returns before its line ends."""
    if "\r\n" not in fragment.text:
        return fragment
    pieces, length, out = [], 0, []
    for match in re.finditer(r"(?:(?!\r\n).)+|\r\n", fragment.text, re.S):
        start = match.start() + (match[0] == "\r\n")
        pieces.append((length, start))
        out.append(fragment.text[start : match.end()])
        length += match.end() - start
    return fragment.derive("".join(out), fragment.language, pieces, write_as_is)


def _first_error(node: Tree) -> Tree | None:
    todo = [node]
    while todo:
        at = todo.pop()
        if at.type == "ERROR" or at.is_missing:
            return at
        todo += [c for c in reversed(at.children) if c.has_error or c.is_missing or c.type == "ERROR"]
    return None


def _adopt(root: Node) -> None:
    todo = [root]
    while todo:
        node = todo.pop()
        for child in (*node.inner, *node.parts()):
            child.parent = node
            todo.append(child)


class _Build(Redirects):
    """The statements."""

    # Statements

    def sequence(self, tree: Tree, skip: int = 0) -> Sequence:
        """The statements among a node's children; those inside what could not be parsed are kept too."""
        out = Sequence(*self.place(tree), subshell=tree.type == "subshell")
        for child in tree.children[skip:]:
            if child.type == "&" and out.items:
                out.items[-1].background = True
            else:
                out.items += self.statements(child)
        return out

    def body(self, trees: list[Tree], around: Tree) -> Sequence:
        out = Sequence(*self.place(around))
        for child in trees:
            if child.type == "&" and out.items:
                out.items[-1].background = True
            else:
                out.items += self.statements(child)
        if out.items:
            out.start, out.end = out.items[0].start, out.items[-1].end
        return out

    def statements(self, tree: Tree) -> list[Node]:
        if tree.type == "ERROR":
            return [n for child in tree.children for n in self.statements(child)]
        found = self.statement(tree)
        return [] if found is None else [found]

    def statement(self, tree: Tree) -> Node | None:
        kind = tree.type
        if kind in _SIMPLE:
            return self.command(tree)
        if kind == "compound_statement" and tree.child_count and tree.children[0].type == "((":
            return self.command(tree)
        if kind in ("compound_statement", "subshell", "do_group", "else_clause"):
            return self.sequence(tree)
        if kind == "redirected_statement":
            return self.redirected(tree)
        if kind == "negated_command":
            inner = next((n for child in tree.children for n in self.statements(child)), None)
            if inner is not None:
                inner.negated = not inner.negated
                inner.start = self.char(tree.start_byte)
            return inner
        if kind == "pipeline":
            return self.pipe(tree, [n for child in tree.children for n in self.statements(child)])
        if kind == "list":
            return self.and_or(tree)
        if kind == "if_statement":
            return self.if_statement(tree)
        if kind == "case_statement":
            return self.case(tree)
        if kind in ("for_statement", "while_statement", "c_style_for_statement"):
            return self.loop(tree)
        if kind == "function_definition":
            return self.function(tree)
        return None

    def and_or(self, tree: Tree) -> Node:
        # Nested to the left once per operator, so walked down instead of recursed into.
        rights: list[Tree] = []
        operators: list[str] = []
        at = tree
        while at.type == "list":
            operators += [c.type for c in at.children if c.type in ("&&", "||")][-1:]
            rights.append(at.children[-1])
            at = at.children[0]
        items = [n for part in [at, *reversed(rights)] for n in self.statements(part)[:1]]
        if len(items) != len(operators) + 1:  # something between them could not be parsed
            return Sequence(*self.place(tree), items=items)
        out = items[0]
        for operator, right in zip(reversed(operators), items[1:], strict=True):
            out = self.append(tree, out, operator, right)
        return out

    def if_statement(self, tree: Tree) -> If:
        out = If(*self.place(tree))
        condition: list[Tree] = []
        body: list[Tree] = []
        into = condition
        for child in tree.children:
            if child.type == "then":
                into = body
            elif child.type == "elif_clause":
                parts = child.children
                then = next((n for n, c in enumerate(parts) if c.type == "then"), len(parts))
                out.branches.append((self.body(parts[1:then], child), self.body(parts[then + 1 :], child)))
            elif child.type == "else_clause":
                out.orelse = self.sequence(child)
            else:
                into.append(child)
        out.branches.insert(0, (self.body(condition, tree), self.body(body, tree)))
        return out

    def case(self, tree: Tree) -> Case:
        out = Case(*self.place(tree))
        value = tree.child_by_field_name("value")
        if value is not None:
            self.collect(value, out)
            out.word = self.word(value, out)
        for item in tree.children:
            if item.type == "case_item":
                patterns = [self.word(c, out) for c in item.children_by_field_name("value")]
                close = next((n for n, c in enumerate(item.children) if c.type == ")"), 0)
                out.branches.append((patterns, self.body(item.children[close + 1 :], item)))
        return out

    def loop(self, tree: Tree) -> Loop:
        out = Loop(*self.place(tree), kind=tree.children[0].type)
        body = tree.child_by_field_name("body")
        if tree.type == "for_statement":
            variable = tree.child_by_field_name("variable")
            out.variable = self.text(variable) if variable is not None else None
            for value in tree.children_by_field_name("value"):
                self.collect(value, out)
                out.words.append(self.word(value, out))
        elif tree.type == "while_statement":
            until = next((n for n, c in enumerate(tree.children) if c.type == "do_group"), len(tree.children))
            out.condition = self.body(tree.children[1:until], tree)
        out.body = self.sequence(body) if body is not None else None
        return out

    def function(self, tree: Tree) -> Function:
        name = tree.child_by_field_name("name")
        out = Function(*self.place(tree), name=self.text(name) if name is not None else "")
        body = tree.child_by_field_name("body")
        found = self.statement(body) if body is not None else None
        if found is not None:
            out.body = (
                found
                if isinstance(found, Sequence)
                else Sequence(found.fragment, found.start, found.end, items=[found])
            )
        for child in tree.children_by_field_name("redirect"):
            self.redirect(child, out.body or out)
        return out

    # Commands and words

    def command(self, tree: Tree) -> Command:
        out = Command(*self.place(tree))
        if tree.type == "variable_assignment":
            out.assignments.append(self.assignment(tree, out))
            return out
        if tree.type in ("test_command", "compound_statement"):
            self.collect(tree, out)
            out.argv = [self.word(leaf, out) for leaf in self.operands(tree)]
            return out
        for child in tree.children:
            if child.type == "variable_assignment":
                out.assignments.append(self.assignment(child, out))
            elif child.type.endswith("_redirect"):
                self.redirect(child, out)
            elif child.type == "command_name":
                self.collect(child, out)
                out.argv.append(self.word(child.children[0] if child.children else child, out))
            elif (
                child.type in OPERANDS
                or (not child.is_named and child.type.isalpha())
                or child.type in ("==", "=~", "=")
            ):
                self.collect(child, out)
                out.argv.append(self.word(child, out))
        return out

    def operands(self, tree: Tree) -> list[Tree]:
        """A test's words and operators, left to right."""
        out: list[Tree] = []
        for child in tree.children:
            if child.type in OPERANDS or not child.is_named:
                out.append(child)
            else:
                out += self.operands(child)
        return out

    def assignment(self, tree: Tree, command: Command) -> Assignment:
        name = tree.child_by_field_name("name")
        value = tree.child_by_field_name("value")
        plain = name is not None and name.type == "variable_name" and not any(c.type == "+=" for c in tree.children)
        before = len(command.inner)
        if value is not None:
            self.collect(value, command)
        runs = command.inner[before:]
        word = self.word(value, command) if value is not None else self.empty(tree, command)
        if not plain or (value is not None and value.type == "array"):
            word = Word(word.raw, word.start, word.span, (None,), command)
        label = self.text(name) if name is not None else ""
        return Assignment(label.partition("[")[0], word, self.span(tree), command, runs[-1] if runs else None)

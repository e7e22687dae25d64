"""Redirects and here-documents, and the statements that the grammar puts inside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scenlint.source.shell.model import AndOr, Command, Document, Node, Pipeline, Redirect, Sequence
from scenlint.source.shell.reader import SUBSTITUTIONS, Reader
from scenlint.source.shell.words import heredoc_text

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

OPERANDS = {
    "word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation",
    "simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion",
    "brace_expression", "extglob_pattern", "regex", "variable_name", "array", "test_operator",
}  # fmt: skip


class Redirects(Reader):
    """The redirects of a statement."""

    def statements(self, tree: Tree) -> list[Node]:
        raise NotImplementedError  # see build

    def sequence(self, tree: Tree, skip: int = 0) -> Sequence:
        raise NotImplementedError  # see build

    def redirected(self, tree: Tree) -> Node:
        out = next((n for c in tree.children_by_field_name("body") for n in self.statements(c)), None)
        if out is None:
            out = Command(*self.place(tree))
        for child in tree.children_by_field_name("redirect"):
            # The grammar puts the redirect of `a && b > file` around it all; it is that of b.
            last = out
            while isinstance(last, AndOr | Pipeline):
                last = last.items[-1]
            for operator, right in self.redirect(child, last):
                out = self.append(tree, out, operator, right)
        return out

    def append(self, tree: Tree, out: Node, operator: str, right: Node) -> Node:
        """A statement with another one behind it, kept flat as the shell reads it from left to right."""
        if operator in ("&&", "||"):
            joined = out if isinstance(out, AndOr) else AndOr(*self.place(tree), items=[out])
            joined.start, joined.end = self.char(tree.start_byte), self.char(tree.end_byte)
            joined.items += right.items if isinstance(right, AndOr) else [right]
            joined.operators += [operator, *(right.operators if isinstance(right, AndOr) else [])]
            return joined
        if isinstance(out, AndOr):
            out.items[-1] = self.append(tree, out.items[-1], operator, right)
            return out
        return self.pipe(tree, [*out.items, right] if isinstance(out, Pipeline) else [out, right])

    def redirect(self, tree: Tree, node: Node) -> list[tuple[str, Node]]:
        """Add a redirect to a statement; returns the statements that a here-document's first line puts behind it."""
        self.collect(tree, node)
        descriptor = next((c for c in tree.children if c.type == "file_descriptor"), None)
        fd = int(self.text(descriptor)) if descriptor is not None and self.text(descriptor).isdigit() else None
        if tree.type == "herestring_redirect":
            node.herestring = self.word(tree.children[-1], node)
            return []
        if tree.type == "file_redirect":
            op = next((c.type for c in tree.children if not c.is_named), ">")
            target = tree.child_by_field_name("destination")
            word = self.word(target, node) if target is not None else None
            node.redirects.append(Redirect(op, fd, word, self.span(tree)))
            # The grammar takes the words behind the target for targets too; they are the command's.
            if isinstance(node, Command):
                node.argv += [self.word(more, node) for more in tree.children_by_field_name("destination")[1:]]
            node.end = max(node.end, self.char(tree.end_byte))
            return []
        return self.heredoc(tree, node) if tree.type == "heredoc_redirect" else []

    def heredoc(self, tree: Tree, node: Node) -> list[tuple[str, Node]]:
        rest: list[tuple[str, Node]] = []
        start = next((self.text(c) for c in tree.children if c.type == "heredoc_start"), "")
        operator = ""
        for child in tree.children:
            if child.type in ("&&", "||"):
                operator = child.type
            elif child.type == "heredoc_body":
                literal, tabs = bool(re.search(r"['\"\\]", start)), tree.children[0].type == "<<-"
                text, pieces = heredoc_text(self.text(child), literal=literal, tabs=tabs)
                begin = self.char(child.start_byte)
                node.document = Document(text, [(a, begin + b) for a, b in pieces], literal)
            elif child.type == "pipeline":
                rest += [("|", n) for c in child.children for n in self.statements(c)]
            elif child.type in ("file_redirect", "herestring_redirect"):
                rest += self.redirect(child, node)
            elif child.type in OPERANDS and isinstance(node, Command):
                node.argv.append(self.word(child, node))
            else:
                rest += [(operator or "&&", n) for n in self.statements(child)]
        return rest

    def pipe(self, tree: Tree, items: list[Node]) -> Node:
        if len(items) < 2:
            return items[0] if items else Command(*self.place(tree))
        stages = [stage for item in items for stage in (item.items if isinstance(item, Pipeline) else [item])]
        out = Pipeline(*self.place(tree), items=stages)
        # `! a | b` turns the status of the pipeline round, not that of a.
        out.negated, items[0].negated = items[0].negated, False
        return out

    def collect(self, tree: Tree, node: Node) -> None:
        """Add to a statement what the substitutions inside a word of it run."""
        todo = [tree]
        while todo:
            at = todo.pop()
            if at.type in SUBSTITUTIONS:
                node.inner.append(self.sequence(at))
            elif not at.type.endswith("_body"):
                todo += reversed(at.children)

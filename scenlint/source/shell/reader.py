"""Words out of tree-sitter's tree of a shell script."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from scenlint.source.shell.words import Expansion, Part, Word, unescape_ansi, unescape_bare, unescape_quoted
from scenlint.source.text import Fragment, Span

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

    from scenlint.source.shell.model import Node

SUBSTITUTIONS = ("command_substitution", "process_substitution")


class Reader:
    """Reads texts, places and words; offsets of the tree are bytes, those given out characters."""

    def __init__(self, fragment: Fragment) -> None:
        self.fragment = fragment
        self.char = fragment.index.char

    def text(self, tree: Tree) -> str:
        return self.fragment.text[self.char(tree.start_byte) : self.char(tree.end_byte)]

    def span(self, tree: Tree) -> Span:
        return self.fragment.span(self.char(tree.start_byte), self.char(tree.end_byte))

    def place(self, tree: Tree) -> tuple[Fragment, int, int]:
        return self.fragment, self.char(tree.start_byte), self.char(tree.end_byte)

    def empty(self, tree: Tree, owner: Node) -> Word:
        end = self.char(tree.end_byte)
        return Word("", end, self.fragment.span(end, end), ("",), owner)

    def word(self, tree: Tree, owner: Node) -> Word:
        start = self.char(tree.start_byte)
        return Word(self.text(tree), start, self.span(tree), tuple(self.parts(tree)), owner)

    def parts(self, tree: Tree) -> list[Part]:
        kind = tree.type
        if kind == "raw_string":
            return [self.text(tree)[1:-1]]
        if kind == "ansi_c_string":
            return [unescape_ansi(self.text(tree)[2:-1])]
        if kind == "translated_string":
            return self.parts(tree.children[-1])
        if kind in ("string", "concatenation"):
            return self.pieces(tree, unescape_quoted if kind == "string" else unescape_bare)
        if kind == "simple_expansion":
            return [Expansion(self.text(tree)[1:])]
        if kind == "expansion":
            return [self.expansion(tree)]
        if kind in SUBSTITUTIONS or kind in ("arithmetic_expansion", "array"):
            return [None]
        return [unescape_bare(self.text(tree))]

    def pieces(self, tree: Tree, unescape: Callable[[str], str]) -> list[Part]:
        """The parts of a node whose literal stretches may lie between its children."""
        out: list[Part] = []
        at = tree.start_byte
        for child in [*tree.children, None]:
            if child is not None and child.type in ("string_content", "$"):
                continue
            literal = self.fragment.text[
                self.char(at) : self.char(child.start_byte if child is not None else tree.end_byte)
            ]
            out += [unescape(literal)] if literal else []
            if child is not None:
                out += self.parts(child) if child.type != '"' else []
                at = child.end_byte
        return out or [""]

    def expansion(self, tree: Tree) -> Part:
        match = re.fullmatch(r"\$\{(\w+|[?#@*!$-])(?:(:?[-=?])(.*))?\}", self.text(tree), re.S)
        if match is None:
            return None
        name, operator, default = match.groups()
        if operator in (":?", "?"):
            operator = ""
        values = [c for c in tree.children if c.is_named and c.start_byte > tree.start_byte + 2 + len(name.encode())]
        parts: list[Part] = [p for value in values for p in self.parts(value)] if default else [""]
        return Expansion(name, operator or "", tuple(parts))

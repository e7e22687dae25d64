"""The syntax tree of a Dockerfile, with every node's place and text in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scenlint.source import patient
from scenlint.source.text import Fragment, Span

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter import Tree as SyntaxTree

_QUOTE = re.compile(rb"(?P<marker><<-?([\"'])\w+\2)|[\"']")
_REPAIRS = 20  # lines whose quotes are set aside before the rest is given up


class Tree:
    """A parsed fragment. Text is always the fragment's own: the parser may have been given a repaired copy."""

    def __init__(self, fragment: Fragment) -> None:
        self.fragment = fragment
        self.root = _parse(fragment.index.utf8).root_node

    def bounds(self, node: Node) -> tuple[int, int]:
        """Character offsets of a node in the fragment."""
        return self.fragment.index.char(node.start_byte), self.fragment.index.char(node.end_byte)

    def span(self, node: Node) -> Span:
        return self.fragment.span(*self.bounds(node))

    def text(self, node: Node) -> str:
        begin, end = self.bounds(node)
        return self.fragment.text[begin:end]


def child(node: Node, *types: str) -> Node | None:
    """The first named child of one of these types."""
    return next((c for c in node.named_children if c.type in types), None)


def children(node: Node, *types: str) -> list[Node]:
    """The named children of these types."""
    return [c for c in node.named_children if c.type in types]


def below(node: Node, *types: str) -> list[Node]:
    """The nodes of these types anywhere under a node, in order, here-documents left out."""
    out: list[Node] = []
    for inner in node.children:
        if inner.type in types:
            out.append(inner)
        elif inner.type != "heredoc_block":
            out += below(inner, *types)
    return out


def _parse(text: bytes) -> SyntaxTree:
    """Parse; a lone quote in shell text (a comment's apostrophe) hides what follows, so that line's are set aside."""
    import tree_sitter_containerfile
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_containerfile.language()))
    tree = patient.parse(parser, text)
    for _ in range(_REPAIRS):
        at = _broken_shell(tree.root_node)
        if at is None:
            break
        begin, end = text.rfind(b"\n", 0, at) + 1, (text + b"\n").find(b"\n", at)
        line = _QUOTE.sub(lambda m: m["marker"] or b"_", text[begin:end])
        if line == text[begin:end]:
            break
        text = text[:begin] + line + text[end:]
        tree = patient.parse(parser, text)
    return tree


def _broken_shell(root: Node) -> int | None:
    """Where the first shell text that does not parse goes wrong."""
    before: Node | None = None
    for node in root.children:
        if node.has_error:
            # What follows the lone quote may stand as an error of its own behind the instruction.
            held = before if node.type == "ERROR" and before is not None else node
            if not below(held, "shell_command"):
                return None
            return _first_error(node).start_byte if node is held else node.start_byte
        before = node
    return None


def _first_error(node: Node) -> Node:
    inner = next((c for c in node.children if c.has_error or c.is_missing), None)
    return node if inner is None or node.type == "ERROR" else _first_error(inner)

"""TOML: values by the standard library, places by tree-sitter."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from scenlint.source.regex import regex
from scenlint.source.text import TextIndex
from scenlint.source.tree import TOO_DEEP, Node, Parsed, Problem, at, too_deep

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

_PLACE = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_SAID = {
    "Invalid value": "expected a value (strings need quotes in TOML)",
    "Invalid statement": "expected `key = value` or a `[table]`",
    "Expected '=' after a key in a key/value pair": "expected `=` after the key",
    "Expected newline or end of document after a statement": "more text follows the value; one `key = value` a line",
    "Cannot overwrite a value": "the key is given twice",
    "Unclosed array": "the list is never closed",
    "Unclosed inline table": "the inline table is never closed",
    "Unterminated string": "the string is never closed",
    "Expected ']' at the end of a table declaration": "the table's header needs a closing `]`",
    "Expected ']]' at the end of an array declaration": "the table's header needs closing `]]`",
    "Unescaped '\\' in a string": "a backslash in a double-quoted string starts an escape TOML does not know; "
    "double it or use single quotes",
    "Illegal character '\\n'": "the string is not closed on its line; use three quotes for text over several lines",
}


def read(text: str) -> Parsed:
    """Parse TOML text."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        return Parsed(problem=_problem(text, str(exc)))
    except RecursionError:
        return Parsed(problem=at(TOO_DEEP, text, 0))
    except (ValueError, OverflowError):  # a number of thousands of digits, a date in year 0
        return Parsed(problem=at("holds a number or date too large to read", text, 0))
    if too_deep(value):
        return Parsed(problem=at(TOO_DEEP, text, 0))
    return Parsed(value, tree=lambda: _tree(text))


def _problem(text: str, message: str) -> Problem:
    place = _PLACE.search(message)
    said = message[: place.start()] if place else message
    offset = len(text)
    if place and place[1]:
        # tomllib counts lines by "\n" alone.
        starts = [0, *(m.end() for m in re.finditer("\n", text))]
        line = min(int(place[1]), len(starts))
        offset = starts[line - 1] + int(place[2]) - 1
    if re.match(r"[ \t]*\r(?!\n)", text[offset : offset + 80]):
        return at("a carriage return alone ends no line in TOML; save the file with line feeds", text, offset)
    if declared := re.match(r"Cannot (?:declare|mutate immutable namespace) \((.*?),?\)", said):
        name = ".".join(re.findall(r"'([^']*)'", declared[1])) or declared[1]
        said = f"the table `{name}` is given twice"
    elif said.startswith("Illegal character '\\n'") or said == "Illegal character '\\r'":
        said = _SAID["Illegal character '\\n'"]
    word = re.match(r"[\w.-]+", text[offset : offset + 80])
    return at(_SAID.get(said, said[:1].lower() + said[1:]), text, offset, len(word.group()) if word else 1)


def syntax(index: TextIndex) -> Syntax:
    """The syntax tree; its offsets are those of the index's UTF-8."""
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_toml.language())).parse(index.utf8).root_node


def _tree(text: str) -> Node:
    index = TextIndex(text)
    return _Builder(text, index).document(syntax(index))


class _Builder:
    """Turns the syntax tree into Nodes; a table's place is its header, so that a frame shows one line."""

    def __init__(self, text: str, index: TextIndex) -> None:
        self.text = text
        self.index = index

    def place(self, syntax: Syntax) -> tuple[int, int]:
        return self.index.char(syntax.start_byte), self.index.char(syntax.end_byte)

    def document(self, syntax: Syntax) -> Node:
        root = Node(0, len(self.text))
        for child in syntax.named_children:
            if child.type == "pair":
                self.pair(child, root)
            elif child.type in ("table", "table_array_element"):
                self.table(child, root)
        return root

    def table(self, syntax: Syntax, root: Node) -> None:
        many = syntax.type == "table_array_element"
        names = next((c for c in syntax.named_children if c.type.endswith("_key")), None)
        if names is None:
            return
        closing = next((c for c in syntax.children if c.type in ("]", "]]")), names)
        header = Node(self.index.char(syntax.start_byte), self.index.char(closing.end_byte))
        parts = self.parts(names)
        into = self.descend(root, parts[:-1], header)
        key, start, end = parts[-1]
        if many:
            series = into.items.setdefault(key, Node(header.start, header.end))
            into.keys.setdefault(key, (start, end))
            made = series.items[len(series.items)] = header
        else:
            made = into.items.setdefault(key, header)
            made.start, made.end = header.start, header.end  # it may have stood as another header's parent before
            into.keys[key] = (start, end)
        for child in syntax.named_children:
            if child.type == "pair":
                self.pair(child, made)

    def descend(self, node: Node, parts: list[tuple[str, int, int]], at: Node) -> Node:
        """The node a dotted path leads to; missing ones are made and stand where the path does."""
        for key, start, end in parts:
            node.keys.setdefault(key, (start, end))
            node = node.items.setdefault(key, Node(at.start, at.end))
            if node.items and all(isinstance(k, int) for k in node.items):
                node = node.items[len(node.items) - 1]  # the last table of an array of tables
        return node

    def pair(self, syntax: Syntax, into: Node) -> None:
        children = [c for c in syntax.named_children if c.type != "comment"]
        if len(children) < 2:
            return
        parts = self.parts(children[0])
        if not parts:
            return
        into = self.descend(into, parts[:-1], Node(*self.place(syntax)))
        key, start, end = parts[-1]
        into.keys[key] = (start, end)
        into.items[key] = self.value(children[1])

    def value(self, syntax: Syntax) -> Node:
        node = Node(*self.place(syntax), "toml" if syntax.type == "string" else "raw")
        if syntax.type == "array":
            for n, child in enumerate(c for c in syntax.named_children if c.type != "comment"):
                node.items[n] = self.value(child)
        elif syntax.type == "inline_table":
            for child in syntax.named_children:
                if child.type == "pair":
                    self.pair(child, node)
        return node

    def parts(self, syntax: Syntax) -> list[tuple[str, int, int]]:
        """The parts of a bare, quoted or dotted key, each with its place."""
        if syntax.type == "dotted_key":
            return [part for child in syntax.named_children for part in self.parts(child)]
        start, end = self.place(syntax)
        name = self.text[start:end]
        if syntax.type == "quoted_key":
            name = next(iter(tomllib.loads(f"{name} = 0")), name)
        return [(name, start, end)]

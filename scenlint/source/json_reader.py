"""JSON: values by the standard library, places by tree-sitter."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scenlint.source.regex import regex
from scenlint.source.text import TextIndex
from scenlint.source.tree import TOO_DEEP, Node, Parsed, Problem, at, too_deep

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

# Half of a character: no text can hold it. What may look like one is skipped: a pair, an escaped backslash.
LONE_SURROGATE = regex(
    r"(?P<other>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_SAID = {
    "Expecting value": "expected a value",
    "Expecting ',' delimiter": "expected a comma or the end of the list or object",
    "Expecting ':' delimiter": "expected a colon after the key",
    "Extra data": "text follows the end of the JSON value",
    "Unterminated string starting at": "the string that begins here is never closed",
    "Invalid control character at": "a line break or control character stands inside a string; write it as an escape",
    "Invalid \\escape": "a backslash escape that JSON does not know",
    "Invalid \\uXXXX escape": "`\\u` must be followed by four hexadecimal digits",
}


def loads(text: str) -> Any:
    """The value of a JSON text. ValueError, and nothing else, where it has none or is too deep to be walked."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if too_deep(value):
        raise ValueError(TOO_DEEP)
    return value


def read(text: str) -> Parsed:
    """Parse JSON text."""
    twice = False

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        made = dict(found)
        twice = twice or len(made) < len(found)
        return made

    if "\\ud" in text or "\\uD" in text:
        text = LONE_SURROGATE.sub(lambda m: m[0] if m["other"] else "\\ufffd", text)
    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as exc:
        return Parsed(problem=_problem(text, exc))
    except RecursionError:
        return Parsed(problem=at(TOO_DEEP, text, 0))
    except ValueError:  # a number of thousands of digits
        return Parsed(problem=at("holds a number too long to read", text, 0))
    if too_deep(value):
        return Parsed(problem=at(TOO_DEEP, text, 0))
    return Parsed(
        value,
        tree=lambda: _tree(text, []),
        duplicates=(lambda: _duplicates(text)) if twice else None,
    )


def _problem(text: str, exc: json.JSONDecodeError) -> Problem:
    here, before = text[exc.pos : exc.pos + 2], text[: exc.pos].rstrip()
    if not text.strip():
        return at("is empty; JSON needs a value", text, 0)
    if here in ("//", "/*") or here[:1] == "#":
        return at("JSON has no comments", text, exc.pos, 2)
    if here[:1] == "'":
        return at("strings are written with double quotes in JSON", text, exc.pos)
    if here[:1] in ("}", "]") and before.endswith(","):
        return at("a comma follows the last entry; JSON allows none there", text, len(before) - 1)
    if exc.msg.startswith(("Expecting property name", "Illegal trailing comma")):
        if before.endswith(",") and text[exc.pos :].lstrip()[:1] in ("}", "]"):
            return at("a comma follows the last entry; JSON allows none there", text, len(before) - 1)
        return at("expected a key in double quotes", text, exc.pos)
    if exc.pos >= len(text.rstrip()) and not exc.msg.startswith("Unterminated"):
        return at("the text ends before the JSON value does", text, len(text.rstrip()))
    word = re.match(r"\w+", text[exc.pos : exc.pos + 80])
    return at(_SAID.get(exc.msg, exc.msg[:1].lower() + exc.msg[1:]), text, exc.pos, len(word.group()) if word else 1)


def _duplicates(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    _tree(text, found)
    return sorted(found)


def _tree(text: str, duplicates: list[tuple[int, int]]) -> Node:
    import tree_sitter_json
    from tree_sitter import Language, Parser

    index = TextIndex(text)
    root = Parser(Language(tree_sitter_json.language())).parse(index.utf8).root_node

    def make(syntax: Syntax) -> Node:
        style = "json" if syntax.type == "string" else "raw"
        return Node(index.char(syntax.start_byte), index.char(syntax.end_byte), style)

    top = next((c for c in root.named_children if c.type != "comment"), root)
    node = make(top)
    work = [(top, node)]
    while work:
        syntax, into = work.pop()
        if syntax.type == "array":
            for n, child in enumerate(c for c in syntax.named_children if c.type != "comment"):
                into.items[n] = make(child)
                work.append((child, into.items[n]))
        elif syntax.type == "object":
            for pair in syntax.named_children:
                name, held = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if name is None or held is None:
                    continue
                place = make(name)
                key = json.loads(text[place.start : place.end])
                if key in into.items:
                    duplicates.append((place.start, place.end))
                into.items[key], into.keys[key] = make(held), (place.start, place.end)
                work.append((held, into.items[key]))
    return node

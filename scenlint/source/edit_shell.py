"""Edits of shell scripts: a line before or behind a statement that has a line of its own."""

from __future__ import annotations

import re

from scenlint.source.shell import AndOr, Command, Node, Sequence
from scenlint.source.text import Edit


def knows_pipefail(node: Node) -> bool:
    """Whether the script says that a shell with arrays and `pipefail` runs it."""
    return re.match(r"#![^\r\n]*\b(?:bash|zsh|ksh)\b", node.fragment.text) is not None


def insert_before(node: Node, line: str) -> Edit | None:
    """Put a line before the innermost statement around a node that begins a line."""
    text = node.fragment.text
    for statement in (node, *node.ancestors()):
        begin = text.rfind("\n", 0, statement.start) + 1
        indent = text[begin : statement.start]
        carried_on = re.search(r"(?:\\|&&|\|\|?)[ \t]*\n\Z", text[:begin])
        if isinstance(statement.parent, Sequence) and not indent.strip() and not carried_on:
            return node.fragment.edit(statement.start, statement.start, f"{line}\n{indent}")
    return None


def insert_behind(node: Node, line: str) -> Edit | None:
    """Put a line behind a statement that ends its line."""
    text = node.fragment.text
    if not isinstance(node.parent, Sequence):
        return None
    begin, end = text.rfind("\n", 0, node.start) + 1, (text + "\n").find("\n", node.end)
    indent = text[begin : node.start]
    if indent.strip() or text[node.end : end].strip() or "<<" in text[node.start : end]:
        return None
    return node.fragment.edit(node.end, node.end, f"\n{indent}{line}")


def without_alternative(node: Node) -> Edit | None:
    """Take out a `|| true` that ends a list of commands."""
    above = node.parent
    if not isinstance(node, Command) or node.program not in ("true", ":"):
        return None
    if not isinstance(above, AndOr) or above.items[-1] is not node or above.operators[-1] != "||" or node.redirects:
        return None
    return node.fragment.edit(above.items[-2].end, node.end, "")

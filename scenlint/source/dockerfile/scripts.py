"""The scripts in a Dockerfile: what a RUN body means to the program that runs it, mapped back to the file."""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING

from scenlint.source.dockerfile.model import Heredoc
from scenlint.source.dockerfile.tree import Tree, below, child, children
from scenlint.source.dockerfile.words import MARKER, Word
from scenlint.source.regex import regex
from scenlint.source.text import Fragment

if TYPE_CHECKING:
    from tree_sitter import Node

SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh"})

_SHEBANG = regex(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?([\w.+-]+)")
_JSON_CHARACTER = regex(r"\\u[0-9a-fA-F]{4}|\\[^u]|[^\\]", re.DOTALL)
_BLANK_LINES = regex(r"(?:[ \t]*\r?\n)+")
_SAFE = regex(r"[\w@%+=:,./^-]+")


def string(tree: Tree, node: Node) -> Word:
    """One string of an exec form; its span is the text between the quotes."""
    begin, end = tree.bounds(node)
    raw = tree.fragment.text[begin + 1 : end - 1]
    return Word(raw, "".join(map(_unescaped, _JSON_CHARACTER.findall(raw))), tree.fragment.span(begin + 1, end - 1))


def heredocs(tree: Tree, node: Node, markers: list[str]) -> list[Heredoc]:
    """The here-documents of an instruction; `markers` are its words, of which those like `<<EOF` count."""
    found = [m for m in map(MARKER.match, markers) if m]
    return [
        Heredoc(marker["name"], bool(marker["quote"]), _content(tree, block, bool(marker["dash"])))
        for marker, block in zip(found, children(node, "heredoc_block"), strict=False)
    ]


def body(tree: Tree, node: Node, argv: list[Word] | None, documents: list[Heredoc], shell: str) -> list[Fragment]:
    """The scripts that a RUN, CMD, ENTRYPOINT or HEALTHCHECK runs."""
    if argv is not None:
        return [_exec_form(tree, argv)] if argv else []
    command = child(node, "shell_command")
    if command is None:
        return []
    if documents and MARKER.match(tree.text(command).strip()):
        content = documents[0].content
        shebang = _SHEBANG.match(content.text)
        return [content.slice(0, len(content.text), _language(shebang[1] if shebang else shell))]
    text, pieces = _one_line(tree, command)
    blocks = children(node, "heredoc_block")
    if blocks:
        begin, end = tree.bounds(blocks[0])[0], tree.bounds(blocks[-1])[1]
        pieces.append((len(text), begin))
        text += tree.fragment.text[begin:end] + "\n"
    return [tree.fragment.derive(text, _language(shell), pieces)]


def _language(program: str) -> str:
    name = posixpath.basename(program)
    return "shell" if name in SHELLS else "python" if name.startswith("python") else name.removesuffix(".exe")


def _content(tree: Tree, block: Node, dash: bool) -> Fragment:
    begin, end = tree.bounds(block)
    last = child(block, "heredoc_end")
    close = tree.bounds(last)[0] if last else end
    whole = tree.fragment.text
    at = whole.find("\n", begin, end) + 1 or begin
    text, pieces = "", [(0, at)]
    for line in whole[at : whole.rfind("\n", 0, close) + 1].splitlines(keepends=True):
        kept = line.lstrip("\t") if dash else line
        pieces.append((len(text), at + len(line) - len(kept)))
        text, at = text + kept, at + len(line)
    return tree.fragment.derive(text, "text", pieces[1:] or pieces)


def _one_line(tree: Tree, command: Node) -> tuple[str, list[tuple[int, int]]]:
    """The command without continuations, the comment lines between them and blank lines, as the builder joins it."""
    at, end = tree.bounds(command)
    text, pieces = "", []
    for cut in [*below(command, "line_continuation", "comment"), None]:
        stop = tree.bounds(cut)[0] if cut else end
        if stop > at:
            pieces.append((len(text), at))
            text += tree.fragment.text[at:stop]
        if cut:
            at = max(at, tree.bounds(cut)[1])
            blank = _BLANK_LINES.match(tree.fragment.text, at, end)
            at = blank.end() if blank else at
    return text, pieces or [(0, at)]


def _exec_form(tree: Tree, argv: list[Word]) -> Fragment:
    """The script of `["sh", "-c", "script"]`, else the words as one command line."""
    name = posixpath.basename(argv[0].text or "")
    is_script = name in SHELLS and len(argv) > 2 and re.fullmatch(r"-\w*c", argv[1].text or "") is not None
    text, pieces = "", list[tuple[int, int]]()
    for word in argv[2:3] if is_script else argv:
        bare = is_script or _SAFE.fullmatch(word.text or "") is not None
        text += (" " if text else "") + ("" if bare else "'")
        # One piece per character: an escape is longer than what it stands for.
        for match in _JSON_CHARACTER.finditer(word.raw):
            pieces.append((len(text), word.span.start + match.start()))
            char = _unescaped(match[0])
            text += char if bare or char != "'" else "'\\''"
        text += "" if bare else "'"
    return Fragment(tree.fragment.source, text, _language(name) if is_script else "shell", pieces)


def _unescaped(character: str) -> str:
    try:
        return str(json.loads(f'"{character}"')) if character.startswith("\\") else character
    except ValueError:
        return character

"""The comments of a text and the stretches its statements take up, as its own language sees them.

A `#` in a string, a here-document or a block scalar begins no comment; code inside code (`python3 - <<EOF`, the shell
line of a RUN) has its own.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_DEPTH = 3  # code inside code inside code
_LINE_END = regex(r"\r\n|\r")
_HASH = regex(r"#[^\r\n]*")
_QUOTED = r"\"(?:\\.|[^\"\\\r\n])*\"|'(?:\\.|[^'\\\r\n])*'|`(?:\\.|[^`\\])*`"
_SLASH = regex(rf"(?:{_QUOTED})|(?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL)
_DASHES = regex(r"(?:'(?:''|[^'])*'|\"[^\"\r\n]*\")|(?P<comment>--[^\r\n]*)")
_MARKUP = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BLOCK_START = regex(r"\s*(?:$|[-*+>|#]|\d+[.)]\s|```|~~~|<)")
# Shell statements that hold others: a comment above one speaks of its first line only.
_COMPOUND = {
    "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement", "subshell",
    "function_definition", "compound_statement", "do_group",
}  # fmt: skip
_STATEMENTS = {
    "command", "redirected_statement", "pipeline", "list", "declaration_command", "unset_command", "test_command",
    "variable_assignment", "variable_assignments", "negated_command",
}  # fmt: skip


@dataclass
class Layout:
    """Comments as fragments of the text they stand in, and the spans of statements (some inside others)."""

    comments: list[Fragment] = field(default_factory=list)
    statements: list[Span] = field(default_factory=list)

    def comment(self, fragment: Fragment, start: int, end: int) -> None:
        end = start + len(fragment.text[start:end].rstrip("\r\n"))
        self.comments.append(fragment.slice(start, end, "comment"))

    def statement(self, fragment: Fragment, start: int, end: int) -> None:
        if end > start:
            self.statements.append(fragment.span(start, end))


def layout(fragment: Fragment, style: str, depth: int = 0) -> Layout:
    """The layout of a text: by its language where there is a parser for it, else by the comment style of its file."""
    out = Layout()
    reader = _READERS.get(fragment.language)
    if reader is not None:
        reader(fragment, out, depth)
    else:
        _STYLES[style](fragment, out)
    return out


def _python(fragment: Fragment, out: Layout, depth: int) -> None:
    index = fragment.index
    start: int | None = None
    read = 1  # the line up to which the tokens tell
    lines = io.StringIO(_LINE_END.sub("\n", fragment.text))
    try:
        for token in tokenize.generate_tokens(lines.readline):
            read = token.end[0]
            begin, end = (index.offset(line, column + 1) for line, column in (token.start, token.end))
            if token.type == tokenize.COMMENT:
                out.comment(fragment, begin, end)
            elif token.type == tokenize.NEWLINE:
                if start is not None:
                    out.statement(fragment, start, begin)
                start = None
            elif start is None and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                start = begin
    except (tokenize.TokenError, SyntaxError):
        for match in _HASH.finditer(fragment.text, index.offset(read + 1)):
            out.comment(fragment, *match.span())


def _shell(fragment: Fragment, out: Layout, depth: int) -> None:
    from scenlint.source import shell
    from scenlint.source.shell.build import syntax

    fragment, tree = syntax(fragment)
    char = fragment.index.char
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            out.comment(fragment, char(node.start_byte), char(node.end_byte))
        elif node.type in _STATEMENTS and not _holds_compound(node):
            out.statement(fragment, char(node.start_byte), char(node.end_byte))
        waiting += node.children
    if depth < _DEPTH:
        for command in shell.parse(fragment).commands:
            for code in (command.inline, command.heredoc):
                if code is not None and code.language in _READERS:
                    _join(out, layout(code, "#", depth + 1))


def _holds_compound(node: Tree) -> bool:
    waiting = [*node.children]
    while waiting:
        inner = waiting.pop()
        if inner.type in _COMPOUND:
            return True
        if inner.type not in ("command_substitution", "process_substitution"):
            waiting += inner.children
    return False


def _dockerfile(fragment: Fragment, out: Layout, depth: int) -> None:
    from scenlint.source import dockerfile
    from scenlint.source.dockerfile.tree import Tree, below

    tree = Tree(fragment)
    for node in below(tree.root, "comment"):
        out.comment(fragment, *tree.bounds(node))
    for node in tree.root.children:
        if node.type.endswith("_instruction"):
            begin, end = tree.bounds(node)
            out.statement(fragment, begin, begin + len(fragment.text[begin:end].rstrip()))
    for stage in dockerfile.parse(fragment).stages:
        for code in (script for i in stage.instructions for script in i.scripts):
            if code.language in _READERS and depth < _DEPTH:
                _join(out, layout(code, "#", depth + 1))


def _yaml(fragment: Fragment, out: Layout, depth: int) -> None:
    import yaml

    text = fragment.text
    at, opened = 0, list[int]()
    try:
        for token in yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            begin, end = token.start_mark.index, token.end_mark.index
            if isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken):
                opened.append(begin)
            elif isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken) and opened:
                out.statement(fragment, opened.pop(), end)
            elif isinstance(token, yaml.ScalarToken):
                header = text.find("\n", begin) if token.style in ("|", ">") else begin
                _hashes(fragment, out, at, max(header, begin))
                at = end
                out.statement(fragment, begin, begin + len(text[begin:end].rstrip()))
    except (yaml.YAMLError, ValueError):
        pass  # what was read before holds; the rest is looked through line by line
    _hashes(fragment, out, at, len(text))


def _hashes(fragment: Fragment, out: Layout, start: int, end: int) -> None:
    """The comments in a stretch without strings."""
    for match in _HASH.finditer(fragment.text, start, max(start, end)):
        if match.start() == 0 or fragment.text[match.start() - 1].isspace():
            out.comment(fragment, *match.span())


def _toml(fragment: Fragment, out: Layout, depth: int) -> None:
    from scenlint.source.toml_reader import syntax

    char = fragment.index.char
    waiting = [syntax(fragment.index)]
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            out.comment(fragment, char(node.start_byte), char(node.end_byte))
        elif node.type == "pair":
            out.statement(fragment, char(node.start_byte), char(node.end_byte))
        waiting += node.children


def _markdown(fragment: Fragment, out: Layout, depth: int) -> None:
    from scenlint.source.markdown import Part, parse

    code = [(b.start, b.end) for b in parse(fragment).of(Part.CODE)]
    for match in _MARKUP.finditer(fragment.text):
        if not any(begin <= match.start() < end for begin, end in code):
            out.comment(fragment, *match.span())
    index, first = fragment.index, None
    for line in range(1, len(index.starts) + 2):
        if first is not None and _BLOCK_START.match(index.line_text(line)):
            out.statement(fragment, index.offset(first), index.offset(line) - 1)
            first = None
        if first is None and index.line_text(line).strip():
            first = line


def _by_pattern(pattern: re.Pattern[str]) -> Callable[[Fragment, Layout], None]:
    def read(fragment: Fragment, out: Layout) -> None:
        for match in pattern.finditer(fragment.text):
            if not pattern.groups or match["comment"]:
                out.comment(fragment, *match.span())

    return read


def _join(out: Layout, other: Layout) -> None:
    out.comments += other.comments
    out.statements += other.statements


_READERS: dict[str, Callable[[Fragment, Layout, int], None]] = {
    "python": _python, "shell": _shell, "dockerfile": _dockerfile, "yaml": _yaml, "toml": _toml, "markdown": _markdown,
}  # fmt: skip
_STYLES = {"#": _by_pattern(_HASH), "//": _by_pattern(_SLASH), "--": _by_pattern(_DASHES), "<!--": _by_pattern(_MARKUP)}

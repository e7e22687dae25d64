"""Inline suppressions: `scenlint: ignore[rule-name] reason` in the comments of a task's files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scenlint.source.comments import Layout, layout
from scenlint.source.files import FileTree
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Source, Span

_MARK = "scenlint:"
_REACH = 20  # lines that a comment may stand above what it speaks of
_SHEBANG = regex(r"#![^\r\n]*?\b(python|bash|sh|dash|zsh|ksh)\b")
COMMENT_LIMIT = 512 * 1024  # a larger file is data, whatever its name says
_HASH = {
    ".py", ".sh", ".bash", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".rb", ".pl", ".r", ".jl", ".ps1",
    ".dockerfile", ".dockerignore", ".env", ".tf", ".mk", "",
}  # fmt: skip
_SLASH = {
    ".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", ".go", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".kt", ".jsonc",
}  # fmt: skip
_MARKUP = {".md", ".markdown", ".html", ".xml"}
_DASHES = {".sql", ".lua", ".hs"}

# The reason ends with the comment.
_COMMENT = regex(
    r"(?:#+|//+|/\*+|<!--|--)\s*scenlint:\s*(?P<what>ignore(?:-file)?)\s*(?:\[(?P<rules>[^\]\r\n]*)\])?[ \t]*"
    r"(?P<reason>[^\r\n]*?)\s*(?:-->|\*/)?$"
)
_LANGUAGES = {
    ".py": "python", ".sh": "shell", ".bash": "shell", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
    ".md": "markdown", ".markdown": "markdown", ".dockerfile": "dockerfile",
}  # fmt: skip


@dataclass
class Suppression:
    """One comment: the rules it names (with their spans), its reason, the lines it covers (None: the whole file)."""

    span: Span
    rules: list[tuple[str, Span]]
    reason: str
    lines: tuple[int, int] | None
    used: set[str] = field(default_factory=set)  # the names of `rules` that suppressed something

    def covers(self, path: object, first: int, last: int) -> bool:
        """Whether it stands in the file and on (or right above) lines first..last."""
        if path != self.span.source.path:
            return False
        return self.lines is None or (self.lines[0] <= last and first <= self.lines[1])


def comment_style(path: str) -> str | None:
    """The comment syntax of a file, by its name: "#", "//", "<!--", "--"; None where it has none."""
    name = posixpath.basename(path)
    suffix = posixpath.splitext(name)[1].lower()
    if "dockerfile" in name.lower() or name.lower() == "makefile":
        return "#"
    for style, suffixes in (("#", _HASH), ("//", _SLASH), ("<!--", _MARKUP), ("--", _DASHES)):
        if suffix in suffixes:
            return style
    return None


def find_suppressions(files: FileTree, embedded: Iterable[Fragment] = ()) -> list[Suppression]:
    """All suppressions in the comments of the files, in file order; `embedded` is code that stands in other texts."""
    out: list[Suppression] = []
    for entry in list(files):
        style = comment_style(entry.path)
        if style and not entry.problem and 0 < entry.size <= COMMENT_LIMIT:
            source = files.read(entry.path)
            if source and not source.binary and _MARK in source.text:
                out.extend(_in_text(source.fragment(_language(source)), style))
    for fragment in embedded:
        if _MARK in fragment.text:
            out.extend(_in_text(fragment, "#"))
    return list({(s.span.source.path, s.span.start): s for s in out}.values())


def suppressions_in(source: Source) -> list[Suppression]:
    """Those in one file, by its name."""
    style = comment_style(source.path.name)
    return list(_in_text(source.fragment(_language(source)), style)) if style else []


def _language(source: Source) -> str:
    name = source.path.name.lower()
    known = _LANGUAGES.get(source.path.suffix.lower())
    if known is None and ("dockerfile" in name or "containerfile" in name):
        return "dockerfile"
    if known is None and (first := _SHEBANG.match(source.text)):
        return "python" if first[1] == "python" else "shell"
    return known or "text"


def _in_text(fragment: Fragment, style: str) -> Iterator[Suppression]:
    """The suppressions of one text. A comment on lines of its own covers the statement below it, else its own."""
    if fragment.language in ("data", "json"):
        return
    parts = layout(fragment, style)
    comments = sorted((c.span() for c in parts.comments), key=lambda span: span.start)
    for comment in parts.comments:
        match = _COMMENT.search(comment.text)
        if match is None:
            continue
        span = comment.span(*match.span())
        rules = []
        if match["rules"]:
            for part in re.finditer(r"[^,\s]+", match["rules"]):
                begin = match.start("rules") + part.start()
                rules.append((part[0], comment.span(begin, begin + len(part[0]))))
        lines = None if match["what"] == "ignore-file" else _covered(span, comments, parts)
        yield Suppression(span, rules, match["reason"].strip(), lines)


def _covered(span: Span, comments: Sequence[Span], parts: Layout) -> tuple[int, int]:
    """The lines that a comment speaks of."""
    source, first, last = span.source, span.line, span.end_line
    before = source.text[source.index.offset(first) : span.start]
    if before.strip():  # behind something: the smallest statement that ends there
        ending = [s for s in parts.statements if s.end_line == first and s.start < span.start]
        return min((last - s.line, s.line) for s in ending)[1] if ending else first, last
    below = _next_line(source, last, comments)
    if below is None:
        return first, last
    begun = [s.end_line for s in parts.statements if s.line == below and s.start > span.start]
    return first, max([below, *begun])


def _next_line(source: Source, line: int, comments: Sequence[Span]) -> int | None:
    """The next line that is neither blank nor taken up by comments."""
    index = source.index
    for at in range(line + 1, min(line + _REACH, len(index.starts)) + 1):
        begin, text = index.offset(at), index.line_text(at)
        for comment in comments:
            if comment.start < begin + len(text) and comment.end > begin:
                left, right = max(comment.start - begin, 0), comment.end - begin
                text = text[:left] + " " * (right - left) + text[right:]
        if text.strip():
            return at
    return None

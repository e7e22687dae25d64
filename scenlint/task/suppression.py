"""Inline suppressions: `scenlint: ignore[rule-name] reason` in the comments of a task's files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from scenlint.source.files import FileTree
from scenlint.source.regex import regex
from scenlint.source.text import Source, Span

COMMENT_LIMIT = 512 * 1024  # a larger file is data, whatever its name says
_HASH = {
    ".py", ".sh", ".bash", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".rb", ".pl", ".r", ".jl", ".ps1",
    ".dockerfile", ".dockerignore", ".env", ".tf", ".mk", "",
}  # fmt: skip
_SLASH = {
    ".js",
    ".ts",
    ".mjs",
    ".cjs",
    ".jsx",
    ".tsx",
    ".go",
    ".rs",
    ".java",
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".kt",
    ".jsonc",
}
_MARKUP = {".md", ".markdown", ".html", ".xml"}
_DASHES = {".sql", ".lua", ".hs"}

# The reason ends with the comment: at the line's end, or at `-->` in markup. `\r` must not hide it (CRLF files).
_BODY = r"scenlint:\s*(?P<what>ignore(?:-file)?)\s*(?:\[(?P<rules>[^\]\r\n]*)\])?[ \t]*(?P<reason>[^\r\n]*?)[ \t]*"
_PATTERNS = {
    "#": regex(r"#+[ \t]*" + _BODY + r"(?=\r?$)", re.MULTILINE),
    "//": regex(r"(?://+|/\*)[ \t]*" + _BODY + r"(?:\*/)?(?=\r?$)", re.MULTILINE),
    "<!--": regex(r"<!--\s*" + _BODY + r"\s*-->"),
    "--": regex(r"--[ \t]*" + _BODY + r"(?=\r?$)", re.MULTILINE),
}


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


def find_suppressions(files: FileTree) -> list[Suppression]:
    """All suppressions in the comments of the files, in file order."""
    out: list[Suppression] = []
    for entry in list(files):
        style = comment_style(entry.path)
        if style and not entry.problem and 0 < entry.size <= COMMENT_LIMIT:
            source = files.read(entry.path)
            if source and not source.binary and "scenlint:" in source.text:
                out.extend(_in_source(source, _PATTERNS[style]))
    return out


def _in_source(source: Source, pattern: re.Pattern[str]) -> Iterator[Suppression]:
    for match in pattern.finditer(source.text):
        rules = []
        if match["rules"]:
            for part in re.finditer(r"[^,\s]+", match["rules"]):
                begin = match.start("rules") + part.start()
                rules.append((part[0], source.span(begin, begin + len(part[0]))))
        first, last = (source.index.position(at)[0] for at in (match.start(), match.end()))
        alone = not source.text[source.index.offset(first) : match.start()].strip()
        lines = None if match["what"] == "ignore-file" else (first, _next_line(source, last) if alone else last)
        yield Suppression(source.span(match.start(), match.end()), rules, match["reason"].strip(), lines)


def _next_line(source: Source, line: int) -> int:
    """The next line that is neither blank nor a comment: what a comment on a line of its own speaks of."""
    for at in range(line + 1, min(line + 20, len(source.index.starts)) + 1):
        text = source.index.line_text(at).strip()
        if text and not text.startswith(("#", "//", "<!--", "--")):
            return at
        if text.startswith(("# ", "#")) and source.path.suffix == ".md":
            return at  # a Markdown heading, not a comment
    return line

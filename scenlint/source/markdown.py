"""Markdown (and plain text) as blocks and inline marks, each with its exact place in the fragment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span

PARSE_LIMIT = 300_000  # characters; a longer brief is parsed up to here
_FRONT_MATTER = regex(r"---[ \t]*\r?\n(?=[\w.\-]+[ \t]*:)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_CODE = regex(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_BOLD = regex(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.S)
_URL = regex(r"\b[a-z][a-z0-9+.\-]{1,15}://[^\s<>()\[\]`'\"，。；）]+", re.I)
_QUOTE = regex(r"“([^”\n]{1,300})”|「([^」\n]{1,300})」|\"([^\"\n]{1,300})\"|(?<![\w'])'([^'\n]{1,300})'(?!\w)")


class Part(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"  # fenced or indented
    TABLE = "table"
    COMMENT = "comment"
    FRONT_MATTER = "front matter"
    HTML = "html"


@dataclass(frozen=True)
class Block:
    """One block. `text` is fragment.text[start:end]; an item's has no marker and no nested list, code no fence."""

    part: Part
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()  # the headings above it, bold lines that act as one included
    depth: int = 0  # a heading's level; an item's nesting, 0 at the top
    number: int | None = None  # a numbered item's number as written
    marker: str = ""  # an item's "-", "*", "+", "." or ")"
    info: str = ""  # a fence's info string
    lead: str = ""  # an item's: the sentence that stands before its list, colon kept
    group: int = -1  # which list the item belongs to
    parent: int | None = None  # an item's: position in `blocks` of the item it is nested in

    @property
    def line(self) -> str:
        """The text as one line."""
        return " ".join(self.text.split())


@dataclass(frozen=True)
class Inline:
    """A mark inside a block: `text` without the marks themselves, which is fragment.text[start:end]."""

    text: str
    start: int
    end: int


class Markdown:
    """A parsed fragment. Inline marks are looked for in prose (paragraphs, items, headings, tables), never in code."""

    def __init__(self, fragment: Fragment, blocks: list[Block]) -> None:
        self.fragment = fragment
        self.blocks = blocks

    def span(self, part: Block | Inline) -> Span:
        """Where it stands in the file."""
        return self.fragment.span(part.start, part.end)

    def of(self, *parts: Part) -> list[Block]:
        """The blocks of the given kinds, in order."""
        return [b for b in self.blocks if b.part in parts]

    @property
    def prose(self) -> list[Block]:
        return self.of(Part.HEADING, Part.PARAGRAPH, Part.ITEM, Part.TABLE)

    @property
    def text(self) -> str:
        """What is left to read without front matter and comments."""
        kept, at = [], 0
        for block in sorted(self.of(Part.COMMENT, Part.FRONT_MATTER), key=lambda b: b.start):
            kept.append(self.fragment.text[at : max(at, block.start)])
            at = max(at, block.end)
        return "".join([*kept, self.fragment.text[at:]])

    @cached_property
    def code_spans(self) -> list[Inline]:
        return self._find(_CODE, 2, inside_code=True)

    @cached_property
    def bold(self) -> list[Inline]:
        return self._find(_BOLD, 2)

    @cached_property
    def urls(self) -> list[Inline]:
        found = self._find(_URL, 0, inside_code=True)
        return [replace(u, text=t, end=u.start + len(t)) for u in found if (t := u.text.rstrip(".,;:!?*_"))]

    @cached_property
    def quotes(self) -> list[Inline]:
        """Quoted words: straight or curly double quotes, single quotes, corner brackets."""
        return self._find(_QUOTE, None)

    def _find(self, pattern: re.Pattern[str], group: int | None, inside_code: bool = False) -> list[Inline]:
        found = []
        for block in self.prose:
            text = block.text
            if not inside_code:
                text = _CODE.sub(lambda m: " " * len(m.group()), text)
            for match in pattern.finditer(text):
                which = match.lastindex or 0 if group is None else group
                start, end = match.span(which)
                found.append(Inline(block.text[start:end], block.start + start, block.start + end))
        return found


def parse(fragment: Fragment) -> Markdown:
    """Parse once; plain text is read the same way, since authors write lists in it too."""
    return fragment.memo("markdown", lambda: _parse(fragment))


def _parse(fragment: Fragment) -> Markdown:
    from scenlint.source.markdown_reader import read_blocks

    text = fragment.text[:PARSE_LIMIT]
    blocks: list[Block] = []
    if front := _FRONT_MATTER.match(text):
        blocks.append(Block(Part.FRONT_MATTER, 0, front.end(), front.group()))
        # Blanked rather than cut, so that lines and offsets stay what they are.
        text = re.sub(r"[^\r\n]", " ", front.group()) + text[front.end() :]
    blocks += read_blocks(fragment, text)
    return Markdown(fragment, blocks)


def rows(table: Block) -> Iterator[list[str]]:
    """The cells of a table, row by row, the line of dashes left out."""
    for line in table.text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if not all(re.fullmatch(r":?-+:?", c) for c in cells):
            yield cells

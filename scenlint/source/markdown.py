"""Markdown (and plain text) as blocks and inline marks, each with its exact place in the fragment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PARSE_LIMIT = 300_000  # characters; a longer brief is parsed up to here
_FRONT_MATTER = regex(r"---[ \t]*\r?\n(?=[\w.\-]+[ \t]*:)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_COMMENT = regex(r"<!--(.*?)(?:-->|\Z)", re.S)
_CODE = regex(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_BOLD = regex(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.S)
_URL = regex(r"\b[a-z][a-z0-9+.\-]{1,15}://[^\s<>()\[\]`'\"，。；）]+", re.I)
_QUOTE = regex(r"“([^”\n]{1,300})”|「([^」\n]{1,300})」|\"([^\"\n]{1,300})\"|(?<![\w'])'([^'\n]{1,300})'(?!\w)")
_TITLE = regex(r"^(?:\*\*|__)([^*\n]{1,80}?)(?:\*\*|__)[ \t]*[:：]?[ \t]*$", re.M)
_EMPHASIS = regex(r"[*`#]+|(?<!\w)_+|_+(?!\w)")
_SENTENCE_END = regex(r"(?<=[.!?。！？])\s+|\n")


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
    text = fragment.text[:PARSE_LIMIT]
    blocks: list[Block] = []
    if front := _FRONT_MATTER.match(text):
        blocks.append(Block(Part.FRONT_MATTER, 0, front.end(), front.group()))
        # Blanked rather than cut, so that lines and offsets stay what they are.
        text = re.sub(r"[^\r\n]", " ", front.group()) + text[front.end() :]
    blocks += _Builder(fragment, text).build(_parser().parse(text))
    return Markdown(fragment, blocks)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


class _Builder:
    """Turns markdown-it's tokens, which know lines only, into blocks with offsets."""

    def __init__(self, fragment: Fragment, text: str) -> None:
        self.fragment = fragment
        self.text = text
        self.blocks: list[Block] = []
        self.titles: list[tuple[int, str]] = []  # (level, text); 7 for a bold line, which ends no real heading
        self.lead = ""
        self.items: list[int | None] = []  # per open item: its position in `blocks` once its text is known
        self.lists: list[tuple[int, str]] = []  # per open list: (its group, its lead)
        self.groups = 0

    def build(self, tokens: Sequence[Token]) -> list[Block]:
        open_items: list[Token] = []
        for at, token in enumerate(tokens):
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self.lists.append((self.groups, self.lead))
                    self.groups += 1
                case "bullet_list_close" | "ordered_list_close":
                    # A list right after another one (broken by a wrong indent, say) is introduced by the same words.
                    _, self.lead = self.lists.pop()
                case "list_item_open":
                    open_items.append(token)
                    self.items.append(None)
                case "list_item_close":
                    open_items.pop()
                    self.items.pop()
                case "fence" | "code_block":
                    self.code(token)
                case "html_block":
                    self.html(token)
                case "table_open":
                    self.add(Part.TABLE, *self.lines(token))
                case "inline" if tokens[at - 1].type == "heading_open":
                    self.heading(token, int(tokens[at - 1].tag[1:]))
                case "inline" if tokens[at - 1].type == "paragraph_open":
                    self.paragraph(token, open_items[-1] if open_items else None)
        return self.blocks

    def add(self, part: Part, start: int, end: int, **more: Any) -> int:
        titles = tuple(t for _, t in self.titles)
        self.blocks.append(Block(part, start, end, self.fragment.text[start:end], titles, **more))
        return len(self.blocks) - 1

    def lines(self, token: Token) -> tuple[int, int]:
        """Offsets of the token's lines without the last line end."""
        first, after = token.map or [0, 0]
        index, last = self.fragment.index, max(after, first + 1)
        return index.offset(first + 1), index.offset(last) + len(index.line_text(last))

    def content(self, token: Token) -> tuple[int, int]:
        """Offsets of an inline token's text: its first and last line are found in the lines it came from."""
        first, after = token.map or [0, 0]
        index, lines = self.fragment.index, token.content.split("\n")
        start = index.offset(first + 1)
        start += max(index.line_text(first + 1).find(lines[0]), 0)
        last = max(after, first + len(lines), first + 1) if after <= first else first + len(lines)
        line = index.line_text(last)[: max(len(self.text) - index.offset(last), 0)].rstrip()
        # Where it ends the line it need not be searched for, which is slow in a line of a million characters.
        at = len(line) - len(lines[-1]) if line.endswith(lines[-1]) else max(line.rfind(lines[-1]), 0)
        end = index.offset(last) + at + len(lines[-1])
        return start, max(start, min(end, len(self.text)))

    def heading(self, token: Token, level: int) -> None:
        start, end = self.content(token)
        self.titles = [t for t in self.titles if t[0] < level]
        self.add(Part.HEADING, start, end, depth=level)
        self.titles.append((level, _plain(token.content)))
        self.lead = ""

    def paragraph(self, token: Token, item: Token | None) -> None:
        start, end = self.content(token)
        if item is not None:
            self.item(token, item, start, end)
        else:
            if titles := _TITLE.findall(token.content):
                self.titles = [t for t in self.titles if t[0] < 7]
                self.titles.append((7, _plain(titles[-1])))
            self.add(Part.PARAGRAPH, start, end)
        self.lead = _last_sentence(token.content)
        for found in _COMMENT.finditer(self.text, start, end):
            self.add(Part.COMMENT, *found.span())

    def item(self, token: Token, item: Token, start: int, end: int) -> None:
        known = self.items[-1]
        if known is not None:  # a further paragraph of the same item, unless a nested list came between
            if known == len(self.blocks) - 1:
                first = self.blocks[known]
                self.blocks[known] = replace(first, end=end, text=self.fragment.text[first.start : end])
            else:
                self.add(Part.PARAGRAPH, start, end)
            return
        group, lead = self.lists[-1]
        outer = next((n for n in reversed(self.items[:-1]) if n is not None), None)
        self.items[-1] = self.add(
            Part.ITEM,
            start,
            end,
            depth=len(self.lists) - 1,
            number=int(item.info) if item.info.isdigit() else None,
            marker=item.markup,
            lead=lead,
            group=group,
            parent=outer,
        )

    def code(self, token: Token) -> None:
        start, end = self.lines(token)
        if token.type == "fence":
            lines = self.text[start:end].splitlines(keepends=True)
            closed = len(lines) > 1 and lines[-1].strip().startswith(token.markup)
            end -= len(lines[-1]) if closed else 0
            start = min(start + len(lines[0]), end) if lines else start
        self.add(Part.CODE, start, end, info=token.info.strip(), lead=self.lead)

    def html(self, token: Token) -> None:
        start, end = self.lines(token)
        at = start
        for found in _COMMENT.finditer(self.text, start, end):
            if self.text[at : found.start()].strip():
                self.add(Part.HTML, at, found.start())
            self.add(Part.COMMENT, *found.span())
            at = found.end()
        if self.text[at:end].strip():
            self.add(Part.HTML, at, end)


def _plain(text: str) -> str:
    """Without emphasis, code marks and a closing colon."""
    return _EMPHASIS.sub("", text).strip().rstrip(":：").strip()


def _last_sentence(text: str) -> str:
    last = _SENTENCE_END.split(text.strip())[-1].strip("*_ ")
    return _plain(last) + (":" if last.endswith((":", "：")) else "")


def rows(table: Block) -> Iterator[list[str]]:
    """The cells of a table, row by row, the line of dashes left out."""
    for line in table.text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if not all(re.fullmatch(r":?-+:?", c) for c in cells):
            yield cells

"""Reads Markdown's blocks: markdown-it knows lines only, here they get offsets, their headings and their lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from scenlint.source.markdown import Block, Part
from scenlint.source.regex import regex
from scenlint.source.text import Fragment

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_COMMENT = regex(r"<!--(.*?)(?:-->|\Z)", re.S)
_TITLE = regex(r"^(?:\*\*|__)([^*\n]{1,80}?)(?:\*\*|__)[ \t]*[:：]?[ \t]*$", re.M)
_EMPHASIS = regex(r"[*`#]+|(?<!\w)_+|_+(?!\w)")
_SENTENCE_END = regex(r"(?<=[.!?。！？])\s+|\n")


def read_blocks(fragment: Fragment, text: str) -> list[Block]:
    """The blocks of a text, which is the fragment's or a stretch of its beginning."""
    return _Builder(fragment, text).build(_parser().parse(text))


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

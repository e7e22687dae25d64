"""Places and edits in a text as the protocol counts them: lines from 0, columns in the units the client asked for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from lsprotocol import types

from scenlint.source.text import Source
from scenlint.task.finding import Location

_UTF8, _UTF32 = types.PositionEncodingKind.Utf8.value, types.PositionEncodingKind.Utf32.value
_DIFF_LINES = 4000  # lines that a difference is looked for in; more are replaced as a whole


class Places:
    """The places of one text. `encoding` is what the client counts columns in: utf-16, utf-8 or utf-32."""

    def __init__(self, source: Source, encoding: str) -> None:
        self.source, self.encoding = source, encoding

    def position(self, offset: int) -> types.Position:
        line, column = self.source.index.position(offset)
        return types.Position(line - 1, self._units(self.source.index.line_text(line)[: column - 1]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def of(self, location: Location) -> types.Range:
        """The range of a location; what has no width is drawn to the end of its line."""
        index = self.source.index
        start = index.offset(location.line, location.column)
        end = index.offset(location.end_line, location.end_column)
        if end <= start:
            end = index.offset(location.line) + len(index.line_text(location.line))
        return self.range(start, end)

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == _UTF32:
            return len(text)
        if self.encoding == _UTF8:
            return len(text.encode("utf-8", "replace"))
        return len(text) + sum(char > "\uffff" for char in text)


def edits(before: Source, after: Source, encoding: str) -> list[types.TextEdit]:
    """What makes the one text of the other: the lines that differ, in order."""
    places = Places(before, encoding)
    return [types.TextEdit(places.range(start, end), text) for start, end, text in _changes(before, after)]


def _changes(before: Source, after: Source) -> Iterator[tuple[int, int, str]]:
    old, new = _lines(before), _lines(after)
    head = _same(old, new)
    tail = min(_same(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    mine, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    codes = [("replace", 0, len(mine), 0, len(theirs))]
    if max(len(mine), len(theirs)) <= _DIFF_LINES:
        codes = [*SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()]
    starts = [*before.index.starts, len(before.text)]
    for tag, i1, i2, j1, j2 in codes:
        if tag != "equal":
            yield starts[head + i1], starts[head + i2], "".join(theirs[j1:j2])


def _same(one: list[str], other: list[str]) -> int:
    """How many of the first lines are the same."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _lines(source: Source) -> list[str]:
    starts = source.index.starts
    return [source.text[a:b] for a, b in zip(starts, [*starts[1:], len(source.text)], strict=True)]

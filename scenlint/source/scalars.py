"""Strings as JSON, TOML and YAML write them, undone with the place of every character."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex

Pieces = list[tuple[int, int]]

_BREAK = r"(?:\r\n|\n|\r)"
_FOLD = regex(rf"[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*")
_ONE_BREAK = regex(_BREAK)
_HEX = r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
_JSON = regex(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(?:u[0-9a-fA-F]{4}|.)")
_TOML = regex(rf"\\[ \t]*{_BREAK}\s*|\\(?:{_HEX}|.)|\r\n")
_DOUBLE = regex(rf"\\{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*|\\(?:{_HEX}|.)|{_FOLD.pattern}")
_SINGLE = regex(rf"''|{_FOLD.pattern}")
_HEADER = regex(rf"[|>]([+-]?)([1-9]?)([+-]?)[^\r\n]*{_BREAK}?")
_LINE = regex(rf"([^\r\n]*)({_BREAK}|$)")

_ESCAPES = {
    "json": {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"},
    "toml": {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "e": "\x1b"},
    '"': {
        "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
        "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
    },
}  # fmt: skip


class Undone:
    """A string put together from stretches of the raw text and from what its escapes mean, with the place of each."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.parts: list[str] = []
        self.pieces: Pieces = []
        self.length = 0
        self._next = -1  # offset in the raw text that would go on with the last piece

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def copy(self, start: int, end: int) -> None:
        """A stretch that stands for itself."""
        if start >= end:
            return
        if start != self._next:
            self.pieces.append((self.length, start))
        self.parts.append(self.raw[start:end])
        self.length += end - start
        self._next = end

    def put(self, text: str, at: int) -> None:
        """Text that something else at an offset stands for: each of its characters leads there."""
        for char in text:
            if self.raw[at : at + 1] == char:
                self.copy(at, at + 1)
                continue
            self.pieces.append((self.length, at))
            self.parts.append(char)
            self.length += 1
            self._next = -1


def undo(raw: str, style: str, value: str) -> tuple[str, Pieces]:
    """The string that `raw` writes and where its characters stand there; `value` is what the language's parser made."""
    for out in _readings(raw, style):
        if out.text == value:
            return value, out.pieces or [(0, _opening(raw, style))]
    # A corner of the grammar not covered above: right text, places right by the line.
    return value, _align(raw, value)


def _opening(raw: str, style: str) -> int:
    return 1 if style in ("'", '"', "json", "toml") and raw else 0


def _readings(raw: str, style: str) -> Iterator[Undone]:
    if style in ("|", ">"):
        yield from _block(raw, folded=style == ">")
    elif style == "toml":
        yield _toml(raw)
    elif style == "json":
        yield _replace(raw, 1, len(raw) - 1, _JSON, "json")
    elif style == '"':
        yield _replace(raw, 1, len(raw) - 1, _DOUBLE, '"')
    elif style == "'":
        yield _replace(raw, 1, len(raw) - 1, _SINGLE, "'")
    elif style == "plain":
        yield _replace(raw, 0, len(raw), _FOLD, "")
    else:
        out = Undone(raw)
        out.copy(0, len(raw))
        yield out


def _toml(raw: str) -> Undone:
    quotes = 3 if raw[:3] in ('"""', "'''") and len(raw) >= 6 else 1
    start = quotes
    if quotes == 3 and (first := _ONE_BREAK.match(raw, start)):
        start = first.end()
    pattern = _TOML if raw[:1] == '"' else re.compile(r"\r\n")
    return _replace(raw, start, len(raw) - quotes, pattern, "toml")


def _replace(raw: str, start: int, end: int, pattern: re.Pattern[str], style: str) -> Undone:
    out = Undone(raw)
    for match in pattern.finditer(raw, start, max(start, end)):
        out.copy(start, match.start())
        out.put(_meaning(match.group(), style), match.start())
        start = match.end()
    out.copy(start, end)
    return out


def _meaning(found: str, style: str) -> str:
    if found == "''" and style == "'":
        return "'"
    if not found.startswith("\\"):  # a line end, alone or folded
        breaks = len(_ONE_BREAK.findall(found))
        return "\n" if style == "toml" else " " if breaks == 1 else "\n" * (breaks - 1)
    body = found[1:]
    if body[0] in " \t\r\n" and (breaks := len(_ONE_BREAK.findall(body))):
        return "" if style == "toml" else "\n" * (breaks - 1)
    if body[0] in "xuU" and len(body) > 1:
        if "\\" in body:
            high, low = (int(part, 16) for part in body[1:].split("\\u"))
            return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
        code = int(body[1:], 16)
        if 0xD800 <= code < 0xE000:
            return "\ufffd"  # half of a character, as the JSON reader takes it
        return chr(code) if code < 0x110000 else found
    return _ESCAPES[style].get(body, body)


def _block(raw: str, folded: bool) -> Iterator[Undone]:
    """A YAML block scalar, read at every indentation that it may have (the parent's is not known here)."""
    header = _HEADER.match(raw)
    if header is None:
        return
    lines = [(m.group(1), m.start()) for m in _LINE.finditer(raw, header.end()) if m.start() < len(raw)]
    least = int(header.group(2) or 0)
    widths = sorted({len(text) - len(text.lstrip(" ")) for text, _ in lines if text.strip(" ")})
    # Without an indicator the first line with text decides.
    first = next((len(text) - len(text.lstrip(" ")) for text, _ in lines if text.strip(" ")), 0)
    candidates = range(least, (widths[-1] if widths else least) + 1) if least else [first]
    keep = "+" in (header.group(1), header.group(3))
    strip = "-" in (header.group(1), header.group(3))
    for indent in candidates:
        out = Undone(raw)
        _lines(out, lines, indent, folded)
        body = out.text
        content = len(body.rstrip("\n")) if not keep else len(body)
        if not keep and not strip and content < len(body) and content:
            content += 1
        yield _cut(out, content)


def _lines(out: Undone, lines: list[tuple[str, int]], indent: int, folded: bool) -> None:
    """The lines without their indentation, joined literally or folded as YAML 1.1 says."""
    before: tuple[str, int] | None = None  # the last line with text, and where it ends
    blank: list[int] = []
    for text, start in lines:
        if text[:indent].strip(" "):
            break  # less indented: a comment behind the scalar
        line = text[indent:]
        if not line:
            blank.append(start + len(text))
            continue
        if before and not (folded and before[0][0] not in " \t" and line[0] not in " \t"):
            out.put("\n", before[1])
        elif before and not blank:
            out.put(" ", before[1])
        for place in blank:
            out.put("\n", place)
        out.copy(start + indent, start + len(text))
        before, blank = (line, start + len(text)), []
    for place in [before[1], *blank] if before else blank:
        out.put("\n" if place < len(out.raw) else "", place)


def _cut(out: Undone, length: int) -> Undone:
    text = out.text
    out.parts, out.length = [text[:length]], min(length, len(text))
    out.pieces = [p for p in out.pieces if p[0] < length] or out.pieces[:1]
    return out


def _align(raw: str, value: str) -> Pieces:
    """Where the words of `value` stand in `raw`, as well as a search tells."""
    pieces: Pieces = [(0, _opening(raw, raw[:1]))]
    cursor = 0
    for word in re.finditer(r"\S+", value):
        found = raw.find(word.group(), cursor)
        if found >= 0:
            pieces.append((word.start(), found))
            cursor = found + len(word.group())
    return pieces[1:] if len(pieces) > 1 and pieces[1][0] == 0 else pieces

"""Text with exact positions: Source (a file), Span (a stretch of it), Fragment (text inside it), Edit.

Units: offsets count characters of the decoded text from 0; lines and columns count from 1, columns in characters;
`byte` offsets count bytes of the file as it lies on disk, byte order mark included.
"""

from __future__ import annotations

import codecs
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex

T = TypeVar("T")

_LINE_END = regex(r"\r\n|\n|\r")
_IDLE = regex(r"[ \t\f]*(?:#|$)")
_CODING = regex(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextIndex:
    """Line starts and UTF-8 offsets of one string, built when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """Offset of the first character of every line; `\\n`, `\\r\\n` and `\\r` end a line."""
        return [0, *(m.end() for m in _LINE_END.finditer(self.text))]

    @cached_property
    def utf8(self) -> bytes:
        """The text as UTF-8, which is what tree-sitter parses and counts in."""
        return self.text.encode("utf-8", "surrogateescape")

    @cached_property
    def _bytes(self) -> array[int] | None:
        """Byte offset of every character, or None where the two counts are the same."""
        if self.text.isascii():
            return None
        out, at = array("L"), 0
        for char in self.text:
            out.append(at)
            code = ord(char)
            # A surrogate stands for one byte that could not be decoded.
            at += 1 if code < 0x80 or 0xDC80 <= code <= 0xDCFF else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        out.append(at)
        return out

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int = 1) -> int:
        """Offset of a 1-based (line, column), kept inside the text."""
        if line > len(self.starts):
            return len(self.text)
        return min(self.starts[max(line, 1) - 1] + max(column, 1) - 1, len(self.text))

    def char(self, utf8_offset: int) -> int:
        """Character offset of an offset into `utf8`."""
        table = self._bytes
        return utf8_offset if table is None else bisect_right(table, utf8_offset) - 1

    def byte(self, offset: int) -> int:
        """Offset into `utf8` of a character offset."""
        table = self._bytes
        return offset if table is None else table[offset]

    def line_text(self, line: int) -> str:
        """One line without its line end; empty past the last line."""
        if not 1 <= line <= len(self.starts):
            return ""
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")


@dataclass(frozen=True)
class DecodeError:
    """Why a file is not text: byte offset on disk and 1-based position of the first bad byte."""

    byte: int
    line: int
    column: int
    reason: str


def _declared(path: Path, body: bytes) -> str | None:
    """The encoding that a Python file names in its first two lines (PEP 263), where the file can be read by it."""
    if path.suffix.lower() not in (".py", ".pyw"):
        return None
    lines = _LINE_END.split(body[:400].decode("latin-1"))[:2]
    named = _CODING.match(lines[0])
    if named is None and len(lines) > 1 and _IDLE.match(lines[0]):
        named = _CODING.match(lines[1])
    try:
        name = codecs.lookup(named[1]).name if named else None
        body.decode(name or "utf-8")
    except (LookupError, ValueError):  # unknown, no encoding of text, or not what the bytes are
        return None
    return name


class Source:
    """A file's text. Bytes that are no text are kept as surrogates, so every position stays exact."""

    def __init__(self, path: Path, data: bytes, *, truncated: bool = False) -> None:
        self.path = path
        self.truncated = truncated
        self.size = len(data)
        self._fragments: dict[str, Fragment] = {}
        mark, self.encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", ""))
        self.bom = len(mark)
        body = data[len(mark) :]
        self.encoding = self.encoding or _declared(path, body) or "utf-8"
        self.binary = not mark and b"\0" in body[:8192]
        self.error: DecodeError | None = None
        try:
            self.text = body.decode(self.encoding)
        except UnicodeDecodeError as exc:
            cut = truncated and exc.start >= len(body) - 4  # the limit fell inside a character
            before = body[: exc.start].decode(self.encoding, "replace")
            line, column = TextIndex(before).position(len(before))
            if not cut:
                self.error = DecodeError(self.bom + exc.start, line, column, exc.reason)
            keep = "surrogateescape" if self.encoding == "utf-8" else "replace"
            self.text = body.decode(self.encoding, keep)

    @cached_property
    def index(self) -> TextIndex:
        return TextIndex(self.text)

    def span(self, start: int = 0, end: int | None = None) -> Span:
        return Span(self, start, len(self.text) if end is None else end)

    def fragment(self, language: str) -> Fragment:
        """The whole text as a fragment; the same one each time, so that it is parsed once."""
        if language not in self._fragments:
            self._fragments[language] = Fragment.of(self, language)
        return self._fragments[language]

    def lines(self, first: int, last: int | None = None) -> Span:
        """The span of whole lines, line end excluded."""
        last = first if last is None else last
        return self.span(self.index.offset(first), self.index.offset(last) + len(self.index.line_text(last)))

    @cached_property
    def data(self) -> bytes:
        """The text as it lies on disk."""
        mark = next((m for m, e in _MARKS if e == self.encoding), b"") if self.bom else b""
        return mark + self.text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "replace")

    @cached_property
    def digest(self) -> str:
        """A hash of the file's bytes; "" where they were not all read, or the text does not give them back."""
        import hashlib

        lossy = self.error is not None and self.encoding != "utf-8"
        return "" if lossy or self.truncated else hashlib.sha256(self.data).hexdigest()

    def replaced(self, edits: Sequence[tuple[int, int, str]]) -> Source:
        """The file with (start, end, new text) put in, which are in order; new lines end as the file's first does."""
        parts, at = list[str](), 0
        for start, end, text in edits:
            parts += [self.text[at:start], text.replace("\n", self.newline)]
            at = end
        return self.replaced_by("".join([*parts, self.text[at:]]))

    def replaced_by(self, text: str) -> Source:
        """A file at the same place, in the same encoding, with another text."""
        out = Source(self.path, self.data[: self.bom])
        out.text = text
        out.size = len(out.data)
        return out

    @cached_property
    def newline(self) -> str:
        """How its first line ends."""
        first = _LINE_END.search(self.text)
        return first[0] if first else "\n"

    def byte(self, offset: int) -> int:
        """Byte offset on disk of a character offset."""
        if self.encoding == "utf-8":
            return self.bom + self.index.byte(offset)
        return self.bom + len(self.text[:offset].encode(self.encoding, "replace"))

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r}, {len(self.text)} characters)"


@dataclass(frozen=True)
class Span:
    """A stretch of a Source: character offsets [start, end)."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.index.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.index.position(self.start)[1]

    @property
    def end_line(self) -> int:
        return self.source.index.position(self.end)[0]

    @property
    def end_column(self) -> int:
        return self.source.index.position(self.end)[1]


@dataclass(frozen=True)
class Edit:
    """Replace a span by other text."""

    span: Span
    text: str


Writer = Callable[[str], str | None]

# What means itself in every quoting and markup that a fragment may stand in.
_PLAIN = regex(r"(?:[\w@./=,+()-]|(?<=\w):(?=\w)|(?<=[\w,]) (?=\w))*")


def write_as_is(text: str) -> str | None:
    """For text that stands in the file as it is."""
    return text


def write_plain(text: str) -> str | None:
    """For text whose quoting is not known: only what needs none."""
    return text if _PLAIN.fullmatch(text) else None


class Fragment:
    """Text of one language inside a Source, mapped back to it character by character.

    A whole file, a YAML scalar, a heredoc or a string in code: `text` is what the inner language sees (indentation and
    escapes removed), `span()` turns its offsets into a Span of the file. `pieces` are pairs (offset in text, offset in
    the file) of the runs that are copied unchanged, in order; the first begins at 0 unless the text is empty.
    `writer` writes text as it has to stand in the file there (with escapes or indentation), None where it cannot.
    """

    def __init__(
        self,
        source: Source,
        text: str,
        language: str,
        pieces: Sequence[tuple[int, int]],
        writer: Writer | None = None,
    ) -> None:
        self.source = source
        self.writer = writer or write_plain
        self.text = text
        self.language = language
        self.pieces = list(pieces) or [(0, 0)]
        self._from = [a for a, _ in self.pieces]
        self._shift = self.pieces[0][1] - self.pieces[0][0] if len(self.pieces) == 1 else None
        self._memo: dict[object, object] = {}

    @classmethod
    def of(cls, source: Source, language: str, start: int = 0, end: int | None = None) -> Fragment:
        """The file itself, or an unchanged stretch of it."""
        end = len(source.text) if end is None else end
        return cls(source, source.text[start:end], language, [(0, start)], write_as_is)

    @cached_property
    def index(self) -> TextIndex:
        return TextIndex(self.text)

    @property
    def path(self) -> Path:
        return self.source.path

    def host(self, offset: int) -> int:
        """Offset in the file of an offset in `text`."""
        if self._shift is not None:
            return min(offset + self._shift, len(self.source.text))
        at = max(bisect_right(self._from, offset) - 1, 0)
        begin, host = self.pieces[at]
        return min(host + offset - begin, len(self.source.text))

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The span of the file behind text[start:end]."""
        end = len(self.text) if end is None else end
        first = self.host(start)
        return Span(self.source, first, max(first, self.host(end - 1) + 1) if end > start else first)

    def edit(self, start: int, end: int, text: str) -> Edit | None:
        """The edit of the file that turns text[start:end] into another text; None where it cannot be written there."""
        written, whole = self.writer(text), self.source.text
        host = self.host(start)
        if 0 < start == len(self.text):
            host = self.host(start - 1) + 1
        stop = host + end - start
        if written is None or whole[host:stop] != self.text[start:end]:
            return None
        if self.writer is not write_as_is:
            # The last character may be the meaning of an escape that goes on behind it, or the end of a block's line.
            if end == len(self.text) > 0 and self.text[-1] in "\\'\"\r\n":
                return None
            if 0 < end == len(self.text) and whole[self.host(end - 1)] != self.text[-1]:
                return None
            if start == end and not self.index.line_text(self.index.position(start)[0]):
                return None  # an empty line, which has no indentation
            if start < end < len(self.text) and whole[stop : self.host(end)].strip():
                return None
        if start < end and self.host(end - 1) + 1 != stop:
            return None
        return Edit(Span(self.source, host, stop), written)

    def first_line(self) -> Span:
        """The span of its first line, which need not be the file's."""
        return self.span(0, len(self.index.line_text(1)))

    def derive(
        self, text: str, language: str, pieces: Sequence[tuple[int, int]], writer: Writer | None = None
    ) -> Fragment:
        """A fragment inside this one; `pieces` count in this fragment's text and are carried on to the file."""
        out: list[tuple[int, int]] = []
        for n, (begin, inner) in enumerate(pieces):
            length = (pieces[n + 1][0] if n + 1 < len(pieces) else len(text)) - begin
            out.append((begin, self.host(inner)))
            first = bisect_right(self._from, inner)
            for piece_start, piece_host in self.pieces[first:]:
                if piece_start >= inner + length:
                    break
                out.append((begin + piece_start - inner, piece_host))
        return Fragment(self.source, text, language, out, self._through(writer or write_plain))

    def _through(self, inner: Writer) -> Writer:
        """What writes text of a fragment inside this one into the file."""
        outer = self.writer
        if outer is write_as_is or inner is write_as_is:
            return inner if outer is write_as_is else outer
        return lambda text: None if (written := inner(text)) is None else outer(written)

    def slice(self, start: int, end: int, language: str) -> Fragment:
        """An unchanged stretch of this fragment."""
        return self.derive(self.text[start:end], language, [(0, start)], write_as_is)

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """Whatever is computed from this fragment is computed once."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Fragment({self.language}, {str(self.source.path)!r}, {len(self.text)} characters)"

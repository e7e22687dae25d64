"""Words and their values: quotes removed, constant variables put in, unknown parts kept apart."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex
from scenlint.source.text import Span

if TYPE_CHECKING:
    from scenlint.source.shell.model import Node

_MOST_VALUES = 16  # of one word; beyond, it counts as unknown


@dataclass(frozen=True)
class Expansion:
    """`$name`, `${name}` or `${name:-default}`; any other operator makes the value unknown."""

    name: str
    operator: str = ""
    default: tuple[Part, ...] = ()


Part = str | Expansion | None  # None: a command's output or anything else that only a run would show


@dataclass(eq=False)
class Word:
    """One word of a command. `owner` is the statement it stands in, which decides what its variables can hold."""

    raw: str
    start: int
    span: Span
    parts: tuple[Part, ...]
    owner: Node = field(repr=False)

    @cached_property
    def values(self) -> frozenset[str | None]:
        """Every value it can have, None among them where one is unknown; never empty."""
        if self._constant is not None:
            return frozenset((self._constant,))
        return _values(self.parts, self.owner, self.start, ())

    @cached_property
    def _constant(self) -> str | None:
        """Its value where it has no parts that others decide."""
        parts = [part for part in self.parts if isinstance(part, str)]
        return "".join(parts) if len(parts) == len(self.parts) else None

    @cached_property
    def text(self) -> str | None:
        """Its value, quotes removed and constant variables put in; None where it is unknown or not the only one."""
        return next(iter(self.values)) if len(self.values) == 1 else None

    @cached_property
    def pattern(self) -> str:
        """The value with `*` for every unknown part: `$DIR/reward.txt` is `*/reward.txt`."""
        if self._constant is not None:
            return self._constant
        out = []
        for part in self.parts:
            found = _values((part,), self.owner, self.start, ())
            only = next(iter(found)) if len(found) == 1 else None
            out.append("*" if only is None else only)
        return "".join(out)

    @property
    def variables(self) -> list[str]:
        """The variables it expands, in order; `?` is the exit status."""
        return [part.name for part in self.parts if isinstance(part, Expansion)]

    @property
    def is_option(self) -> bool:
        return len(self.pattern) > 1 and self.pattern.startswith("-")


def _values(parts: Iterable[Part], owner: Node, at: int, busy: tuple[str, ...]) -> frozenset[str | None]:
    choices: list[frozenset[str | None]] = []
    size = 1
    for part in parts:
        found = frozenset([part]) if not isinstance(part, Expansion) else _expand(part, owner, at, busy)
        choices.append(found)
        size *= len(found)
        if size > _MOST_VALUES:
            return frozenset([None])
    out: set[str | None] = set()
    for choice in product(*choices):
        out.add(None if None in choice else "".join(filter(None, choice)))
    return frozenset(out)


def _expand(part: Expansion, owner: Node, at: int, busy: tuple[str, ...]) -> frozenset[str | None]:
    unknown: frozenset[str | None] = frozenset([None])
    if part.name in busy or part.operator not in ("", ":-", "-", ":=", "="):
        return unknown
    inside = (*busy, part.name)
    sources = owner.script.reaching(part.name, owner, at)
    out: set[str | None] = set()
    for source in sources.assignments:
        out |= (
            unknown if source.value is None else _values(source.value.parts, source.command, source.value.start, inside)
        )
    if sources.unset:
        out |= _values(part.default, owner, at, busy) if part.operator else unknown
    if part.operator.startswith(":") and "" in out:
        out = (out - {""}) | _values(part.default, owner, at, busy)
    return frozenset(out) or unknown


_ESCAPED_IN_QUOTES = regex(r"\\(\n|[$`\"\\])")


def unescape_quoted(text: str) -> str:
    """What stands between double quotes, its backslashes undone."""
    return _ESCAPED_IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], text)


def unescape_bare(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda m: "" if m[1] == "\n" else m[1], text, flags=re.S)


def unescape_ansi(text: str) -> str:
    """What stands inside `$'…'`."""
    try:
        return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape")
    except (UnicodeDecodeError, ValueError):
        return text


def unquoted(text: str, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """The word text[start:end] without quotes and escapes (variables stay as written), and its pieces."""
    out: list[str] = []
    pieces: list[tuple[int, int]] = []
    length = 0
    quote = ""
    at = start

    def take(piece: str, origin: int) -> None:
        nonlocal length
        if piece:
            pieces.append((length, origin))
            out.append(piece)
            length += len(piece)

    while at < end:
        char = text[at]
        if quote == "'":
            stop = text.find("'", at, end)
            stop = end if stop < 0 else stop
            take(text[at:stop], at)
            at, quote = stop + 1, ""
        elif char == "\\" and at + 1 < end and quote == "$'":
            seen = re.compile(r"\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3}|.)", re.S).match(text, at, end)
            raw = seen[0] if seen else char
            take(unescape_ansi(raw), at)
            at += len(raw)
        elif char == "\\" and at + 1 < end:
            if quote and text[at + 1] not in '$`"\\\n':
                take(char, at)
                at += 1
            else:
                if text[at + 1] != "\n":
                    take(text[at + 1], at + 1)
                at += 2
        elif text.startswith("$(", at) and quote != "$'":
            stop = _closing(text, at + 2, end)
            take(text[at:stop], at)
            at = stop
        elif not quote and text.startswith("$'", at):
            at, quote = at + 2, "$'"
        elif not quote and char in "'\"":
            at, quote = at + 1, char
        elif char == quote[-1:]:
            at, quote = at + 1, ""
        else:
            stop = next((n for n in range(at + 1, end) if text[n] in "\\'\"$"), end)
            take(text[at:stop], at)
            at = stop
    return "".join(out), pieces


def _closing(text: str, at: int, end: int) -> int:
    """The index behind the parenthesis that closes a `$(` whose inside begins at `at`."""
    depth, quote = 1, ""
    while at < end:
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char == "(") - (char == ")")
            if depth == 0:
                return at + 1
        at += 1
    return end


def heredoc_text(body: str, *, literal: bool, tabs: bool) -> tuple[str, list[tuple[int, int]]]:
    """A here-document's body as its reader gets it (variables stay as written), and its pieces."""
    runs = [(m.start(1), m[1]) for m in re.finditer(r"\t*([^\n]*\n?)", body)] if tabs else [(0, body)]
    if not literal:
        kept = [(at, m) for at, run in runs for m in re.finditer(r"\\(?:\n|([$`\\]))|(.[^\\]*)", run, re.S)]
        runs = [(at + m.start(m.lastindex), m[m.lastindex]) for at, m in kept if m.lastindex]
    pieces, length = [], 0
    for at, run in runs:
        pieces.append((length, at))
        length += len(run)
    return "".join(run for _, run in runs), pieces

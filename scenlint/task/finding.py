"""A Finding: what is wrong, where, how sure, why, and what to do; plain data that any renderer prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from scenlint.source.regex import regex
from scenlint.source.secrets import redact
from scenlint.source.text import Fragment, Source, Span
from scenlint.task.fix import Fix

EXCERPT_LINES = 6  # lines of the file that a location carries for its code frame
EXCERPT_WIDTH = 400  # characters of one such line


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, rising as it gets milder."""
        return list(Severity).index(self)


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Kind(StrEnum):
    """Fact under a policy, claim that a run or a reader may refute, or evidence from a trial."""

    FACT = "fact"
    CLAIM = "claim"
    EVIDENCE = "evidence"


@dataclass(frozen=True)
class Location:
    """A place in a file; 1-based lines and columns (characters), `end_column` one past the last character.

    `excerpt` holds the lines from `line` on, cut to what a code frame shows, secrets blanked out; `shift` is how many
    characters were cut off the left of the excerpt. A location without an excerpt is a whole file or folder.
    """

    path: Path
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    message: str = ""
    excerpt: tuple[str, ...] = ()
    shift: int = 0
    byte: int | None = None

    @classmethod
    def of(cls, at: At, message: str = "") -> Location:
        """The location of a span, a fragment (its whole extent), a Source (its first line) or a path."""
        if isinstance(at, Location):
            return replace(at, message=message or at.message)
        if isinstance(at, Path):
            return cls(at, message=message)
        if isinstance(at, Source):
            at = at.lines(1)
        elif isinstance(at, Fragment):
            at = at.span()
        return cls._of_span(at, message)

    @classmethod
    def _of_span(cls, span: Span, message: str) -> Location:
        index = span.source.index
        line, column = index.position(span.start)
        end_line, end_column = index.position(span.end)
        shift = max(0, column - EXCERPT_WIDTH // 2) if column > EXCERPT_WIDTH - 40 else 0
        last = min(end_line, line + EXCERPT_LINES - 1)
        # Redacted as one text first: a private key spans lines.
        first_at = index.offset(line)
        block = span.source.text[first_at : index.offset(last) + len(index.line_text(last))]
        lines = re.split(r"\r\n|\n|\r", _readable(redact(block)))
        return cls(
            path=span.source.path,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            message=message,
            excerpt=tuple(text[shift : shift + EXCERPT_WIDTH] for text in lines),
            shift=shift,
            byte=span.source.byte(span.start),
        )


At = Location | Span | Fragment | Source | Path


_UNREADABLE = regex("[\udc80-\udcff\x00-\x08\x0b\x0c\x0e-\x1f]")


def _readable(text: str) -> str:
    """Undecodable bytes and control characters made visible without changing any column."""
    return _UNREADABLE.sub("\ufffd", text)


@dataclass(frozen=True)
class Finding:
    """One finding. A rule fills the upper fields; the engine adds what it knows of rule, task and policy."""

    message: str
    location: Location
    help: str = ""
    related: tuple[Location, ...] = ()
    severity: Severity | None = None  # None: the rule's default
    confidence: Confidence | None = None
    refute: str = ""  # what would show that this finding is wrong; "": the rule's default

    rule: str = ""
    code: str = ""
    kind: Kind = Kind.FACT
    task: str = ""
    policy: str = ""  # the profile under which it is a finding, where profiles disagree
    fix: Fix | None = field(default=None, compare=False)

    @classmethod
    def at(
        cls,
        where: At,
        message: str,
        *,
        help: str = "",
        related: Iterable[Location] = (),
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        refute: str = "",
        fix: Fix | None = None,
    ) -> Finding:
        """A rule's way to make one: `Finding.at(span, "what is wrong", help="what to do", related=[...])`."""
        return cls(
            message=redact(message),
            location=Location.of(where),
            help=help,
            related=tuple(related),
            severity=severity,
            confidence=confidence,
            refute=refute,
            fix=fix,
        )

    @property
    def quote(self) -> str:
        """The text the finding points at, first line only, secrets blanked out."""
        place = self.location
        if not place.excerpt:
            return ""
        first = place.excerpt[0]
        begin = place.column - 1 - place.shift
        return first[begin : place.end_column - 1 - place.shift if place.end_line == place.line else None]

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        return (str(self.location.path), self.location.line, self.location.column, self.code)


@dataclass(frozen=True)
class NotAssessed:
    """A selected rule that could not judge a task, and why."""

    rule: str
    code: str
    task: str
    reason: str


def related(at: At, message: str) -> Location:
    """A place that explains a finding, with the words that say how."""
    return Location.of(at, message)

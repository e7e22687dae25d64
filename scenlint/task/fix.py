"""A Fix: the edits that end a finding, as plain data that any report prints and `scenlint check --fix` applies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scenlint.source.text import Edit


@dataclass(frozen=True)
class Change:
    """Other text for a stretch of a file: character offsets, and the same place as 1-based lines and columns."""

    path: Path
    start: int
    end: int
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Fix:
    """What a tool can do about a finding, in one file, all of it or nothing.

    Safe: no sound verdict changes by it. Unsafe: somebody has to look at what it did. `imports` are modules that the
    new Python text needs; they are added where the file lacks them. `seen` is the digest of the file it was made for.
    """

    title: str  # what it does, as an order: "pin it by its digest"
    changes: tuple[Change, ...]
    seen: str
    safe: bool = True
    imports: tuple[str, ...] = ()

    @classmethod
    def of(cls, title: str, *edits: Edit | None, safe: bool = True, imports: tuple[str, ...] = ()) -> Fix | None:
        """The fix made of these edits; None where one of them is none (it could not be written), or there are none."""
        wanted = [edit for edit in edits if edit is not None]
        sources = {edit.span.source for edit in wanted}
        if len(wanted) < len(edits) or len(sources) != 1:
            return None
        seen = sources.pop().digest
        return cls(title, tuple(map(_change, wanted)), seen, safe, imports) if seen else None

    @property
    def path(self) -> Path:
        """The file that it changes."""
        return self.changes[0].path


def _change(edit: Edit) -> Change:
    span = edit.span
    line, column = span.source.index.position(span.start)
    end_line, end_column = span.source.index.position(span.end)
    return Change(span.source.path, span.start, span.end, edit.text, line, column, end_line, end_column)

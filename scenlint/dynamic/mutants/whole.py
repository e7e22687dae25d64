"""Mutants of a file as a whole: gone, empty, cut short, left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.model import Label, Mutant, Result


def whole_file(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """Every file, text or not. A file that the brief does not name is the solution's own business."""
    label = Label.DIE if form.named else Label.OPEN
    why = str(form.named) if form.named else "the brief does not name the file"

    def mutant(operator: str, content: bytes | None, did: str) -> Mutant:
        return Mutant(operator, result.path, content, did, label, why)

    if result.new:
        yield mutant("delete-file", None, "the file was deleted")
    else:
        yield mutant("untouched-input", None, "the file was left as it was before the solution")
    if result.content:
        yield mutant("empty-file", b"", "the file was emptied")
    lines = result.content.splitlines(keepends=True)
    if len(lines) >= 3:
        keep = len(lines) - max(1, len(lines) // 3)
        yield mutant(
            "truncate", b"".join(lines[:keep]), f"the last {len(lines) - keep} of {len(lines)} lines were cut off"
        )

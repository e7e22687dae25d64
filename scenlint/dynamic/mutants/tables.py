"""Mutants of tables (CSV, TSV): rows, columns, cells, quoting."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from random import Random
from typing import Literal

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import of_text
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.numbers import changed

Row = Sequence[str]
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_CELLS = 4  # that are changed


def table(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a CSV or TSV file with a header and at least one row."""
    delimiter = _DELIMITERS.get(PurePosixPath(result.path).suffix.lower())
    text = result.text
    if delimiter is None or text is None:
        return
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return
    made = _Table(result.path, delimiter, "\r\n" if "\r\n" in text else "\n", rows[0], rows[1:])
    yield from _rows(made, form, random)
    yield from _columns(made, form, random)
    yield from _cells(made, form, random)
    yield from _layout(made, form)


class _Table:
    def __init__(self, path: str, delimiter: str, end: str, header: Row, rows: list[list[str]]) -> None:
        self.path, self.delimiter, self.end, self.header, self.rows = path, delimiter, end, header, rows

    def mutant(
        self, operator: str, did: str, label: Label, reason: str, rows: list[list[str]], header: Row | None = None,
        *, quoting: Literal[0, 1] = csv.QUOTE_MINIMAL,
    ) -> Mutant:  # fmt: skip
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.delimiter, lineterminator=self.end, quoting=quoting)
        writer.writerows([header or self.header, *rows])
        return Mutant(operator, self.path, out.getvalue().encode(), did, label, reason)


def _rows(made: _Table, form: Form, random: Random) -> Iterator[Mutant]:
    rows, last = made.rows, len(made.rows) - 1
    for at in dict.fromkeys((0, random.randrange(len(rows)), last)):
        yield made.mutant(
            "drop-row", f"row {at + 1} of {len(rows)} was left out", Label.DIE, "a row less is another table",
            rows[:at] + rows[at + 1 :],
        )  # fmt: skip
    at = random.randrange(len(rows))
    free = form.duplicates
    yield made.mutant(
        "duplicate-row", f"row {at + 1} of {len(rows)} stands there twice",
        Label.LIVE if free else Label.DIE, str(free or "a row more is another table"),
        [*rows[: at + 1], rows[at], *rows[at + 1 :]],
    )  # fmt: skip
    if len(rows) > 1 and rows[0] != rows[-1]:
        yield made.mutant("reverse-rows", "the rows stand in reverse order", *order(form), rows[::-1])
    if (n := neighbours(rows, random)) is not None and len(rows) > 2:
        swapped = [*rows[:n], rows[n + 1], rows[n], *rows[n + 2 :]]
        yield made.mutant("swap-rows", f"rows {n + 1} and {n + 2} changed places", *order(form), swapped)


def neighbours(items: Sequence[object], random: Random) -> int | None:
    """The number of an item that differs from the one after it."""
    found = [n for n in range(len(items) - 1) if items[n] != items[n + 1]]
    return random.choice(found) if found else None


def order(form: Form) -> tuple[Label, str]:
    """What another order of rows or items means."""
    if form.any_order:
        return Label.LIVE, str(form.any_order)
    if form.ordered:
        return Label.DIE, str(form.ordered)
    return Label.OPEN, "the brief says nothing of the order"


def _columns(made: _Table, form: Form, random: Random) -> Iterator[Mutant]:
    at = random.randrange(len(made.header))
    name = made.header[at]
    new = f"{name}_2"
    renamed = [*made.header[:at], new, *made.header[at + 1 :]]
    named = form.names_value(name)
    yield made.mutant(
        "rename-column", f"column `{name}` is called `{new}`", Label.DIE if named else Label.OPEN,
        f"the brief names the column `{name}`" if named else f"the brief does not name the column `{name}`",
        made.rows, renamed,
    )  # fmt: skip
    closed = form.closed
    yield made.mutant(
        "add-column", "a column `note` was added", Label.DIE if closed else Label.OPEN,
        str(closed or "the brief does not say that there may be no other columns"),
        [[*row, ""] for row in made.rows], [*made.header, "note"],
    )  # fmt: skip
    if len(made.rows) > 1:
        column = [row[at] for row in made.rows if len(row) > at]
        if len(column) == len(made.rows) and len(set(column)) > 1 and not form.is_of_the_run(name):
            moved = column[-1:] + column[:-1]
            yield made.mutant(
                "shift-column", f"the values of column `{name}` moved down by one row", Label.DIE,
                "the rows do not belong together any more",
                [[*row[:at], value, *row[at + 1 :]] for row, value in zip(made.rows, moved, strict=True)],
            )  # fmt: skip
            n = neighbours(column, random)
            if n is not None:
                swapped = [list(row) for row in made.rows]
                swapped[n][at], swapped[n + 1][at] = swapped[n + 1][at], swapped[n][at]
                yield made.mutant(
                    "swap-values", f"rows {n + 1} and {n + 2} have each other's `{name}`", Label.DIE,
                    "the rows do not belong together any more", swapped,
                )  # fmt: skip


def _cells(made: _Table, form: Form, random: Random) -> Iterator[Mutant]:
    places = [(r, c) for r, row in enumerate(made.rows) for c in range(min(len(row), len(made.header)))]
    for r, c in random.sample(places, min(_CELLS, len(places))):
        name, old = made.header[c], made.rows[r][c]
        for operator, new, label, reason in _values(old, name, form):
            rows = [list(row) for row in made.rows]
            rows[r][c] = new
            yield made.mutant(operator, f"`{name}` of row {r + 1}: `{old}` became `{new}`", label, reason, rows)


def _values(old: str, name: str, form: Form) -> Iterator[tuple[str, str, Label, str]]:
    number = _number(old)
    if number is not None:
        for operator, new, label, reason in changed(number, name, form):
            if operator == "integer-as-float":
                label, reason = Label.OPEN, "in text, 5 and 5.0 are written differently"
            yield operator, str(new), label, reason
    elif old:
        of_run = form.is_of_the_run(name)
        why = f"`{name}` may differ from run to run" if of_run else "another value is another answer"
        yield "blank-cell", "", Label.OPEN if of_run else Label.DIE, why
        yield "other-text", old[::-1] if old != old[::-1] else old + "x", Label.OPEN if of_run else Label.DIE, why
        yield from of_text(old, name, form)
        if old.swapcase() != old:
            yield "letter-case", old.swapcase(), Label.OPEN, "the brief does not say whether letter case counts"


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if str(value) == text else None  # "007" and "1e3" are more than numbers
    return None


def _layout(made: _Table, form: Form) -> Iterator[Mutant]:
    exact = form.exact_bytes
    label = Label.OPEN if exact else Label.LIVE
    why = str(exact or "quoted or not, it is the same table")
    yield made.mutant("quote-all", "every cell is quoted", label, why, made.rows, quoting=csv.QUOTE_ALL)

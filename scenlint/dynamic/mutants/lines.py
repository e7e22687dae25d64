"""Mutants of plain text: lines, the numbers in them, and what stands around it all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from random import Random

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import of_text
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.numbers import changed
from scenlint.dynamic.mutants.tables import neighbours, order

_TEXT = frozenset({"", ".txt", ".md", ".log", ".out", ".list", ".dat", ".jsonl", ".ndjson", ".ini", ".conf", ".env",
                   ".toml", ".cfg", ".xml", ".html", ".properties"})  # fmt: skip
_SETTINGS = frozenset({".ini", ".conf", ".env", ".toml", ".cfg", ".properties", ".md", ".log", ".xml", ".html"})
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]|:\d|-\d|/\d)")
_NUMBERS = 3  # that are changed


def lines(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a file of lines that is no table, document or code."""
    text = result.text
    if text is None or PurePosixPath(result.path).suffix.lower() not in _TEXT or not text.strip():
        return
    document = text.lstrip()[:1] in ("{", "[") and not result.path.endswith("l") and not _settings(result.path)
    if text.startswith("#!") or document:
        return
    rows = text.splitlines(keepends=True)

    def mutant(operator: str, did: str, label: Label, reason: str, new: str) -> Mutant:
        return Mutant(operator, result.path, new.encode(), did, label, reason)

    full = [n for n, row in enumerate(rows) if row.strip()]
    if len(full) > 1:
        at = random.choice(full)
        why = "a line less is another text"
        yield mutant("drop-line", f"line {at + 1} of {len(rows)} was left out", Label.DIE, why,
                     "".join(rows[:at] + rows[at + 1 :]))  # fmt: skip
        new = _ended(rows)[::-1]
        ordered = settings if (settings := _settings(result.path)) else order(form)
        if new != _ended(rows):
            yield mutant("reverse-lines", "the lines stand in reverse order", *ordered, "".join(new))
        if len(full) > 2 and (n := neighbours(_ended(rows), random)) is not None:
            swapped = _ended(rows)
            swapped[n], swapped[n + 1] = swapped[n + 1], swapped[n]
            yield mutant("swap-lines", f"lines {n + 1} and {n + 2} changed places", *ordered, "".join(swapped))
        again = form.duplicates
        once = (Label.LIVE, str(again)) if again else (Label.DIE, "a line more is another text")
        yield mutant("duplicate-line", f"line {at + 1} of {len(rows)} stands there twice", *(settings or once),
                     "".join([*_ended(rows)[: at + 1], *_ended(rows)[at:]]))  # fmt: skip
    for operator, new_text, label, reason in of_text(text, "", form):
        yield mutant(operator, _changed_line(text, new_text), label, reason, new_text)
    found = list(_NUMBER.finditer(text))
    for match in random.sample(found, min(_NUMBERS, len(found))):
        line = text.count("\n", 0, match.start()) + 1
        value = float(match[0]) if "." in match[0] else int(match[0])
        key = " ".join(re.findall(r"[A-Za-z_]{3,}", rows[line - 1])[:3])
        for operator, number, label, reason in changed(value, key, form):
            new_text = text[: match.start()] + str(number) + text[match.end() :]
            # Text is compared as text more often than not: what is one number to a reader may be two to a diff.
            label = Label.OPEN if label is Label.LIVE and form.tolerance is None else label
            yield mutant(operator, f"line {line}: `{match[0]}` became `{number}`", label, reason, new_text)
    exact = form.exact_bytes
    free, why = (
        (Label.OPEN, str(exact)) if exact else (Label.LIVE, "the brief does not ask for a certain last line end")
    )
    if text.endswith("\n"):
        yield mutant("no-final-newline", "the last line has no line end", free, why, text.rstrip("\n"))
    else:
        yield mutant("final-newline", "the last line has a line end", free, why, text + "\n")
    yield mutant("space-around", "blank lines stand before and after it", Label.OPEN,
                 "the brief does not say whether white space counts", f"\n{text}\n")  # fmt: skip


def _settings(path: str) -> tuple[Label, str] | None:
    """Settings and prose may well say a thing in another order, or twice."""
    loose = PurePosixPath(path).suffix.lower() in _SETTINGS
    return (Label.OPEN, "whether that changes what the file says depends on who reads it") if loose else None


def _changed_line(old: str, new: str) -> str:
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    number, (was, is_now) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number}: `{was.strip()[:60]}` became `{is_now.strip()[:60]}`"


def _ended(rows: list[str]) -> list[str]:
    return [row if row.endswith("\n") else row + "\n" for row in rows]

"""Where a text names criteria by their number: "Criterion 3", "criteria 1, 2 and 4", "AC-1"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex

_STRICT = r"criterion|criteria|requirements?|要求|标准|准则"
_LOOSE = rf"{_STRICT}|rules?|steps?|deliverables?|tasks?|points?|步骤"
_NUMBER = r"\d{1,2}(?:\.\d{1,2})*(?!\d|\s?%)"
_JOIN = r"\s*(?:,|and|or|&|/|to|through|-|–|—|\.\.|、|和|至|到)\s*"


def _mark_pattern(words: str, short: str) -> re.Pattern[str]:
    # "AC1", "ac-1", `test_ac_1`; but `req1` is a variable.
    short = rf"(?-i:{short})(?=[ _#:-]?\d)|(?:{short})(?=[#:-]\d)|(?<=_)(?:{short})(?=_?\d)"
    named = rf"(?:{words}|{short})[ _#:.\-]*(?:no\.? ?)?"
    return re.compile(rf"(?<![A-Za-z]){named}({_NUMBER}(?:{_JOIN}{_NUMBER})*)", re.I)


_STRICT_MARK, _LOOSE_MARK = _mark_pattern(_STRICT, "AC|REQ"), _mark_pattern(_LOOSE, "AC|REQ|SC")
_RANGE = regex(r"(\d+)\s*(?:to|through|-|–|—|\.\.|至|到)\s*(\d+)$")


def marks(text: str, *, strict: bool = False) -> Iterator[str]:
    """The numbers of "Criterion 3", "criteria 1, 2 and 4", "AC-1"; unless `strict`, also of "steps 1 to 3"."""
    for match in mark_places(text, strict=strict):
        if span := _RANGE.search(match[1]):
            low, high = int(span[1]), int(span[2])
            yield from map(str, range(low, high + 1) if low < high <= low + 50 else ())
        yield from re.findall(r"\d+(?:\.\d+)*", match[1])


def mark_places(text: str, *, strict: bool = False) -> Iterator[re.Match[str]]:
    """Where the numbers stand, the word before them included."""
    return (_STRICT_MARK if strict else _LOOSE_MARK).finditer(text)

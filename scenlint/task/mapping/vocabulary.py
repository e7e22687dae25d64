"""What a text is about: its words by their stems, its paths, its quoted and coded names, its numbers."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from scenlint.source import markdown
from scenlint.source.regex import regex
from scenlint.task.numbers import find_numbers
from scenlint.task.paths import find_paths

if TYPE_CHECKING:
    from scenlint.task.model import Brief

_MARKED = regex(r"`+([^`\n]+)`+|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"|'([^'\n]{2,})'|“([^”\n]+)”|「([^」\n]+)」")
_STOP_WORDS = """
    the and for with that this from are was were has have had not but its into out all any each every one two may can
    will should must shall need needs been being than then them they their there where when which while who whom what
    how your you our use used uses using file files path named name names exist exists exactly following only also both
    same other such etc via per after before about over test tests check checks assert task output result results
    correct correctly contain contains value values make sure ensure create created run running data line lines true
    false none self def return import json open read write get set list dict str int len
"""
_STOP = frozenset(_STOP_WORDS.split())
_HAN = regex(r"[\u4e00-\u9fff]{2,}")
_WORD = regex(r"[A-Z]++[a-z]*+|[a-z]++")  # `totalRows` is two words, and so is `total_rows`


class Vocabulary:
    """What a text is about: words reduced to their stem, paths' base names, names in code marks or quotes, numbers."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        return self.text.lower()

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(stems(self.text))

    @cached_property
    def characters(self) -> frozenset[str]:
        """Pairs of neighbouring Chinese characters: that script puts nothing between its words."""
        return frozenset(run[n : n + 2] for run in _HAN.findall(self.text) for n in range(len(run) - 1))

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(t.plain.rpartition("/")[2].lower() for t in find_paths(self.text))

    @cached_property
    def values(self) -> frozenset[str]:
        """Quoted words and code spans, folded; single common words left out."""
        found = _MARKED.findall(self.text)
        texts = {" ".join(next(filter(None, groups)).lower().split()).strip(".:,") for groups in found}
        return frozenset(t for t in texts if len(t) > 1 and t not in _STOP)

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Numbers of at least two digits or with a fraction: smaller ones stand everywhere."""
        return frozenset(n.value for n in find_numbers(self.text) if abs(n.value) >= 10 or n.value % 1)

    @cached_property
    def names(self) -> frozenset[str]:
        """Identifiers with an inner mark (`total_rows`, `maxItems`, `a.b`): words that prose does not use by chance."""
        return frozenset(
            w.lower() for w in re.findall(r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[A-Z][A-Za-z0-9]+\b", self.text)
        )


def stems(text: str) -> set[str]:
    """The content words of a text, identifiers taken apart, endings cut."""
    words = {word.lower() for word in set(_WORD.findall(text)) if len(word) > 2}
    return {stem_of(word) for word in words - _STOP}


@lru_cache(maxsize=16384)
def stem_of(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "edly", "ed", "es", "ers", "er", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return word


def brief_vocabulary(briefs: list[Brief]) -> Vocabulary:
    """What the briefs as a whole are about."""
    return Vocabulary("\n".join(markdown.parse(b.prose).text for b in briefs))

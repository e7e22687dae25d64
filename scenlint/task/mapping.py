"""Which check covers which criterion: by an outright mark, a shared name, path, key or value, or by common words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from scenlint.source import markdown
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.numbers import find_numbers
from scenlint.task.paths import find_paths

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.model import Brief, Task

_STRICT = r"criterion|criteria|requirements?|要求|标准|准则"
_LOOSE = rf"{_STRICT}|rules?|steps?|deliverables?|tasks?|points?|步骤"
_NUMBER = r"\d{1,2}(?:\.\d{1,2})*(?!\d|\s?%)"
_JOIN = r"\s*(?:,|and|or|&|/|to|through|-|–|—|\.\.|、|和|至|到)\s*"


def _mark_pattern(words: str, short: str) -> re.Pattern[str]:
    named = rf"(?:{words}|(?:{short})(?=[ _#:-]?\d))[ _#:.\-]*(?:no\.? ?)?"
    return re.compile(rf"(?<![A-Za-z]){named}({_NUMBER}(?:{_JOIN}{_NUMBER})*)", re.I)


_STRICT_MARK, _LOOSE_MARK = _mark_pattern(_STRICT, "AC|REQ"), _mark_pattern(_LOOSE, "AC|REQ|SC")
_MARKED = regex(r"`+([^`\n]+)`+|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"|'([^'\n]{2,})'|“([^”\n]+)”|「([^」\n]+)」")
_RANGE = regex(r"(\d+)\s*(?:to|through|-|–|—|\.\.|至|到)\s*(\d+)$")
_STOP_WORDS = """
    the and for with that this from are was were has have had not but its into out all any each every one two may can
    will should must shall need needs been being than then them they their there where when which while who whom what
    how your you our use used uses using file files path named name names exist exists exactly following only also both
    same other such etc via per after before about over test tests check checks assert task output result results
    correct correctly contain contains value values make sure ensure create created run running data line lines true
    false none self def return import json open read write get set list dict str int len
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = regex(r"[A-Z]++[a-z]*+|[a-z]++")  # `totalRows` is two words, and so is `total_rows`


@dataclass(frozen=True)
class Link:
    """A check covers a criterion; `by` is one of mark, id, docstring, path, key, value, words; `strength` 0 to 1."""

    criterion: Criterion
    check: Check
    by: str
    strength: float


class Vocabulary:
    """What a text is about: words reduced to their stem, paths' base names, names in code marks or quotes, numbers."""

    def __init__(self, text: str, fragment: Fragment | None = None) -> None:
        self.text = text
        self._fragment = fragment

    @cached_property
    def folded(self) -> str:
        return self.text.lower()

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(stems(self.text))

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


class Mapping:
    """Criteria and checks of a task, and the links between them."""

    def __init__(self, task: Task, brief: Brief | None = None) -> None:
        self.task = task
        self.briefs = [brief] if brief else task.briefs
        self.criteria: list[Criterion] = [c for b in self.briefs for c in b.criteria]
        self.checks: list[Check] = task.checks

    @cached_property
    def links(self) -> list[Link]:
        return [link for criterion in self.criteria for link in self._links(criterion)]

    def of(self, criterion: Criterion) -> list[Link]:
        """The links of one criterion, strongest first."""
        return sorted((k for k in self.links if k.criterion is criterion), key=lambda k: -k.strength)

    @property
    def uncovered(self) -> list[Criterion]:
        """The criteria that no check has any link to."""
        return [c for c in self.criteria if next(self._links(c), None) is None]

    @property
    def unclaimed(self) -> list[Check]:
        """The checks that have no link to any criterion."""
        linked = {id(k.check) for k in self.links}
        return [c for c in self.checks if id(c) not in linked]

    # Marks.

    @cached_property
    def marks(self) -> dict[str, list[Check]]:
        """Which checks name which criterion number outright, in label, id or declaration."""
        out: dict[str, list[Check]] = {}
        for check in self.checks:
            for number in self.marked(check):
                out.setdefault(number, []).append(check)
        return out

    def marked(self, check: Check) -> set[str]:
        """The criterion numbers that a check names outright."""
        return self._named[id(check)]

    @cached_property
    def _named(self) -> dict[int, set[str]]:
        return {
            id(c): {n for n in c.criteria if re.fullmatch(r"[\d.]+", n)} | set(marks(f"{c.label}\n{c.id}"))
            for c in self.checks
        }

    @cached_property
    def marked_anywhere(self) -> set[str]:
        """Every criterion number that any part of the verifier names, comments and helpers included."""
        return {n for text in self._verifier_texts for n in marks(text, strict=not self._steps)}

    @cached_property
    def left_out(self) -> list[Criterion]:
        """The criteria of a list that a verifier which names the others by number (or by name) never names.

        One that a check without any mark has words or values in common with is not left out. [] without checks.
        """
        if not self.checks:
            return []
        texts = "\n".join(self._verifier_texts)
        named = {
            n.lower() for n in re.findall(r"criteri(?:on|a)\W{1,3}([A-Za-z_][\w-]*)[\w -]*?[`'\"*:.]", texts, re.I)
        }
        out: list[Criterion] = []
        lists = [group for group in self._lists.values() if len(group) > 1]
        # One number alone is a convention only where a check calls itself by it.
        used = self.marked_anywhere if len(self.marked_anywhere) > 1 else self.marked_anywhere & set(self.marks)
        by_number = [g for g in lists if used and used <= {c.number for c in g}]
        if len(by_number) == 1:
            out += _absent(by_number[0], [c.number in self.marked_anywhere for c in by_number[0]])
        elif not self.marked_anywhere:
            for group in lists:
                out += _absent(group, [bool(_label(c) & named) for c in group])
        return [
            c for c in out if not any(self._speaks_of(check, c) for check in self.checks if not self._marked(check))
        ]

    def _marked(self, check: Check) -> bool:
        return bool(self.marked(check) or check.criteria or re.search(r"criteri(?:on|a)\b", check.label, re.I))

    def _speaks_of(self, check: Check, criterion: Criterion) -> bool:
        return any(k.check is check and (k.by != "words" or k.strength >= 0.4) for k in self.of(criterion))

    @cached_property
    def _lists(self) -> dict[tuple[str, ...], list[Criterion]]:
        """Criteria by the list they stand in."""
        out: dict[tuple[str, ...], list[Criterion]] = {}
        for criterion in self.criteria:
            place = (str(criterion.span.source.path), criterion.section, criterion.number.rpartition(".")[0])
            out.setdefault(place, []).append(criterion)
        return out

    @property
    def _steps(self) -> bool:
        return bool(self.criteria) and all(c.kind == "step" for c in self.criteria)

    @cached_property
    def _verifier_texts(self) -> list[str]:
        return [f.text for f in self.task.verifier.files] if self.task.verifier else []

    def vocabularies(self, check: Check) -> tuple[Vocabulary, Vocabulary]:
        """What a check's label and id speak of, and what its code does."""
        return self._spoken[id(check)], self._source[id(check)]

    # Links.

    def _links(self, criterion: Criterion) -> Iterator[Link]:
        about = self._about[id(criterion)]
        for check in self.checks:
            yield from (Link(criterion, check, by, strength) for by, strength in self._ties(criterion, about, check))

    def _ties(self, criterion: Criterion, about: Vocabulary, check: Check) -> Iterator[tuple[str, float]]:
        if criterion.number in self.marked(check):
            yield "mark", 1.0
        said = about.values | about.names
        if self._keys[id(check)] & said:
            yield ("id" if {c.lower() for c in check.criteria} & said else "key"), 0.9
        spoken = self._spoken[id(check)]
        if about.values & spoken.values or about.names & spoken.names or about.values & spoken.names:
            yield "docstring", 0.8
        source = self._source[id(check)]
        if about.paths and about.paths & (self._read[id(check)] | source.paths):
            yield "path", 0.5
        if self._shares_value(about, source):
            yield "value", 0.7
        shared = about.words & (spoken.words | source.words)
        if shared and (len(shared) >= 3 or len(shared) >= 0.3 * len(about.words)):
            yield "words", round(min(0.6, len(shared) / len(about.words)), 2)

    @staticmethod
    def _shares_value(about: Vocabulary, source: Vocabulary) -> bool:
        if about.numbers and about.numbers & source.numbers:
            return True
        return any(v in source.folded for v in about.values | about.names)

    @cached_property
    def _keys(self) -> dict[int, set[str]]:
        """The keys that a check reads and the criteria that it names by a word, folded."""
        return {
            id(c): {k.name.lower() for k in c.keys} | {n.lower() for n in c.criteria if not n[:1].isdigit()}
            for c in self.checks
        }

    @cached_property
    def _read(self) -> dict[int, set[str]]:
        return {id(c): {a.path.rpartition("/")[2].lower() for a in c.accesses} for c in self.checks}

    @cached_property
    def _about(self) -> dict[int, Vocabulary]:
        return {id(c): Vocabulary(c.raw or c.text) for c in self.criteria}

    @cached_property
    def _spoken(self) -> dict[int, Vocabulary]:
        return {id(c): Vocabulary(f"{c.label}\n{_spaced(c.id.rpartition('::')[2])}") for c in self.checks}

    @cached_property
    def _source(self) -> dict[int, Vocabulary]:
        """A check's own code, with the paths, keys and constants that were resolved from elsewhere."""
        return {id(c): Vocabulary("\n".join(_material(c))) for c in self.checks}


def map_task(task: Task) -> Mapping:
    """The mapping of a task, made once."""
    if not task.briefs:
        return Mapping(task)
    return task.briefs[0].prose.memo("mapping", lambda: Mapping(task))


def _absent(group: list[Criterion], named: list[bool]) -> list[Criterion]:
    """Those not named, where naming is the rule: most of the list is."""
    return [c for c, yes in zip(group, named, strict=True) if not yes] if sum(named) * 2 >= len(named) else []


def _label(criterion: Criterion) -> set[str]:
    """What the criterion is called, where it begins with a name in bold or in code marks."""
    found = re.match(r"\s*(?:\*\*|`)([A-Za-z_][\w-]*)\W*(?:\*\*|`)", criterion.raw)
    return {found[1].lower()} if found else set()


def marks(text: str, *, strict: bool = False) -> Iterator[str]:
    """The numbers of "Criterion 3", "criteria 1, 2 and 4", "AC-1"; unless `strict`, also of "steps 1 to 3"."""
    for match in (_STRICT_MARK if strict else _LOOSE_MARK).finditer(text):
        if span := _RANGE.search(match[1]):
            low, high = int(span[1]), int(span[2])
            yield from map(str, range(low, high + 1) if low < high <= low + 50 else ())
        yield from re.findall(r"\d+(?:\.\d+)*", match[1])


def stems(text: str) -> set[str]:
    """The content words of a text, identifiers taken apart, endings cut."""
    words = {word.lower() for word in set(_WORD.findall(text)) if len(word) > 2}
    return {_stem(word) for word in words - _STOP}


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "edly", "ed", "es", "ers", "er", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return word


def _spaced(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]+", " ", text)


def _material(check: Check) -> Iterable[str]:
    yield check.span.text
    yield from (a.path for a in check.accesses)
    yield from (f"`{k.name}`" for k in check.keys)
    yield from (f"`{c.constant}`" for c in check.comparisons if c.has_constant)


def brief_vocabulary(briefs: list[Brief]) -> Vocabulary:
    """What the briefs as a whole are about."""
    return Vocabulary("\n".join(markdown.parse(b.prose).text for b in briefs))

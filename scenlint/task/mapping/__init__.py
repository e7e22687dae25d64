"""Which check covers which criterion: by an outright mark, a shared name, path, key or value, or by common words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scenlint.task.mapping.marks import mark_places, marks
from scenlint.task.mapping.vocabulary import Vocabulary, brief_vocabulary, stem_of, stems

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.model import Task

__all__ = [
    "Link", "Mapping", "Vocabulary", "brief_vocabulary", "map_task", "mark_places", "marks", "stem_of", "stems",
]  # fmt: skip


@dataclass(frozen=True)
class Link:
    """A check covers a criterion; `by` is one of mark, id, docstring, path, key, value, words; `strength` 0 to 1.

    `shared` are the terms that tie them, folded; of words their stems.
    """

    criterion: Criterion
    check: Check
    by: str
    strength: float
    shared: frozenset[str] = frozenset()


class Mapping:
    """Criteria and checks of a task, and the links between them."""

    enough = 0.3  # share of a criterion's words that ties a check to it where they are fewer than three

    def __init__(self, task: Task) -> None:
        self.task = task
        self.briefs = task.briefs
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

    def about(self, criterion: Criterion) -> Vocabulary:
        """What a criterion speaks of."""
        return self._about[id(criterion)]

    # Links.

    def _links(self, criterion: Criterion) -> Iterator[Link]:
        about = self._about[id(criterion)]
        for check in self.checks:
            yield from (Link(criterion, check, *tie) for tie in self.ties(criterion, about, check))

    def ties(
        self, criterion: Criterion, about: Vocabulary, check: Check
    ) -> Iterator[tuple[str, float, frozenset[str]]]:
        """What ties a check to a criterion that speaks `about` something: kind of evidence, strength, shared terms."""
        if criterion.number in self.marked(check):
            yield "mark", 1.0, frozenset([criterion.number])
        said = about.values | about.names
        if keys := self._keys[id(check)] & said:
            yield ("id" if {c.lower() for c in check.criteria} & said else "key"), 0.9, frozenset(keys)
        spoken = self._spoken[id(check)]
        if told := about.values & spoken.values | about.names & spoken.names | about.values & spoken.names:
            yield "docstring", 0.8, told
        source = self._source[id(check)]
        if paths := about.paths & (self._read[id(check)] | source.paths):
            yield "path", 0.5, paths
        if values := self._shared_values(about, source):
            yield "value", 0.7, values
        shared = about.words & (spoken.words | source.words)
        if shared and (len(shared) >= 3 or len(shared) >= self.enough * len(about.words)):
            yield "words", round(min(0.6, len(shared) / len(about.words)), 2), shared
        elif len(pairs := about.characters & (spoken.characters | source.characters)) >= 3:
            yield "words", round(min(0.6, len(pairs) / len(about.characters)), 2), pairs

    def _shared_values(self, about: Vocabulary, source: Vocabulary) -> frozenset[str]:
        numbers = {f"{n:g}" for n in about.numbers & source.numbers} if about.numbers else set()
        return frozenset(numbers | {v for v in about.values | about.names if v in source.folded})

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
        return {id(c): Vocabulary("\n".join(self._material(c))) for c in self.checks}

    def _material(self, check: Check) -> Iterable[str]:
        """A check's own words, with the paths, keys and constants that were resolved from elsewhere."""
        yield check.span.text
        yield from (a.path for a in check.accesses)
        yield from (f"`{k.name}`" for k in check.keys)
        yield from (f"`{c.constant}`" for c in check.comparisons if c.has_constant)


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


def _spaced(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]+", " ", text)

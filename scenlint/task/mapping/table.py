"""The mapping as a table: beside each criterion the checks that answer to it, and what ties the two, place by place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.source.text import Span
from scenlint.task.mapping import Mapping, Vocabulary, stems
from scenlint.task.mapping.places import bounded, code_of, ends
from scenlint.task.mapping.prose import stated_in_prose
from scenlint.task.paths import EXTENSIONS

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.model import Task

KEPT = 0.6  # a pair is kept that is at least this much of the best one of its criterion or of its check
WEAK = 0.35
FAINT = 0.06  # words that stand everywhere tie nothing
_KINDS = ("mark", "id", "key", "docstring", "path", "value", "words")
_ENDING = re.compile(rf"(?<=\w)\.(?:{'|'.join(sorted(e.lstrip('.') for e in EXTENSIONS))})\b", re.I)
_FOLDERS = re.compile(r"(?<![\w:/.])(?:~|\.{1,2})?/(?:[\w.@-]+/)*(?=[\w.*{-])")


Rarity = Callable[[str, str], float]  # (kind, term) -> 1 where one criterion and one check have it, else less


@dataclass(frozen=True)
class Tie:
    """One piece of evidence: its kind, the terms that both ends share, and where the first of them stands at each."""

    by: str
    shared: tuple[str, ...]
    strength: float
    at_criterion: Span
    at_check: Span


@dataclass(frozen=True)
class Pair:
    """A check that answers to a criterion. `strength` 0 to 1 weighs all ties, the most telling ones most."""

    criterion: Criterion
    check: Check
    ties: tuple[Tie, ...]
    strength: float

    @property
    def marked(self) -> bool:
        """Whether the check names the criterion outright."""
        return self.ties[0].by in ("mark", "id")

    @property
    def weak(self) -> bool:
        """Whether no more than a few common words tie the two: a reader should look."""
        return self.strength < WEAK and all(t.by == "words" for t in self.ties)


@dataclass(frozen=True)
class _Draft:
    """A pair before the places of its evidence are looked for, which takes longest."""

    criterion: Criterion
    check: Check
    ties: list[tuple[str, list[str], float]]  # kind, terms, strength
    strength: float

    @property
    def marked(self) -> bool:
        return self.ties[0][0] == "mark"

    def placed(self) -> Pair:
        ties = sorted(self.ties, key=lambda tie: (tie[0] != "mark", -tie[2]))
        return Pair(self.criterion, self.check, tuple(self._tie(*tie) for tie in ties), self.strength)

    def _tie(self, by: str, terms: list[str], strength: float) -> Tie:
        shared, at_criterion, at_check = ends(self.criterion, self.check, by, terms)
        return Tie(by, shared, strength, at_criterion, at_check)


class _Text(Vocabulary):
    """A text whose folders and endings of files say nothing: everything lies in `/app` and is JSON."""

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(stems(self._bare))

    @cached_property
    def names(self) -> frozenset[str]:
        return Vocabulary(self._bare).names

    @cached_property
    def _bare(self) -> str:
        return _ENDING.sub("", _FOLDERS.sub("", self.text))


class _Wide(Mapping):
    """The mapping with the sentences that demand something as criteria, and with all that a check's code says.

    What common words tie is weighed later, so that fewer of them will do.
    """

    enough = 0.2

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        for brief in task.briefs:
            self.criteria += stated_in_prose(brief.prose, brief.criteria)
        order = {str(b.prose.path): n for n, b in reversed(list(enumerate(task.briefs)))}
        self.criteria.sort(key=lambda c: (order[str(c.span.source.path)], c.span.start))

    @cached_property
    def _about(self) -> dict[int, Vocabulary]:
        return {id(c): _Text(c.raw or c.text) for c in self.criteria}

    @cached_property
    def _source(self) -> dict[int, Vocabulary]:
        return {id(c): _Text("\n".join([code_of(c).text, *self._material(c)])) for c in self.checks}

    def _shared_values(self, about: Vocabulary, source: Vocabulary) -> frozenset[str]:
        found = super()._shared_values(about, source)
        return frozenset(v for v in found if all(re.search(bounded(v), text.folded) for text in (about, source)))


class Table:
    """The criteria of a task, its checks, and the pairs between them.

    A check that names criteria outright answers to those alone. Of all others the pairs are kept that are among the
    best for their criterion or for their check. A sentence beside a list of criteria counts only where a check answers
    to it; where the brief has no list, every sentence that demands something counts.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.mapping = _Wide(task)
        self.checks: list[Check] = self.mapping.checks

    @cached_property
    def criteria(self) -> list[Criterion]:
        """Those of a list, and the sentences that count, in the order of the brief."""
        answered = {id(p.criterion) for p in self.pairs}
        return [c for c in self.mapping.criteria if id(c) in answered or not self._beside(c)]

    def _beside(self, criterion: Criterion) -> bool:
        """Whether it is a sentence of a brief that has a list of criteria."""
        return criterion.kind == "sentence" and criterion.span.source.path in self._with_list

    @cached_property
    def _with_list(self) -> set[Path]:
        return {c.span.source.path for c in self.mapping.criteria if c.kind != "sentence"}

    @cached_property
    def pairs(self) -> list[Pair]:
        """By criterion, the strongest first."""
        listed, beside = self._weighed()
        best = _best(listed)
        # A sentence beside a list is asked only about checks that fit nothing in the list, or worse.
        listed += [d for d in beside if d.strength * KEPT >= best.get(id(d.check), 0)]
        best = _best(listed)
        kept = [d for d in listed if d.marked or d.strength >= self._least(d, best)]
        order = {id(c): n for n, c in enumerate(self.mapping.criteria)}
        return [d.placed() for d in sorted(kept, key=lambda d: (order[id(d.criterion)], -d.strength))]

    @staticmethod
    def _least(draft: _Draft, best: dict[int, float]) -> float:
        """What a pair must weigh: much of the best at either end; by words alone something beside the check's best."""
        of_criterion, of_check = best[id(draft.criterion)], best[id(draft.check)]
        words_only = all(by == "words" for by, *_ in draft.ties)
        return max(KEPT * min(of_criterion, of_check), FAINT, of_check / 4 if words_only else 0)

    def of(self, criterion: Criterion) -> list[Pair]:
        return [p for p in self.pairs if p.criterion is criterion]

    @property
    def uncovered(self) -> list[Criterion]:
        """The criteria to which no check answers."""
        covered = {id(p.criterion) for p in self.pairs}
        return [c for c in self.criteria if id(c) not in covered]

    @property
    def unclaimed(self) -> list[Check]:
        """The checks that answer to no criterion."""
        used = {id(p.check) for p in self.pairs}
        return [c for c in self.checks if id(c) not in used]

    # Weighing.

    def _weighed(self) -> tuple[list[_Draft], list[_Draft]]:
        """Every possible pair, and apart from them those of sentences that stand beside a list.

        A term that many checks or many criteria have in common counts for little.
        """
        found = {
            (c, k): list(self.mapping.ties(criterion, self.mapping.about(criterion), check))
            for c, criterion in enumerate(self.mapping.criteria)
            for k, check in enumerate(self.checks)
            if self._same_step(criterion, check)
        }
        checks: Counter[tuple[str, str]] = Counter()  # kind and term -> checks that have it
        criteria: Counter[tuple[str, str]] = Counter()
        for counter, end in ((checks, 1), (criteria, 0)):
            seen = {
                (place[end], by, term) for place, ties in found.items() for by, _, shared in ties for term in shared
            }
            counter.update((by, term) for _, by, term in seen)
        named = {k for (_, k), ties in found.items() if any(by == "mark" for by, *_ in ties)}
        out: tuple[list[_Draft], list[_Draft]] = ([], [])
        for (c, k), ties in found.items():
            if not ties or (k in named and ties[0][0] != "mark"):
                continue
            criterion, check = self.mapping.criteria[c], self.checks[k]

            def rare(by: str, term: str) -> float:
                return 1 / sqrt(max(checks[by, term], 1) * max(criteria[by, term], 1))

            told, said = [], set[str]()
            for by, base, shared in sorted(ties, key=lambda tie: _KINDS.index(tie[0])):
                terms = sorted(shared if by == "words" else shared - said, key=lambda t: (-rare(by, t), t))
                said |= shared
                if terms:
                    strength = base if by == "mark" else self._strength(criterion, check, by, base, terms, rare)
                    told.append((by, terms, round(strength, 3)))
            out[self._beside(criterion)].append(
                _Draft(criterion, check, told, round(1 - prod(1 - strength for *_, strength in told), 3))
            )
        return out

    def _strength(
        self, criterion: Criterion, check: Check, by: str, base: float, terms: Sequence[str], rare: Rarity
    ) -> float:
        if by != "words":
            return 1 - prod(1 - base * rare(by, t) for t in terms)
        about, (spoken, _) = self.mapping.about(criterion), self.mapping.vocabularies(check)
        everything = about.words | about.characters
        # A word of the label says more than one somewhere in the code.
        weight = sum(rare(by, t) * (1 if t in spoken.words | spoken.characters else 0.5) for t in terms)
        return min(0.6, weight / sum(rare(by, t) for t in everything))

    def _same_step(self, criterion: Criterion, check: Check) -> bool:
        """Whether a check may answer to it: each step of a task has a brief and a verifier of its own."""
        folders = {b.prose.path.parent for b in self.mapping.briefs}
        mine = check.fragment.path.parents
        owners = [f for f in folders if f in mine]
        if len(folders) < 2 or not owners:
            return True
        return max(owners, key=lambda f: len(f.parts)) == criterion.span.source.path.parent


def _best(drafts: Iterable[_Draft]) -> dict[int, float]:
    """The strength of the best pair of every criterion and of every check."""
    best: dict[int, float] = {}
    for draft in drafts:
        for end in (draft.criterion, draft.check):
            best[id(end)] = max(best.get(id(end), 0), draft.strength)
    return best

"""A task whose brief or reference solution is nearly that of another task of the suite."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from scenlint.rules import Confidence, Finding, Kind, Severity, suite_rule
from scenlint.task.card import SKETCH, Card
from scenlint.task.finding import related

NEAR = 0.8  # share of five-word sequences in common
FAMILY = 8  # what more tasks than this have in common is the suite's template, not a copy
FEWEST = 30  # sequences below which two texts are alike only if they are equal


@suite_rule(
    "near-duplicate-task",
    "SL122",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    refute="the two tasks ask for different skills although they are worded alike",
)
def near_duplicate_task(cards: Sequence[Card]) -> Iterator[Finding]:
    suites: dict[tuple[str, Path | None], list[Card]] = defaultdict(list)
    for card in cards:
        suites[card.format, card.suite].append(card)
    for suite in suites.values():
        for one, other, said in _pairs(suite):
            finding = Finding.at(
                one.id_location,
                f"{said} stands in task `{other.key or other.folder.name}` as well, so one skill counts twice",
                help="keep one of the two, or make them differ in what has to be worked out",
                related=[related(other.id_location, "the other task")],
            )
            yield replace(finding, task=one.id)


def _pairs(suite: list[Card]) -> Iterator[tuple[Card, Card, str]]:
    """Each task that is like an earlier one, with the earlier one that it is most like."""
    brief, oracle, verifier = (_Texts(suite, role) for role in ("brief", "oracle", "verifier"))
    found: dict[int, tuple[float, int, str]] = {}
    for first, second in sorted(oracle.candidates() | brief.candidates()):
        told, done = brief.likeness(first, second), oracle.likeness(first, second)
        # Phases of one project, or one exercise in two languages, share a brief; what is checked tells them apart.
        graded, solved = verifier.share(first, second), oracle.share(first, second)
        work = graded >= 0.75 if graded is not None else solved is None or solved >= 0.5
        same_work = min(verifier.own_share(first, second), oracle.own_share(first, second)) >= 0.9
        if same_work:
            told = max(told, brief.own_share(first, second))
        if told >= (0.5 if same_work else NEAR) and (work or (told == 1.0 and brief.long(first, second))):
            found[second] = max(found.get(second, (0.0, 0, "")), (told, first, f"{told:.0%} of the brief"))
        elif done >= NEAR and oracle.long(first, second):
            said = f"{done:.0%} of the reference solution"
            found[second] = max(found.get(second, (0.0, 0, "")), (done, first, said))
    for second, (_, first, said) in sorted(found.items()):
        yield suite[second], suite[first], said


class _Texts:
    """One text of every task; `own` is without what the suite's template brings."""

    def __init__(self, suite: list[Card], role: str) -> None:
        self.sketches: list[Sequence[int]] = [card.sketches.get(role, ()) for card in suite]
        values = sorted(array("I", (value for sketch in self.sketches for value in sketch)))
        # What stands in one text only, as nearly all does, needs no list of who has it.
        self.holders: dict[int, list[int]] = {v: [] for v, following in pairwise(values) if v == following}
        del values
        for n, sketch in enumerate(self.sketches):
            for value in sketch:
                if value in self.holders:
                    self.holders[value].append(n)
        self.template = {value for value, tasks in self.holders.items() if len(tasks) > FAMILY}
        self.sizes = [sum(value not in self.template for value in sketch) for sketch in self.sketches]
        self._own: dict[int, set[int]] = {}

    def own(self, n: int) -> set[int]:
        if n not in self._own:
            self._own[n] = {value for value in self.sketches[n] if value not in self.template}
        return self._own[n]

    def candidates(self) -> set[tuple[int, int]]:
        """The pairs that have enough in common to be looked at."""
        common: Counter[tuple[int, int]] = Counter()
        for tasks in self.holders.values():
            if 1 < len(tasks) <= FAMILY:
                common.update((a, b) for i, a in enumerate(tasks) for b in tasks[i + 1 :])
        return {(a, b) for (a, b), n in common.items() if n >= NEAR * min(FEWEST, self.sizes[a], self.sizes[b])}

    def long(self, a: int, b: int) -> bool:
        return min(self.sizes[a], self.sizes[b]) >= FEWEST

    def likeness(self, a: int, b: int) -> float:
        """How much of what is the tasks' own is the same."""
        share = self.own_share(a, b)
        return share if self.long(a, b) or share == 1.0 else 0.0

    def own_share(self, a: int, b: int) -> float:
        return _share(self.own(a), self.own(b))

    def share(self, a: int, b: int) -> float | None:
        """How much of the whole texts is the same; None where one of them is missing."""
        one, other = self.sketches[a], self.sketches[b]
        return _share(set(one), set(other)) if one and other else None


def _share(one: set[int], other: set[int]) -> float:
    union = sorted(one | other)[:SKETCH]
    return len(one & other & set(union)) / len(union) if union else 0.0

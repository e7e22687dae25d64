"""A task whose brief or reference solution is nearly that of another task of the suite."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from scenlint.rules import Confidence, Finding, Kind, Severity, suite_rule
from scenlint.task.card import SKETCH, Card
from scenlint.task.finding import related

NEAR = 0.8  # share of five-word sequences in common
FAMILY = 8  # what more tasks than this have in common is the suite's template, not a copy
FEWEST = 30  # hashes that must be left once the template's are gone


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
            yield Finding.at(
                one.id_location,
                f"{said} the same as in task `{other.key or other.folder.name}`",
                help="keep one of the two, or make them differ in what has to be worked out; a copy counts the same skill twice",
                related=[related(other.id_location, "the other task")],
            )


def _pairs(suite: list[Card]) -> Iterator[tuple[Card, Card, str]]:
    """Each task that is like an earlier one, with the earlier one that it is most like."""
    found: dict[int, tuple[float, int, str]] = {}
    for role in ("brief", "oracle"):
        for (first, second), share in _alike([set(c.sketches.get(role, ())) for c in suite]).items():
            name = "the brief" if role == "brief" else "the reference solution"
            found[second] = max(found.get(second, (0.0, 0, "")), (share, first, f"{name} is to {share:.0%}"))
    for second, (_, first, said) in sorted(found.items()):
        yield suite[second], suite[first], said


def _alike(sketches: list[set[int]]) -> dict[tuple[int, int], float]:
    """The pairs of sketches that are nearly the same, template text aside."""
    holders: dict[int, list[int]] = defaultdict(list)
    for n, sketch in enumerate(sketches):
        for value in sketch:
            holders[value].append(n)
    own = [{v for v in sketch if len(holders[v]) <= FAMILY} for sketch in sketches]
    shared: Counter[tuple[int, int]] = Counter()
    for tasks in holders.values():
        if 1 < len(tasks) <= FAMILY:
            shared.update((a, b) for i, a in enumerate(tasks) for b in tasks[i + 1 :])
    out = {}
    for (a, b), count in shared.items():
        if count >= NEAR * FEWEST and min(len(own[a]), len(own[b])) >= FEWEST:
            union = sorted(own[a] | own[b])[:SKETCH]
            share = len(own[a] & own[b] & set(union)) / len(union)
            if share >= NEAR:
                out[a, b] = share
    return out

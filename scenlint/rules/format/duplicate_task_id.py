"""Two tasks of one suite with the same id."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from scenlint.rules import Confidence, Finding, Kind, Severity, suite_rule
from scenlint.task.card import Card
from scenlint.task.finding import related


@suite_rule(
    "duplicate-task-id",
    "SL106",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="the harness tells the two tasks apart by something else than their id",
)
def duplicate_task_id(cards: Sequence[Card]) -> Iterator[Finding]:
    groups: dict[tuple[str, Path | None, str], dict[tuple[str, str], Card]] = defaultdict(dict)
    for card in cards:
        # One folder reached by two paths is one task.
        groups[card.format, card.suite, card.id].setdefault((os.path.realpath(card.folder), card.key), card)
    for (_, _, name), same in groups.items():
        first, *others = same.values()
        for card in others:
            finding = Finding.at(
                card.id_location,
                f"the id `{name}` is also that of `{_called(first)}`; results of the two cannot be told apart",
                help="give one of them another id",
                related=[related(first.id_location, "the other task")],
            )
            yield replace(finding, task=card.id)


def _called(card: Card) -> str:
    return card.key or card.folder.name

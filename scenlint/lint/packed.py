"""Outcomes as plain JSON values and back, for the cache."""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenlint.lint.engine import Outcome, Selected
from scenlint.report.model import RuleCard
from scenlint.task.card import Card
from scenlint.task.finding import Confidence, Finding, Kind, Location, NotAssessed, Severity
from scenlint.task.fix import Change, Fix

_SEVERITY: dict[str | None, Severity | None] = {None: None, **{str(s): s for s in Severity}}
_CONFIDENCE: dict[str | None, Confidence | None] = {None: None, **{str(c): c for c in Confidence}}
_KIND = {str(k): k for k in Kind}


def pack(outcome: Outcome, base: str) -> list[Any]:
    """An outcome as JSON values; paths inside `base` are stored relative to it."""
    return [
        outcome.task,
        [_finding(f, base) for f in outcome.findings],
        [[n.rule, n.code, n.task, n.reason] for n in outcome.not_assessed],
        " ".join(outcome.ran),
        outcome.suppressed,
        sorted(outcome.used_suppressions),
        _card(outcome.card, base) if outcome.card else None,
    ]


def unpack(values: list[Any], base: str) -> Outcome:
    """The outcome again. Raises ValueError, TypeError, KeyError or IndexError where these are no values of one."""
    task, findings, missing, ran, suppressed, used, card = values
    paths: dict[str, Path] = {}
    return Outcome(
        task,
        [_unpack_finding(f, base, paths) for f in findings],
        [NotAssessed(*n) for n in missing],
        _words(ran),
        suppressed,
        set(used),
        [],
        _unpack_card(card, base, paths) if card else None,
    )


def pack_selected(selected: Selected) -> list[Any]:
    """What is said of the selected rules, as JSON values; their pages are not kept."""
    cards = [[c.name, c.code, c.summary, c.severity, c.confidence, c.kind, c.aliases] for c in selected.rules]
    return [cards, selected.only_trials, selected.plain]


def unpack_selected(values: list[Any]) -> Selected:
    """The same again. Raises what `unpack` raises."""
    cards, only_trials, plain = values
    rules = [
        RuleCard(name, code, summary, Severity(severity), Confidence(confidence), Kind(kind), "", tuple(aliases))
        for name, code, summary, severity, confidence, kind, aliases in cards
    ]
    return Selected(rules, bool(only_trials), bool(plain))


@lru_cache(maxsize=256)
def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _words(text: str) -> list[str]:
    return list(_split(text))


def _short(path: Path, base: str) -> str:
    text = str(path)
    return "." + text[len(base) :] if text == base or text.startswith(base + "/") else text


def _long(text: str, base: str, paths: dict[str, Path]) -> Path:
    path = paths.get(text)
    if path is None:
        inside = text == "." or text.startswith("./")
        path = paths[text] = Path(base + text[1:] if inside else text)
    return path


def _place(place: Location, base: str) -> list[Any]:
    return [
        _short(place.path, base), place.line, place.column, place.end_line, place.end_column, place.message,
        place.excerpt, place.shift, place.byte,
    ]  # fmt: skip


def _unpack_place(values: list[Any], base: str, paths: dict[str, Path]) -> Location:
    path, line, column, end_line, end_column, message, excerpt, shift, byte = values
    return Location(
        _long(path, base, paths), line, column, end_line, end_column, message, tuple(excerpt), shift, byte
    )  # fmt: skip


def _finding(f: Finding, base: str) -> list[Any]:
    return [
        f.message, _place(f.location, base), f.help, [_place(p, base) for p in f.related], f.severity, f.confidence,
        f.refute, f.rule, f.code, f.kind, f.task, f.policy, _fix(f.fix, base) if f.fix else None,
    ]  # fmt: skip


def _unpack_finding(values: list[Any], base: str, paths: dict[str, Path]) -> Finding:
    message, place, help, related, severity, confidence, refute, rule, code, kind, task, policy, fix = values
    return Finding(
        message,
        _unpack_place(place, base, paths),
        help,
        tuple([_unpack_place(p, base, paths) for p in related]),
        _SEVERITY[severity],
        _CONFIDENCE[confidence],
        refute,
        rule,
        code,
        _KIND[kind],
        task,
        policy,
        _unpack_fix(fix, base, paths) if fix else None,
    )


def _fix(fix: Fix, base: str) -> list[Any]:
    changes = [
        [_short(c.path, base), c.start, c.end, c.text, c.line, c.column, c.end_line, c.end_column] for c in fix.changes
    ]
    return [fix.title, changes, fix.seen, fix.safe, fix.imports]


def _unpack_fix(values: list[Any], base: str, paths: dict[str, Path]) -> Fix:
    title, changes, seen, safe, imports = values
    made = tuple(Change(_long(path, base, paths), *rest) for path, *rest in changes)
    return Fix(title, made, seen, safe, tuple(imports))


def _card(card: Card, base: str) -> list[Any]:
    sketches = {role: b64encode(hashes.tobytes()).decode() for role, hashes in card.sketches.items()}
    suite = None if card.suite is None else str(card.suite)
    return [card.id, str(card.folder), card.key, card.format, suite, _place(card.id_location, base), sketches]


def _unpack_card(values: list[Any], base: str, paths: dict[str, Path]) -> Card:
    id, folder, key, format, suite, place, packed = values
    sketches = {role: array("I", b64decode(text)) for role, text in packed.items()}
    where = _unpack_place(place, base, paths)
    return Card(id, Path(folder), key, format, Path(suite) if suite is not None else None, where, sketches)

"""Checks that a declared grader makes without a program: text, file, JSON Schema, and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenlint.source.data import listed
from scenlint.task.checks.model import Access, Check, Comparison, Dialect, How

if TYPE_CHECKING:
    from scenlint.task.model import Grader

_PROGRAMS = frozenset(["program", "script", "verify_function", "body", "code"])
# Configuration key -> the operator that its entries are held against the output with.
_WORDS = {
    "contains": "in", "contains_any": "in", "contains_cs": "in", "must_contain": "in", "text": "in", "expected": "==",
    "not_contains": "not in", "not_contains_cs": "not in", "must_not_contain": "not in",
    "regex_match": "matches", "must_match": "matches", "patterns": "matches", "regex": "matches", "pattern": "matches",
    "regex_not_match": "not matches", "must_not_match": "not matches",
}  # fmt: skip


def checks(grader: Grader) -> list[Check]:
    """The check of a grader that is not run; [] for one that is."""
    if grader.kind in _PROGRAMS or grader.span is None or grader.script is not None:
        return []
    check = Check(
        grader.name, grader.name, grader.span, _fragment(grader), Dialect.GRADER, grader.weight, grader.required
    )
    config = grader.config if isinstance(grader.config, dict) else {}
    _compare(check, config)
    presence = _files(check, config)
    wanted = [c for c in check.comparisons if c.operator not in ("not in", "not matches")]
    trivial = all(_matches_anything(c.constant) for c in wanted if c.operator == "matches") and all(
        c.operator == "matches" for c in wanted
    )
    check.existence_only = (presence or bool(wanted)) and trivial and grader.kind in ("file", "text", "regex")
    return [check]


def _fragment(grader: Grader) -> Any:
    from scenlint.source.text import Fragment

    assert grader.span is not None
    return Fragment.of(grader.span.source, "yaml")


def _compare(check: Check, config: dict[Any, Any], prefix: str = "") -> None:
    for name, entry in config.items():
        operator = _WORDS.get(str(name))
        if operator is not None:
            for constant in entry if isinstance(entry, list) else [entry]:
                if isinstance(constant, str | int | float):
                    check.comparisons.append(Comparison(operator, constant, True, True, check.span))


def _files(check: Check, config: dict[Any, Any]) -> bool:
    found = False
    for name in ("must_exist", "path", "file"):
        entry = config.get(name)
        for path in entry if isinstance(entry, list) else [entry]:
            if isinstance(path, str):
                found |= name == "must_exist"
                check.accesses.append(Access(path, How.EXISTS if name == "must_exist" else How.READ, check.span))
    for entry in listed(config.get("content_patterns")):
        if isinstance(entry, dict) and isinstance(entry.get("path"), str):
            check.accesses.append(Access(entry["path"], How.READ, check.span))
            _compare(check, entry)
    return found


def _matches_anything(pattern: Any) -> bool:
    import re

    try:
        return isinstance(pattern, str) and bool(re.search(pattern, "x")) and bool(re.search(pattern, "?!"))
    except re.error:
        return False

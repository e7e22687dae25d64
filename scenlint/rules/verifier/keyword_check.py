"""A written answer passes if some words stand in it anywhere, whatever else it says."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.judgements import Judgement, is_made
from scenlint.task.stance import Stance

_PROSE = frozenset([".txt", ".md", ".rst", ".text", ".answer", ""])
_LOOSE = ("in", "matches")
_FORMED = regex(
    r"[=:{}<>|/\\^$]|\d{3}|^(?:PASS|OK|SUCCESS|DONE|FAIL)(?:ED)?$"
)  # a setting, a line with a form, a number that is no word
_WORDS = 4  # a longer phrase is no keyword


@rule(
    "keyword-check",
    "SL512",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="a text that names every candidate, or says the opposite, is turned down",
)
def keyword_check(task: Task) -> Iterator[Finding]:
    by_path: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in task.judgements:
        for path in judgement.paths:
            by_path[path].append(judgement)
    for path, judgements in by_path.items():
        if not _is_prose(task, path) or not all(_is_loose(j) for j in judgements if not j.comparison.presence):
            continue
        searched = [
            j for j in judgements if j.comparison.operator in _LOOSE and j.stance in (Stance.WANTED, Stance.EITHER)
        ]
        if not searched or not all(_is_at_hand(j) for j in searched if j.stance is Stance.WANTED):
            continue
        first, *rest = searched
        words = ", ".join(f"`{c}`" for c in first.constants[:3])
        yield Finding.at(
            first.span,
            f"any text that holds {words} passes here, also one that names every candidate or says the opposite",
            help="compare the whole answer, or ask for it in a form that can be parsed",
            related=[related(j.span, "and so it is here") for j in rest[:5]],
        )


def _is_prose(task: Task, path: str) -> bool:
    name = PurePosixPath(path)
    return name.suffix.lower() in _PROSE and is_made(task.visible, path)


def _is_loose(judgement: Judgement) -> bool:
    """Whether a comparison lets any text pass that holds some word, or is long enough."""
    compared = judgement.comparison
    if compared.operator in (">", ">="):
        return True
    if compared.operator not in _LOOSE or compared.key or compared.sources or judgement.unwanted:
        return False
    whole_line = judgement.node is None and re.search(r"\s-\w*x", judgement.span.text)
    if whole_line or (
        judgement.module and judgement.node and isinstance(judgement.module.parent(judgement.node), ast.IfExp)
    ):
        return False
    texts = [c for c in judgement.constants if isinstance(c, str)]
    return bool(texts) and all(not _FORMED.search(t) and len(t.split()) <= _WORDS for t in texts)


def _is_at_hand(judgement: Judgement) -> bool:
    """Whether the agent can read the words, so that copying what it was given passes."""
    visible = judgement.visible
    return all(visible.mentions(c, word=True) for c in judgement.constants if isinstance(c, str))

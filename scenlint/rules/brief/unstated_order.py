"""A list that has to be in one order, which the brief leaves free or never tells."""

import re
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.freedoms import Freedom, evens_out, freedom
from scenlint.task.judgements import Judgement
from scenlint.task.visible import Visible

_ORDER = regex(
    r"order|sort|ascend|descend|alphabet|chronolog|sequence|\bfirst\b|\brank|\blast\b|\bthen\b|\bnext\b|\btop\b|"
    r"highest|lowest|smallest|largest|oldest|newest|latest|earliest|from .{1,20} to |respectively|\bpath\b|route|"
    r"steps?\b|exactly|format|example|排序|顺序|升序|降序|依次",
    re.IGNORECASE,
)


@rule(
    "unstated-order",
    "SL206",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief gives the order, or there is only one that makes sense",
)
def unstated_order(task: Task) -> Iterator[Finding]:
    for judgement in task.judgements:
        compared = judgement.comparison
        if compared.operator not in ("==", "!=") or compared.selects or not judgement.wanted:
            continue
        wanted = next((c for c in judgement.constants if isinstance(c, list) and _is_listing(c)), None)
        if wanted is None:
            continue
        free = freedom(judgement, Freedom.ORDER)
        if (free is None and not _is_silent(judgement, wanted)) or evens_out(judgement, Freedom.ORDER):
            continue
        where, said = (free, "leaves free") if free else (judgement.visible.briefs[-1].source, "does not give")
        yield Finding.at(
            judgement.span,
            f"these {len(wanted)} have to come in one order, which the brief {said}",
            help="compare sorted lists or counts of both sides, or state the order in the brief",
            related=[related(where, f"the brief {said} the order" if free else "the brief says nothing of order")],
        )


def _is_listing(constant: list[Any]) -> bool:
    """Whether a list holds several different things of one kind."""
    return (
        len(constant) > 1 and len({type(i) for i in constant}) == 1 and len(set(map(repr, constant))) == len(constant)
    )


def _is_silent(judgement: Judgement, wanted: list[Any]) -> bool:
    """Whether no word of the brief touches on order, and nothing the agent can read holds the things in this order."""
    compared = judgement.comparison
    if not compared.key or not compared.paths or compared.sources or not all(isinstance(i, str) for i in wanted):
        return False
    if len(wanted) < 3 or wanted == sorted(wanted) or any(_ORDER.search(b.text) for b in judgement.visible.briefs):
        return False
    return not judgement.visible.opaque and not _stands_so(judgement.visible, wanted)


def _stands_so(visible: Visible, wanted: list[str]) -> bool:
    for text in visible.texts:
        at = 0
        for item in wanted:
            at = text.folded.find(item.lower(), at)
            if at < 0:
                break
        else:
            return True
    return False

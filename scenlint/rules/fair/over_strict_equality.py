"""A whole text or object has to be equal although the brief leaves part of it free."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.source.json_reader import loads
from scenlint.source.regex import regex
from scenlint.task.freedoms import Freedom, behind, evens_out, freedom
from scenlint.task.judgements import Judgement, is_made

_AS_GIVEN = regex(
    r"exact|byte|verbatim|identical|character|compact|minif|indent|separators|one line|canonical|whitespace", re.I
)
_DIGEST = regex(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_HELP = {
    Freedom.ORDER: "compare the lines as a sorted list or a set",
    Freedom.KEYS: "compare the keys that are asked for one by one",
    Freedom.CASE: "compare both sides in lower case",
    Freedom.SPACE: "strip or split both sides before they are compared",
}


@rule(
    "over-strict-equality",
    "SL604",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="what the brief leaves free is made alike before it is compared",
)
def over_strict_equality(task: Task) -> Iterator[Finding]:
    for judgement in task.judgements:
        compared = judgement.comparison
        if compared.operator not in ("==", "!=") or compared.selects or not judgement.wanted:
            continue
        fixed = [k for k in Freedom if any(_fixes(k, c) for c in judgement.constants)]
        free = next(((k, at) for k in fixed if (at := freedom(judgement, k)) and not evens_out(judgement, k)), None)
        if free:
            yield Finding.at(
                judgement.span,
                f"this fixes the {free[0]}, which the brief leaves free",
                help=_HELP[free[0]],
                related=[related(free[1], "right work may differ here")],
            )
        elif (how := _json_as_text(judgement)) is not None:
            yield Finding.at(
                judgement.span,
                f"JSON is compared as text{how}: other spacing or another order of the keys fails",
                help="parse both sides with `json.loads` and compare the values",
            )


def _fixes(kind: Freedom, constant: Any) -> bool:
    """Whether equality with a constant fixes what may be free."""
    if kind is Freedom.KEYS:
        return isinstance(constant, dict) and bool(constant)
    if not isinstance(constant, str):
        return False
    if kind is Freedom.ORDER:
        return len(constant.split("\n")) > 2 or bool(re.fullmatch(r"[^\n,]+(?:, ?[^\n,]+)+\n?", constant))
    if kind is Freedom.CASE:
        return bool(re.search(r"[A-Za-z]", constant))
    return bool(constant.strip())


def _json_as_text(judgement: Judgement) -> str | None:
    """How an agent's JSON is compared as it is written; None where it is not."""
    module, node = judgement.module, judgement.node
    texts = [c for c in judgement.constants if isinstance(c, str) and (_is_object(c) or _DIGEST.fullmatch(c))]
    paths = judgement.comparison.paths
    if module is None or node is None or not paths or not (texts or "dumps" in judgement.span.text):
        return None
    if any(_AS_GIVEN.search(b.text) for b in judgement.visible.briefs) or not all(
        is_made(judgement.visible, p) for p in paths
    ):
        return None
    calls = {_last(p.func) for p in behind(module, node) if isinstance(p, ast.Call)}
    if calls & {"load", "loads"}:
        return None
    if any(map(_is_object, texts)) or ("dumps" in calls and not judgement.constants):
        return ""
    return " (by its digest)" if texts and "hexdigest" in calls and any(p.endswith(".json") for p in paths) else None


def _is_object(text: str) -> bool:
    try:
        return text.strip()[:1] in ("{", "[") and len(loads(text)) > 1
    except ValueError:
        return False


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

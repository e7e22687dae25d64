"""Numbers that bound the verdict in an inequality."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from scenlint.source.literals import number_of
from scenlint.source.python import PyModule
from scenlint.source.regex import regex
from scenlint.task.checks.model import Check, Comparison
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.model import Task
from scenlint.task.numbers import find_numbers
from scenlint.task.stance import Stance, locate, stance

_INEQUALITIES = ("<", "<=", ">", ">=")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
# What should be high and what should be low, by the words of the comparison.
_QUALITY = regex(
    r"score|similar|accura|precision|recall|(?:\b|_)f1(?:\b|_)|(?:\b|_)iou(?:\b|_)|dice|ssim|psnr|(?:\b|_)snr(?:\b|_)|corr(?:elation)?(?:\b|_)|"
    r"r2(?:\b|_)|r_squared|coverage|overlap|bleu|rouge|(?:\b|_)auc|speed_?up|fidelity|agreement|win_rate|match_?(?:rate|ratio)|frac(?:\b|_)",
    re.IGNORECASE,
)
_COST = regex(
    r"elapsed|duration|seconds|latency|runtime|_time\b|\btook\b|queries|calls|requests|attempts|moves|iterations|tokens|params\b|"
    r"getsize|st_size|file_size|num_bytes|memory|rmse|(?:\b|_)mae\b|(?:\b|_)mse\b|loss\b|(?:\b|_)wer\b|(?:\b|_)cer\b|error_rate|perplexity|cost\b|"
    r"len\(\s*\w*(?:text|content|summary|message|line|title|desc|word|char|sentence|subject|body|comment|caption|abstract)",
    re.IGNORECASE,
)
_SANITY = regex(
    r"reasonabl|random|suspicious|sanity|plausib|realistic|seems|suggests|too (?:short|small|few)|empty|meaningful|"
    r"substantial|at least \w+ (?:characters|chars|bytes)|impossibl",
    re.IGNORECASE,
)


def thresholds(task: Task) -> Iterator[Demand]:
    """Each bound once: a least quality or a greatest cost. Sanity bounds and windows around an answer are left out."""
    ground = Ground.of(task)
    seen: set[tuple[float, str]] = set()
    for check, visible in ground.checks():
        for comparison in check.comparisons:
            number = comparison.constant
            if not _candidate(comparison) or _is_window(comparison, check):
                continue
            found = locate(task, check, comparison.span)
            if found is None:
                continue
            operator = {Stance.WANTED: comparison.operator, Stance.UNWANTED: _OPPOSITE[comparison.operator]}.get(
                stance(*found)
            )
            if operator is None or (number, operator) in seen or not _judges(operator, number, *found, check):
                continue
            seen.add((number, operator))
            yield Demand(number, comparison.constant_span or comparison.span, visible, operator)


def _candidate(comparison: Comparison) -> bool:
    number = number_of(comparison.constant)
    return (
        comparison.operator in _INEQUALITIES
        and comparison.produced
        and not comparison.presence
        and not comparison.selects
        and number is not None
        and math.isfinite(number)
        and abs(number) not in (0, 1)
        and _literal(comparison)
    )


def _literal(comparison: Comparison) -> bool:
    """Whether the number is written out, not worked out from others that the brief may give."""
    span = comparison.constant_span
    return span is not None and any(n.stands_for(float(comparison.constant)) for n in find_numbers(span.text))


def _is_window(comparison: Comparison, check: Check) -> bool:
    """Whether the check bounds the same from the other side too: then the two stand around the right answer."""
    return any(
        other.operator in _INEQUALITIES
        and other.operator[0] != comparison.operator[0]
        and other.has_constant
        and (abs(other.span.line - comparison.span.line) <= 1 or _sides(other) & _sides(comparison))
        for other in check.comparisons
    )


def _sides(comparison: Comparison) -> set[str]:
    """The two sides of a comparison as they are written."""
    return {side.strip() for side in re.split(r"[<>]=?", comparison.span.text)}


def _judges(operator: str, number: float, module: PyModule, node: ast.AST, check: Check) -> bool:
    """Whether what is bounded is a quality or a cost, by the words around the comparison."""
    what = ast.unparse(node)
    statement = next((p for p in module.parents(node) if isinstance(p, ast.stmt)), node)
    around = module.span(statement).text[:400]
    if _SANITY.search(around):
        return False
    if operator[0] == ">":
        return bool(_QUALITY.search(what)) and not re.search(r"\blen\(|size|count", what)
    return bool(_COST.search(what)) and number > 0 and not (number >= 1000 and math.log10(number).is_integer())

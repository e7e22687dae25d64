"""The brief closes a set of keys or lines, and no check turns down one too many."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import parse
from scenlint.source.regex import regex
from scenlint.task.checks import Check, Comparison, How
from scenlint.task.closed import closed_sets

_CLOSES = regex(
    r"jsonschema|issubset|unexpected|additionalProperties|extra[_ ](?:key|field|col|line|row|entr)", re.IGNORECASE
)
_MAY_CLOSE = regex(r"\.keys\(\)|\bset\(|frozenset|\bissuperset|extra|additional|unknown|fieldnames|\.columns\b|len\(")

_ONE_KEY = regex(r"\bjq\b[^|]*['\" ]\.\w+['\" ]")  # in shell: one value of a JSON object


@rule(
    "superset-accepted",
    "SL521",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="work with one key, line or record too many is turned down",
)
def superset_accepted(task: Task) -> Iterator[Finding]:
    for closed in closed_sets(task):
        checks = [c for c in task.checks if any(a.path == closed.path and a.how is How.READ for a in c.accesses)]
        looked = [c for c in checks if any(_is_of(k, closed.path) for k in c.comparisons)]
        if not looked or any(not c.complete or _closes(c, closed.path) for c in checks):
            continue
        first = next(k for c in looked for k in c.comparisons if _is_of(k, closed.path))
        yield Finding.at(
            first.span,
            f"one {closed.what} too many in `{closed.path}` passes: only those expected are looked at",
            help="compare all of them, such as `set(given) == set(EXPECTED)`, or let the brief allow further ones",
            related=[related(closed.span, "the brief allows no other")],
        )


def _is_of(comparison: Comparison, path: str) -> bool:
    return path in comparison.paths and comparison.produced and not comparison.presence


def _closes(check: Check, path: str) -> bool:
    """Whether a check may turn down more than what is expected."""
    node = check.node
    whole = not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    body = check.fragment.text if whole or node is None else parse(check.fragment).span(node).text
    if _CLOSES.search(check.fragment.text) or _MAY_CLOSE.search(body):
        return True
    for comparison in check.comparisons:
        if not _is_of(comparison, path) or comparison.key is not None or comparison.operator in (">", ">="):
            continue
        if comparison.operator in ("in", "startswith", "endswith") and isinstance(comparison.constant, str):
            continue
        if node is None and _ONE_KEY.search(comparison.span.text):
            continue
        return True
    return False

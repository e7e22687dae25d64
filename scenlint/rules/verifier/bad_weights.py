"""Weights that make no score: negative, all zero, or not adding up to what the score is divided by."""

import ast
import math
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.literals import number_of
from scenlint.source.python import PyModule, parse
from scenlint.source.regex import regex
from scenlint.task.verdict_flow.points import Points, points, site, totals, weights

_TABLE = regex(r"(?i)(?:\w*_)?weights?(?:_\w*)?")


@rule(
    "bad-weights",
    "SL509",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the sum is divided by the sum of the weights, or they are no weights of checks",
)
def bad_weights(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None:
        return
    for grader in verifier.graders:
        if grader.weight is not None and grader.span is not None and not 0 < grader.weight < math.inf:
            message = f"`{grader.name}` has the weight `{grader.weight:g}`"
            yield Finding.at(grader.span, message, help="give it a weight above 0, or remove it")
    for found in points(task):
        yield from _printed(found)
    for fragment in verifier.code("python"):
        yield from _tables(parse(fragment))


def _printed(found: Points) -> Iterator[Finding]:
    known = weights(found)
    if known and not any(known.values()):
        message = "every check weighs 0, so no score can be computed"
        yield Finding.at(site(found.checks[0]), message, help="give each check a weight of at least 1")
        return
    # Checks that exclude each other share a call or a total; only a sum that no reading gives is wrong.
    by_site = {site(line): known.get(label, 0) for line, label in zip(found.checks, known, strict=False)}
    for total, line in totals(found).items():
        if known and total not in (sum(known.values()), sum(by_site.values())):
            yield Finding.at(
                line.output.place.span,
                f"the total of {total} points is not what the checks add up to ({sum(known.values()):g})",
                help="compute the total from the weights",
            )


def _tables(module: PyModule) -> Iterator[Finding]:
    for node in module.tree.body:
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AnnAssign)
            else None
        )
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or not _TABLE.fullmatch(target.id) or not isinstance(value, ast.Dict):
            continue
        numbers = [(v, n) for v in value.values if (n := _number(v)) is not None]
        if len(numbers) < 2 or len(numbers) != len(value.values):
            continue
        bad = next((v for v, n in numbers if n < 0 or not math.isfinite(n)), None)
        total = sum(n for _, n in numbers)
        if bad is not None:
            message = f"the weight `{ast.unparse(bad)}` is no share of a score"
            yield Finding.at(module.span(bad), message, help="give every check a weight of at least 0")
        elif total == 0:
            yield Finding.at(module.span(node), "all weights are 0", help="give each check a weight above 0")
        elif _shares(module, target.id, [n for _, n in numbers]):
            message = f"these weights add up to {total:g}, so the full score is not 1"
            yield Finding.at(module.span(node), message, help="let them add up to 1, or divide by their sum")


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return float("nan") if re.fullmatch(r"float\(['\"]nan['\"]\)", ast.unparse(node)) else None
    return number_of(value)


def _shares(module: PyModule, name: str, numbers: list[float]) -> bool:
    """Whether a table is meant as shares of 1, misses that, and nothing divides by its sum."""
    total = sum(numbers)
    if not all(0 < n < 1 for n in numbers) or math.isclose(total, 1, abs_tol=1e-6) or not 0.5 < total < 1.5:
        return False
    divides = any(isinstance(n, ast.BinOp | ast.AugAssign) and isinstance(n.op, ast.Div) for n in module.nodes)
    summed = rf"sum\((?:\s*{name}(?:\.values\(\))?\s*\)|[^()]*\bin\s+{name}\.(?:values|items)\(\))"
    return not divides and re.search(summed, module.fragment.text) is None

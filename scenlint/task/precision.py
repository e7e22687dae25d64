"""How exactly numbers have to be met: what the brief allows, and what a comparison of the verifier lets pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.literals import literals, number_of
from scenlint.source.python import PyModule, walk
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.judgements import Judgement
from scenlint.task.numbers import find_numbers
from scenlint.task.visible import Visible

_TOLERANCE = regex(
    r"(?:toleran\w*|\bwithin\b|±|\+/-|\berrors?\b|\baccurate to\b|\bprecision\b|误差)[^.\n\d]{0,40}?"
    r"(\d[\d.]*(?:[eE]-?\d+)?|10\^-?\d+)(?!\d|\s*(?:%|percent|[x×]|s\b|sec|min|ms\b|hour|day|char|line|byte|step|attempt))",
    re.IGNORECASE,
)
_DIGITS = regex(
    r"\b(?:(\d)|(one|two|three|four|five|six))[- ](?:decimal|places|digits? after)|\.(\d)f\b", re.IGNORECASE
)
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
# A sentence about every number, not about one of them.
_GENERAL = regex(
    r"\b(?:all|any|every|each|numbers?|numeric(?:al)?|values?|results?|answers?|floats?|floating|comparisons?|compared|outputs?)\b|数值|结果",
    re.IGNORECASE,
)
_USUAL = frozenset(
    ["abs", "float", "math", "isclose", "approx", "pytest", "expected", "actual", "self", "tol", "tolerance"]
)
# Function -> its default relative and absolute tolerance, and the keywords for them.
_FUNCTIONS = {
    "math.isclose": (1e-9, 0.0, "rel_tol", "abs_tol"),
    "numpy.isclose": (1e-5, 1e-8, "rtol", "atol"),
    "numpy.allclose": (1e-5, 1e-8, "rtol", "atol"),
    "numpy.testing.assert_allclose": (1e-7, 0.0, "rtol", "atol"),
    "torch.isclose": (1e-5, 1e-8, "rtol", "atol"),
    "torch.allclose": (1e-5, 1e-8, "rtol", "atol"),
    "pytest.approx": (1e-6, 1e-12, "rel", "abs"),
}


@dataclass(frozen=True)
class Precision:
    """A tolerance, or a number of digits, that a brief states, and the line it stands in."""

    value: float
    span: Span
    line: str

    def is_about(self, judgement: Judgement) -> bool:
        """Whether it speaks of all numbers, or of the one that is compared."""
        said = self.sentence if "`" in self.sentence else self.line
        if _GENERAL.search(said):
            return True
        compared = {judgement.comparison.key or "", *re.findall(r"[A-Za-z_]{3,}", judgement.span.text)} - _USUAL
        words = {word for name in compared for word in re.findall(r"[A-Za-z]{3,}", name)}
        return any(re.search(rf"(?<![A-Za-z]){word[:6]}", said, re.IGNORECASE) for word in words)

    @property
    def sentence(self) -> str:
        """The part of the line that states it: what is named there, it is about."""
        at = self.line.find(self.span.text)
        start = max(self.line.rfind(mark, 0, at) for mark in (". ", "! ", "; "))
        return re.split(r"[.!;]\s", self.line[start + 1 :].lstrip())[0] if start >= 0 else self.line


def tolerances(visible: Visible) -> Iterator[Precision]:
    """The tolerances that the briefs state as a plain number below 1; shares of a value (5 %) are left out."""
    for brief in visible.briefs:
        for match in _TOLERANCE.finditer(brief.text):
            number = next((n.value for n in find_numbers(match[1].rstrip("."))), 0.0)
            if 0 < number < 1:
                yield Precision(number, brief.span(*match.span()), _line(brief.text, match.start()))


def digits(visible: Visible) -> Iterator[Precision]:
    """The numbers of decimal places that the briefs ask for."""
    for brief in visible.briefs:
        for match in _DIGITS.finditer(brief.text):
            count = int(match[1] or match[3] or _WORDS[match[2].lower()])
            yield Precision(count, brief.span(*match.span()), _line(brief.text, match.start()))


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)]


@dataclass(frozen=True)
class Margin:
    """How far a number may be off: a share of it, or a distance, whichever lets more pass."""

    relative: float
    absolute: float

    def around(self, number: float) -> float:
        return max(self.absolute, self.relative * abs(number))


def margin(judgement: Judgement) -> Margin | None:
    """The tolerance of a comparison; None where it has none, or where it is not written out."""
    module, node = judgement.module, judgement.node
    if module is None or node is None:
        return None
    for call in (n for n in walk(node) if isinstance(n, ast.Call)):
        name = module.dotted(call.func)
        if name in _FUNCTIONS:
            return _of_function(module, call, name)
        if name.endswith("assertAlmostEqual"):
            return _almost_equal(module, call)
    if judgement.comparison.tolerance is None or not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    found = [n for side in (node.left, node.comparators[0]) if (n := number(module, side)) is not None]
    return Margin(0.0, found[0]) if len(found) == 1 else None


def _of_function(module: PyModule, call: ast.Call, name: str) -> Margin | None:
    relative, absolute, first, second = _FUNCTIONS[name]
    given = {k.arg: number(module, k.value) for k in call.keywords}
    if len(call.args) > (1 if name == "pytest.approx" else 2) or None in (given.get(first, 0), given.get(second, 0)):
        return None
    if name == "pytest.approx" and second in given and first not in given:
        relative = 0.0  # it drops its own default then
    return Margin(
        given.get(first) or relative * (first not in given), given.get(second) or absolute * (second not in given)
    )


def _almost_equal(module: PyModule, call: ast.Call) -> Margin | None:
    given = {k.arg: number(module, k.value) for k in call.keywords}
    if len(call.args) != 2 or None in given.values():
        return None
    return Margin(0.0, given.get("delta") or 0.5 * 10 ** -(given.get("places") or 7))


def number(module: PyModule, node: ast.expr) -> float | None:
    """The number that an expression is, by itself or by a name that is set once."""
    values = literals(module).assigned.get(node.id, []) if isinstance(node, ast.Name) else [node]
    if len(values) != 1:
        return None
    try:
        value = ast.literal_eval(values[0])
    except (ValueError, TypeError):
        return None
    return number_of(value)

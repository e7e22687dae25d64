"""A computed decimal number that has to be equal to the last digit, or equal as text."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Finding, Fix, Role, Severity, Task, related, rule
from scenlint.source.edit_python import local_name, replace
from scenlint.source.literals import literals
from scenlint.source.python import PyModule, walk
from scenlint.source.regex import regex
from scenlint.task.judgements import Judgement
from scenlint.task.precision import Precision, tolerances

_DECIMAL = regex(r"-?\d+\.(\d+)(?:[eE][-+]?\d+)?")
_LONG = 4  # digits behind the point that no one arrives at without computing
_ARGUMENTS = regex(r"[\d\s.,\[\](){}eE+\-'\":]+")
_SHAPED = regex(
    r"\bround|decimal|digits?\b|\bplaces\b|precision|significant|\.\d+f|\bexact|verbatim|小数|保留|四舍五入", re.I
)
_ROUNDING = frozenset(["round", "int", "format", "floor", "ceil", "trunc", "quantize", "around"])
_FLOAT_MAKERS = frozenset(["mean", "fmean", "stdev", "pstdev", "variance", "sqrt", "std", "average", "exp", "log"])


@rule(
    "exact-float",
    "SL602",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the number is copied, not computed, or the brief says how it is rounded",
    fix="unsafe",
)
def exact_float(task: Task) -> Iterator[Finding]:
    for judgement in task.judgements:
        compared = judgement.comparison
        if compared.operator not in ("==", "!=") or compared.tolerance is not None or not judgement.wanted:
            continue
        allowed = next((t for t in tolerances(judgement.visible) if t.is_about(judgement)), None)
        found = [leaf for c in judgement.constants for leaf in _leaves(c) if _computed(leaf, judgement, bool(allowed))]
        if (found or _worked_out(judgement)) and not _rounded(judgement):
            if not allowed and any(_SHAPED.search(b.text) for b in judgement.visible.briefs):
                continue
            number = f"`{found[0]}`" if found else "what the verifier works out"
            as_text = bool(found) and isinstance(found[0], str)
            yield Finding.at(
                judgement.span,
                f"a computed number has to equal {number} {'as text' if as_text else 'to the last bit'}",
                help="compare within a tolerance that the brief states: `math.isclose(…, abs_tol=…)`",
                related=[related(allowed.span, "the brief allows a tolerance")] if allowed else [],
                fix=_close(judgement, allowed),
            )


def _close(judgement: Judgement, allowed: Precision | None) -> Fix | None:
    """`math.isclose(…)` for a comparison of numbers, within the tolerance that the brief states."""
    module, node = judgement.module, judgement.node
    if module is None or not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    sides = node.left, node.comparators[0]
    if not _worked_out(judgement) and not any(
        isinstance(s, ast.Constant) and isinstance(s.value, float) for s in sides
    ):
        return None
    name, imports = local_name(module, "math")
    left, right = (module.fragment.text[slice(*module.bounds(side))] for side in sides)
    opposite = "not " if isinstance(node.ops[0], ast.NotEq) else ""
    tolerance = allowed.value if allowed else 1e-6
    absolute = allowed is not None and "relative" not in allowed.line
    within = f"rel_tol=0, abs_tol={tolerance!r}" if absolute else f"rel_tol={tolerance!r}"
    edits = replace(module, node, f"{opposite}{name}.isclose({left}, {right}, {within})")
    return Fix.of(f"compare with `{within}`", *edits, safe=False, imports=imports)


def _leaves(constant: Any) -> Iterator[float | str]:
    """The numbers with a fraction and the texts in a constant."""
    if isinstance(constant, dict):
        constant = list(constant.values())
    if isinstance(constant, list | tuple):
        for item in constant:
            yield from _leaves(item)
    elif isinstance(constant, float | str):
        yield constant


def _computed(leaf: float | str, judgement: Judgement, allowed: bool) -> bool:
    """Whether it is a decimal number that the agent has to compute: not short, and nothing it can read holds it."""
    written = repr(leaf) if isinstance(leaf, float) else leaf.strip()
    match = _DECIMAL.fullmatch(written)
    if not match or not match[1].strip("0"):
        return False
    if len(match[1]) < _LONG and not (allowed and isinstance(leaf, float)):
        return False
    visible = judgement.visible
    return not _is_input(written, judgement.module) and not (
        visible.mentions(written, word=True) or visible.states_number(float(written))
    )


def _is_input(number: str, module: PyModule | None) -> bool:
    """Whether the verifier writes it among the arguments of a case, as text: then the result may hold it unchanged."""
    texts = (n.value for n in module.of(ast.Constant) if isinstance(n.value, str)) if module else ()
    word = re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d.])")
    return any(_ARGUMENTS.fullmatch(t) and t.strip() != number and word.search(t) for t in texts)


def _worked_out(judgement: Judgement) -> bool:
    """Whether one side is the outcome of a division, a mean or a root."""
    module, node = judgement.module, judgement.node
    if judgement.constants or module is None or not isinstance(node, ast.Compare):
        return False
    return any(_is_float(module, value) for side in (node.left, *node.comparators) for value in _values(module, side))


def _is_float(module: PyModule, value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        plain = (ast.Name, ast.Call, ast.Constant, ast.BinOp, ast.Subscript, ast.Attribute)
        paths = ("path" in ast.unparse(value).lower(), *(isinstance(n, ast.JoinedStr) for n in walk(value)))
        texts = (isinstance(n, ast.Constant) and isinstance(n.value, str) for n in (value.left, value.right))
        return isinstance(value.left, plain) and not any(paths) and not any(texts)
    return (
        isinstance(value, ast.Call)
        and "." in (name := module.dotted(value.func))
        and name.rpartition(".")[2] in _FLOAT_MAKERS
    )


def _rounded(judgement: Judgement) -> bool:
    """Whether what is compared was cut to some digits."""
    module, node = judgement.module, judgement.node
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else getattr(node, "args", [])
    parts = [p for s in sides if module for v in _values(module, s) for p in walk(v)]
    return any(
        (isinstance(p, ast.Call) and _last(p.func) in _ROUNDING)
        or (isinstance(p, ast.FormattedValue) and p.format_spec is not None)
        for p in parts
    )


def _values(module: PyModule, node: ast.expr) -> list[ast.expr]:
    """An expression, and what its name was set to."""
    return [node, *(literals(module).assigned.get(node.id, []) if isinstance(node, ast.Name) else [])]


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

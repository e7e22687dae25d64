"""How a verifier says that a check failed or passed: the statements of a block, the names that it counts in."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from scenlint.source.regex import regex

FAILURES = regex(
    r"(?:\w*_)?(?:errors?|problems?|failures?|failed|issues?|violations?|missing|bad|wrong|mismatch\w*|reasons?)"
)
PASSES = regex(
    r"(?:\w*_)?(?:ok|okay|pass|passed|success|successes|succeeded|valid|found|correct|score|points?|earned|reward|hits?)"
)


def fails(body: Sequence[ast.stmt]) -> bool:
    """Whether a block says that the check failed."""
    return any(_fails(s) for s in body)


def _fails(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and not node.test.value
    if isinstance(node, ast.Return):
        value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        return (
            value is not None and mark(value) is False and not (isinstance(value, ast.Constant) and value.value is None)
        )
    if isinstance(node, ast.Assign):
        return any(named(t, PASSES) for t in node.targets) and mark(node.value) is False
    if isinstance(node, ast.AugAssign):
        return named(node.target, FAILURES)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = last(call.func)
    if name in ("fail", "_fail", "skip") or name.startswith("fail"):
        return name != "skip"
    if name in ("exit", "_exit", "quit"):
        return bool(call.args) and not (isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None))
    if name in ("append", "add", "extend"):
        return isinstance(call.func, ast.Attribute) and named(call.func.value, FAILURES)
    return any(
        isinstance(a, ast.Constant) and a.value is False for a in [*call.args, *(k.value for k in call.keywords)]
    )


def passes(body: Sequence[ast.stmt]) -> bool:
    """Whether a block says that the check passed."""
    return any(_passes(s) for s in body)


def _passes(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        return value is not None and mark(value) is True
    if isinstance(node, ast.Assign):
        return any(named(t, PASSES) for t in node.targets) and mark(node.value) is True
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and named(node.target, PASSES)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and any(
        isinstance(a, ast.Constant) and a.value is True for a in [*call.args, *(k.value for k in call.keywords)]
    )


def leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Continue | ast.Break | ast.Raise)


def mark(node: ast.expr) -> bool | None:
    """Whether a constant stands for a pass: True, 1, "PASS" against False, 0, None, "FAIL"."""
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):
        word = node.value.upper()
        return True if word in ("PASS", "PASSED", "OK") else False if "FAIL" in word else None
    return bool(node.value)


def named(node: ast.AST, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.fullmatch(last(node).lower()))


def last(node: ast.AST) -> str:
    """The last name of `x`, `self.x`, `a.b.x`, `x["key"]`."""
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else last(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

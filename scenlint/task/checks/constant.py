"""Conditions that hold whatever the work is like."""

from __future__ import annotations

import ast

from scenlint.source.python import PyModule, walk

_METHODS = frozenset([
    "exists", "is_file", "is_dir", "isfile", "isdir", "startswith", "endswith", "isdigit", "isalpha", "strip", "lower",
    "upper", "is_valid",
])  # fmt: skip
_SIZES = ("len", "abs", "os.path.getsize")
_SAME = (ast.Eq, ast.Is, ast.LtE, ast.GtE)


def always_true(test: ast.expr, module: PyModule) -> str:
    """Why a condition can't be false, or ""."""
    if isinstance(test, ast.Constant) and test.value:
        return f"`{ast.unparse(test)[:40]}` is a constant"
    if isinstance(test, ast.Tuple) and test.elts:
        return "a tuple with something in it is true, so the condition inside is never asked"
    if isinstance(test, ast.GeneratorExp):
        return "a generator is true whatever it yields; `all(…)` asks its items"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return next((f"`or {ast.unparse(v)[:40]}` makes it true" for v in test.values if always_true(v, module)), "")
    if isinstance(test, ast.BoolOp):
        return always_true(test.values[0], module) if all(always_true(v, module) for v in test.values) else ""
    if isinstance(test, ast.Attribute) and test.attr in _METHODS:
        return f"`{test.attr}` is a method that is not called"
    if isinstance(test, ast.Name) and test.id in module.functions and not _rebound(test, module):
        return f"`{test.id}` is a function that is not called"
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _comparison(test.left, test.ops[0], test.comparators[0], module)
    return ""


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, module: PyModule) -> str:
    if isinstance(op, _SAME) and same(left, right):
        return "both sides are the same"
    if isinstance(op, ast.LtE | ast.Lt):
        left, right, op = right, left, ast.GtE() if isinstance(op, ast.LtE) else ast.Gt()
    bound = _number(right)
    below = bound is not None and ((isinstance(op, ast.GtE) and bound <= 0) or (isinstance(op, ast.Gt) and bound < 0))
    sized = isinstance(left, ast.Call) and module.dotted(left.func) in _SIZES
    return "a size is never negative" if sized and below else ""


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are the same and asking twice can't give two answers."""
    pure = not any(isinstance(n, ast.Call | ast.Attribute | ast.Await | ast.Yield | ast.NamedExpr) for n in walk(left))
    return pure and ast.dump(left) == ast.dump(right)


def _rebound(name: ast.Name, module: PyModule) -> bool:
    function = module.function_of(name)
    return function is not None and any(
        (isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store))
        or (isinstance(n, ast.arg) and n.arg == name.id)
        for n in walk(function)
    )

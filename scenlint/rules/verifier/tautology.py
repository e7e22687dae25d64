"""A test whose condition holds whatever the work is like."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule, parse

_METHODS = frozenset(
    "exists is_file is_dir isfile isdir startswith endswith isdigit isalpha strip lower upper is_valid".split()
)
_SIZES = frozenset("len abs os.path.getsize".split())
_SAME = (ast.Eq, ast.Is, ast.LtE, ast.GtE)
_TRUE_ASSERTS = ("assertTrue", "assert_")
_EQUAL_ASSERTS = ("assertEqual", "assertEquals", "assertIs", "assertIn", "assertAlmostEqual")


@rule(
    "tautology",
    "SL503",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="some state of the work makes the condition false",
)
def tautology(task: Task) -> Iterator[Finding]:
    if task.verifier is None:
        return
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        for node in ast.walk(module.tree):
            for test in _conditions(node, module):
                if (why := _always(test, module)) and not _filler(node, module):
                    yield Finding.at(
                        module.span(test),
                        f"this condition always holds: {why}",
                        help="compare a value that the agent produced with the value that the brief asks for",
                    )


def _conditions(node: ast.AST, module: PyModule) -> Iterator[ast.expr]:
    """The conditions that a node states as a test."""
    if isinstance(node, ast.Assert):
        yield node.test
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in _TRUE_ASSERTS:
            yield node.args[0]
        elif node.func.attr in _EQUAL_ASSERTS and len(node.args) > 1 and _same(node.args[0], node.args[1]):
            yield ast.copy_location(ast.Compare(node.args[0], [ast.Eq()], [node.args[1]]), node)
    elif isinstance(node, ast.BoolOp) and not isinstance(module.parent(node), ast.Assert):
        if isinstance(node.op, ast.Or) and _is_true(node.values[-1]) and all(map(_is_test, node.values[:-1])):
            yield node


def _always(test: ast.expr, module: PyModule) -> str:
    """Why a condition can't be false, or ""."""
    if isinstance(test, ast.Constant) and test.value:
        return f"`{ast.unparse(test)[:40]}` is a constant"
    if isinstance(test, ast.Tuple) and test.elts:
        return "a tuple with something in it is true, so the condition inside is never asked"
    if isinstance(test, ast.GeneratorExp):
        return "a generator is true whatever it yields; `all(…)` asks its items"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return next((f"`or {ast.unparse(v)[:40]}` makes it true" for v in test.values if _always(v, module)), "")
    if isinstance(test, ast.BoolOp):
        return _always(test.values[0], module) if all(_always(v, module) for v in test.values) else ""
    if isinstance(test, ast.Attribute) and test.attr in _METHODS:
        return f"`{test.attr}` is a method that is not called"
    if isinstance(test, ast.Name) and test.id in module.functions and not _rebound(test, module):
        return f"`{test.id}` is a function that is not called"
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _comparison(test.left, test.ops[0], test.comparators[0], module)
    return ""


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, module: PyModule) -> str:
    if isinstance(op, _SAME) and _same(left, right):
        return "both sides are the same"
    if isinstance(op, ast.LtE | ast.Lt):
        left, right, op = right, left, ast.GtE() if isinstance(op, ast.LtE) else ast.Gt()
    bound = _number(right)
    if isinstance(left, ast.Call) and module.dotted(left.func) in _SIZES and bound is not None:
        if (isinstance(op, ast.GtE) and bound <= 0) or (isinstance(op, ast.Gt) and bound < 0):
            return "a size is never negative"
    return ""


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are the same and asking twice can't give two answers."""
    pure = not any(isinstance(n, ast.Call | ast.Await | ast.Yield | ast.NamedExpr) for n in ast.walk(left))
    return pure and ast.dump(left) == ast.dump(right)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _rebound(name: ast.Name, module: PyModule) -> bool:
    function = module.function_of(name)
    return function is not None and any(
        (isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store))
        or (isinstance(n, ast.arg) and n.arg == name.id)
        for n in ast.walk(function)
    )


def _filler(node: ast.AST, module: PyModule) -> bool:
    """Whether `assert True` only says that this way through the test is the right one, and another way fails."""
    if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant)):
        return False
    return any(
        isinstance(n, ast.Raise)
        or (isinstance(n, ast.Assert) and not (isinstance(n.test, ast.Constant) and n.test.value))
        or (isinstance(n, ast.Call) and module.dotted(n.func).endswith((".fail", "pytest.fail", "sys.exit")))
        for n in ast.walk(module.function_of(node) or module.tree)
    )

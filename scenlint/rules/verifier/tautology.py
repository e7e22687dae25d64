"""A test whose condition holds whatever the work is like."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule, parse, walk
from scenlint.task.checks.constant import always_true, same

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
        for node in module.of(ast.Assert, ast.Call, ast.BoolOp):
            for test in _conditions(node, module):
                if (why := always_true(test, module)) and not _filler(node, module):
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
        elif node.func.attr in _EQUAL_ASSERTS and len(node.args) > 1 and same(node.args[0], node.args[1]):
            yield ast.copy_location(ast.Compare(node.args[0], [ast.Eq()], [node.args[1]]), node)
    elif _ends_in_true(node) and not isinstance(module.parent(node), ast.Assert):
        yield node


def _ends_in_true(node: ast.AST) -> TypeGuard[ast.BoolOp]:
    """`a == b or True`."""
    if not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and all(map(_is_test, node.values[:-1]))):
        return False
    last = node.values[-1]
    return isinstance(last, ast.Constant) and last.value is True


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _filler(node: ast.AST, module: PyModule) -> bool:
    """Whether `assert True` only says that this way through the test is the right one, and another way fails."""
    if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant)):
        return False
    return any(
        isinstance(n, ast.Raise)
        or (isinstance(n, ast.Assert) and not (isinstance(n.test, ast.Constant) and n.test.value))
        or (isinstance(n, ast.Call) and module.dotted(n.func).endswith((".fail", "pytest.fail", "sys.exit")))
        for n in walk(module.function_of(node) or module.tree)
    )

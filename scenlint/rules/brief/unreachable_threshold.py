"""A threshold that nothing can reach: what is counted has fewer members than the check wants."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule, parse
from scenlint.task.stance import Stance, stance
from scenlint.task.upper_bounds import UpperBounds

_LEAST: dict[type[ast.cmpop], bool] = {ast.GtE: False, ast.Gt: True}  # whether the bound itself is too little
_FLIPPED = {ast.LtE: ast.GtE, ast.Lt: ast.Gt}
_INVERSE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt}
_ASSERTS = {"assertGreaterEqual": False, "assertGreater": True}


@rule(
    "unreachable-threshold",
    "SL214",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="some work reaches the threshold",
)
def unreachable_threshold(task: Task) -> Iterator[Finding]:
    assert task.verifier is not None
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        bounds = UpperBounds(task, module)
        for node in module.of(ast.Call, ast.Compare):
            for counted, least, excluded in _demands(module, node):
                wanted, most = bounds.exact(least), bounds.number(counted)
                if (
                    wanted is not None
                    and most is not None
                    and wanted > 0
                    and (most < wanted or (excluded and most == wanted))
                ):
                    yield Finding.at(
                        module.span(node),
                        f"no work can pass: this wants {'more than' if excluded else 'at least'} {wanted:g}, "
                        f"and `{ast.unparse(counted)[:60]}` comes to {most:g} at most",
                        help="lower the threshold to what the material holds, or add to the material",
                    )


def _demands(module: PyModule, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """What has to reach what: (counted, threshold, whether the threshold itself is too little)."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _ASSERTS
        and len(node.args) > 1
    ):
        yield node.args[0], node.args[1], _ASSERTS[node.func.attr]
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right, op = node.left, node.comparators[0], type(node.ops[0])
    asked = stance(module, node) if op in (*_LEAST, *_FLIPPED) else Stance.OPEN
    if asked is Stance.WANTED and op in _LEAST:
        yield left, right, _LEAST[op]
    elif asked is Stance.WANTED:
        yield right, left, _LEAST[_FLIPPED[op]]
    elif asked is Stance.UNWANTED and op in _INVERSE:
        yield left, right, _LEAST[_INVERSE[op]]

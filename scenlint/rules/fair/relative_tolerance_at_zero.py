"""A tolerance relative to an expected value of 0, which lets nothing but 0 itself pass."""

import ast
from collections.abc import Iterator

from scenlint.rules import Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source.edit_python import set_keyword
from scenlint.source.literals import literals
from scenlint.source.python import PyModule, walk
from scenlint.task.judgements import Judgement

# Function -> the keyword of its absolute tolerance, and whether that has a default above 0.
_ABSOLUTE = {
    "math.isclose": ("abs_tol", False),
    "cmath.isclose": ("abs_tol", False),
    "numpy.isclose": ("atol", True),
    "numpy.allclose": ("atol", True),
    "torch.isclose": ("atol", True),
    "torch.allclose": ("atol", True),
    "numpy.testing.assert_allclose": ("atol", False),
    "pytest.approx": ("abs", True),
}


@rule(
    "relative-tolerance-at-zero",
    "SL605",
    severity=Severity.WARNING,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="right work gives exactly 0 there, whatever the order in which it computes",
    fix="unsafe",
)
def relative_tolerance_at_zero(task: Task) -> Iterator[Finding]:
    for judgement in task.judgements:
        numbers = [c for c in judgement.constants if isinstance(c, int | float) and not isinstance(c, bool)]
        if (
            0 not in numbers
            or judgement.module is None
            or (len(numbers) > 1 and all(isinstance(n, int) for n in numbers))
        ):
            continue
        how = _by_function(judgement) or _by_hand(judgement)
        if how:
            yield Finding.at(
                judgement.span,
                f"0 is expected here, and {how}: any rounding fails",
                help="give an absolute tolerance too, such as `abs_tol=1e-9`, or `tolerance * max(1.0, abs(expected))`",
                fix=_with_absolute(judgement),
            )


def _with_absolute(judgement: Judgement) -> Fix | None:
    call = _without_absolute(judgement)
    if call is None or judgement.module is None:
        return None
    keyword = _ABSOLUTE[judgement.module.dotted(call.func)][0]
    return Fix.of(f"add `{keyword}=1e-9`", *set_keyword(judgement.module, call, keyword, "1e-9"), safe=False)


def _by_function(judgement: Judgement) -> str:
    """A closeness function that was given, or left with, no absolute tolerance."""
    call = _without_absolute(judgement)
    if call is None or judgement.module is None:
        return ""
    name = judgement.module.dotted(call.func)
    return f"`{name.rpartition('.')[2]}` has no `{_ABSOLUTE[name][0]}`"


def _without_absolute(judgement: Judgement) -> ast.Call | None:
    module = judgement.module
    if module is None or judgement.node is None:
        return None
    for call in (n for n in walk(judgement.node) if isinstance(n, ast.Call)):
        name = module.dotted(call.func)
        keyword, default = _ABSOLUTE.get(name, ("", True))
        given = next((k.value for k in call.keywords if k.arg == keyword), None)
        if keyword and (_is_zero(module, given) if given is not None else not default):
            return call
    return None


def _by_hand(judgement: Judgement) -> str:
    """`abs(got - want) <= 0.01 * abs(want)`."""
    node = judgement.node
    if judgement.comparison.tolerance is None or not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return ""
    sides = [node.left, node.comparators[0]]
    distance = next((s for s in sides if isinstance(s, ast.Call) and s.args and isinstance(s.args[0], ast.BinOp)), None)
    if distance is None or not isinstance(distance.args[0], ast.BinOp):
        return ""
    bound = sides[1 - sides.index(distance)]
    want = {ast.dump(distance.args[0].left), ast.dump(distance.args[0].right)}
    factors = list(_factors(bound))
    if len(factors) > 1 and any(ast.dump(f) in want for f in factors):
        return "the tolerance is a share of it"
    return ""


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "abs" and len(node.args) == 1
    ):
        yield from _factors(node.args[0])
    else:
        yield node


def _is_zero(module: PyModule, node: ast.expr) -> bool:
    values = literals(module).assigned.get(node.id, []) if isinstance(node, ast.Name) else [node]
    return bool(values) and all(isinstance(v, ast.Constant) and v.value == 0 for v in values)

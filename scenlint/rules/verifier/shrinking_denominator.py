"""The score is divided by the number of checks that ran, which a submission can make smaller."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.task.checks.growth import Growth

_SCORE = regex(r"score|reward|ratio|rate|accuracy|fraction|grade|points|pct|percent", re.IGNORECASE)
_MEANS = ("statistics.mean", "statistics.fmean", "numpy.mean", "mean", "fmean")
_EARNED = regex(r"pass|earned|score|correct|ok|hits|points|good|held|right|success|sum", re.IGNORECASE)


@rule(
    "shrinking-denominator",
    "SL508",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="work that stops the verifier early is scored as if every check behind that point had failed",
)
def shrinking_denominator(task: Task) -> Iterator[Finding]:
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = parse(fragment)
        for node in module.of(ast.BinOp, ast.Call):
            parts = _quotient(node, module)
            if parts is not None and _is_score(node, parts[0], module):
                yield from _judge(node, parts[1], module)


def _quotient(node: ast.AST, module: PyModule) -> tuple[ast.expr, ast.expr] | None:
    """What is divided, and what its number is taken from: `a / b`, or the mean of a list."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    if isinstance(node, ast.Call) and module.dotted(node.func) in _MEANS and node.args:
        return node, ast.Call(ast.Name("len", ast.Load()), [node.args[0]], [])
    return None


def _judge(division: ast.AST, total: ast.expr, module: PyModule) -> Iterator[Finding]:
    name = _counted(total, module, division)
    if name is None:
        return
    growth = Growth(module, name)
    statement = next((p for p in module.parents(division) if isinstance(p, ast.stmt)), None)
    if statement is not None and len(growth.before(statement)) > 1:
        yield Finding.at(
            module.span(division),
            f"the score is divided by `{name}`, which counts only the checks that were reached",
            help="divide by the number of all checks, fixed before the first one runs",
            related=[related(module.span(growth.cause), "not every way through here counts as many")]
            if growth.cause
            else [],
        )


def _is_score(division: ast.AST, earned: ast.expr, module: PyModule) -> bool:
    """Whether a quotient is a share of what was earned."""
    up = next((p for p in module.parents(division) if isinstance(p, ast.stmt)), None)
    function = module.function_of(division)
    if function is not None and function.name.startswith("test"):
        return False  # a share within one test; what it is a share of is that test's business
    about = ast.unparse(up) if up is not None else ""
    named = bool(_SCORE.search(about)) or (function is not None and bool(_SCORE.search(function.name)))
    return named and bool(_EARNED.search(ast.unparse(earned)))


def _counted(node: ast.expr, module: PyModule, around: ast.AST, depth: int = 3) -> str | None:
    """The list or counter whose size a denominator is."""
    if isinstance(node, ast.Call) and node.args:
        called = module.dotted(node.func)
        if called == "len":
            return _name(node.args[0])
        if called in ("max", "float", "int"):
            return next((n for a in node.args if (n := _counted(a, module, around, depth))), None)
        if called == "sum" and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            generator = node.args[0].generators[0]
            return _name(generator.iter) if not generator.ifs else None
    if isinstance(node, ast.BoolOp):
        return _counted(node.values[0], module, around, depth)
    name = _name(node)
    if name is None or depth == 0:
        return None
    scope = module.function_of(around) or module.tree
    found = [n for n in walk(scope) if isinstance(n, ast.Assign) and any(_name(t) == name for t in n.targets)]
    if any(isinstance(n, ast.AugAssign) and _name(n.target) == name for n in module.nodes):
        return name
    values = [v for n in found if (v := _counted(n.value, module, around, depth - 1))]
    return values[0] if values else None


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None

"""A Waza grader that uses the grading context as if it were always there, or takes missing evidence for zero calls."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source import shell
from scenlint.source.environ import env_reads, stops
from scenlint.source.literals import target
from scenlint.source.python import PyModule, parse
from scenlint.source.text import Fragment, Span

_VARIABLE = "WAZA_GRADING_CONTEXT"
_NULLABLE = ("tool_events", "command_invocations", "user_input_requests", "host_lifecycle")
_HELP_NULL = "ask for `None` first and fail with a message of its own: no evidence does not prove zero calls"
_HELP_VARIABLE = "say clearly that the version is too old where it is not set, or read the workspace and stdin instead"
_OLD = f"`{_VARIABLE}` is not set before Waza v0.40, where every trial then scores 0 as if the agent had failed"


@rule(
    "context-not-guarded",
    "SL518",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"waza"},
    refute="the grader only runs where the variable and the evidence are always there",
)
def context_not_guarded(task: Task) -> Iterator[Finding]:
    for fragment in task.verifier.files if task.verifier else []:
        if _VARIABLE not in fragment.text:
            continue
        if fragment.language == "python":
            module = parse(fragment)
            yield from (_unset(span) for span in _unset_python(module))
            yield from (Finding.at(span, why, help=_HELP_NULL) for span, why in _null(module))
        elif fragment.language == "shell":
            yield from _in_shell(fragment)


def _unset(span: Span) -> Finding:
    # The format's own documentation reads it so.
    return Finding.at(span, _OLD, help=_HELP_VARIABLE, severity=Severity.WARNING)


def _unset_python(module: PyModule) -> Iterator[Span]:
    for read in env_reads(module).reads:
        if read.name != _VARIABLE or read.fallback or _in_try(module, read.node):
            continue
        up = module.parent(read.node)
        name = _name_of(module, read.node)
        if not (name and _tested(module, name)) and not isinstance(up, ast.UnaryOp | ast.Compare | ast.If):
            yield read.span


def _tested(module: PyModule, name: str) -> bool:
    """Whether something asks if a name holds anything."""
    tests = [n.test for n in module.nodes if isinstance(n, ast.If | ast.IfExp | ast.While | ast.Assert)]
    return any(isinstance(n, ast.Name) and n.id == name for test in tests for n in ast.walk(test))


def _in_try(module: PyModule, node: ast.AST) -> bool:
    return any(
        isinstance(p, ast.Try) and p.handlers and any(n is node for s in p.body for n in ast.walk(s))
        for p in module.parents(node)
    )


def _null(module: PyModule) -> Iterator[tuple[Span, str]]:
    """Where evidence that may be null is used without asking."""
    taken = {node: field for node in module.nodes if (field := _field(node))}
    bound = {name: field for node, field in taken.items() if (name := _name_of(module, node))}
    asked = {taken.get(s) or bound.get(getattr(s, "id", "")) for s in _asked(module)}
    for node, field in taken.items():
        up = module.parent(node)
        either = isinstance(up, ast.BoolOp) and isinstance(up.op, ast.Or) and up.values[0] is node
        if field in asked and not either:
            continue
        if _in_try(module, node):
            continue
        zero = either or any(_by_truth(module, n, bound, field) for n in module.nodes)
        how = "read as zero calls" if zero else "used as a list"
        yield (
            module.span(up if either and up else node),
            f"`{field}` is null where nothing was recorded, and is {how} here",
        )


def _field(node: ast.AST) -> str | None:
    """The nullable field that is taken out of a dictionary here."""
    key: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        key = node.args[0]
    return str(key.value) if isinstance(key, ast.Constant) and key.value in _NULLABLE else None


def _name_of(module: PyModule, node: ast.AST) -> str | None:
    up = module.parent(node)
    return up.target.id if isinstance(up, ast.NamedExpr) else target(up) if up is not None else None


def _asked(module: PyModule) -> Iterator[ast.expr]:
    """What the program asks whether it is None, of which type it is, or fails over where it is empty."""
    for node in module.nodes:
        if isinstance(node, ast.Compare) and any(
            isinstance(c, ast.Constant) and c.value is None for c in node.comparators
        ):
            yield node.left.target if isinstance(node.left, ast.NamedExpr) else node.left
        elif isinstance(node, ast.Call) and module.dotted(node.func) == "isinstance":
            yield node.args[0]
        elif isinstance(node, ast.If) and isinstance(node.test, ast.UnaryOp) and any(map(_fails, node.body)):
            yield node.test.operand


def _fails(node: ast.stmt) -> bool:
    """Whether a statement ends the program with another status than 0."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return stops(node)
    zero = any(isinstance(a, ast.Constant) and a.value == 0 for a in call.args)
    return (stops(node) and not zero) or bool(re.match(r"_?(?:fail|die|abort|error)", ast.unparse(call.func)))


def _by_truth(module: PyModule, node: ast.AST, bound: dict[str, str], field: str) -> bool:
    """Whether it is a name of this field's that is used as a truth value."""
    if not isinstance(node, ast.Name) or bound.get(node.id) != field:
        return False
    up = module.parent(node)
    return isinstance(up, ast.BoolOp | ast.UnaryOp) or (isinstance(up, ast.If | ast.IfExp) and up.test is node)


def _in_shell(fragment: Fragment) -> Iterator[Finding]:
    script = shell.parse(fragment)
    guarded = re.search(rf"\$\{{{_VARIABLE}:?[-?+]|-[znefrs]\s+\"?\$\{{?{_VARIABLE}", fragment.text)
    used = [w for c in script.deep() for w in c.argv if _VARIABLE in w.variables]
    if used and not guarded:
        yield _unset(used[0].span)
    for command in script.deep():
        for word in command.arguments if command.program == "jq" else []:
            field = next((f for f in _NULLABLE if f".{f}" in word.raw), None)
            if field and "null" not in word.raw and re.search(r"length|\[\]\?|//\s*\[\]", word.raw):
                message = f"`{field}` is null where nothing was recorded, and is read as zero calls here"
                yield Finding.at(word.span, message, help=_HELP_NULL)

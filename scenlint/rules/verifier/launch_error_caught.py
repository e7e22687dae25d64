"""A handler around the solution catches `LaunchError`, so that the machine's fault becomes the solution's score."""

import ast
import builtins
import sys
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule, parse, walk
from scenlint.source.text import Span
from scenlint.task.model import Contract

_HELP = "catch `Exception` (a `SolutionError` is one), or put `except LaunchError: raise` before this handler"


@rule(
    "launch-error-caught",
    "SL517",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"deepgym"},
    refute="nothing inside the handler can start the solution",
)
def launch_error_caught(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or verifier.contract is not Contract.JSON_LINE:
        return
    for fragment in verifier.code("python"):
        module = parse(fragment)
        for node in module.nodes:
            if isinstance(node, ast.Try | ast.TryStar):
                yield from _handlers(module, node)
            elif isinstance(node, ast.With):
                yield from _suppressed(module, node)


def _handlers(module: PyModule, node: ast.Try | ast.TryStar) -> Iterator[Finding]:
    if not _may_start(module, node.body):
        return
    for handler in node.handlers:
        kinds = _kinds(module, handler)
        if "LaunchError" in kinds or "BaseException" in kinds or handler.type is None:
            if not _passes_on(module, handler.body):
                caught = f"`except {ast.unparse(handler.type)}`" if handler.type else "a bare `except`"
                message = (
                    f"{caught} also catches `LaunchError`, which means that the machine could not start the solution"
                )
                yield Finding.at(_head(module, handler), message, help=_HELP)
            return  # it reaches no handler behind this one
    for statement in node.finalbody:
        for inner in walk(statement):
            if isinstance(inner, ast.Return) and module.function_of(inner) is module.function_of(node):
                message = "a `return` in `finally` drops every exception, `LaunchError` among them"
                yield Finding.at(module.span(inner), message, help="return behind the `try` statement")


def _suppressed(module: PyModule, node: ast.With) -> Iterator[Finding]:
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and module.dotted(call.func) == "contextlib.suppress":
            names = {module.dotted(a).split(".")[-1] for a in call.args}
            if names & {"BaseException", "LaunchError"} and _may_start(module, node.body):
                message = (
                    "this also suppresses `LaunchError`, which means that the machine could not start the solution"
                )
                yield Finding.at(module.span(call), message, help=_HELP)


def _kinds(module: PyModule, handler: ast.ExceptHandler) -> set[str]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    return {module.dotted(kind).split(".")[-1] for kind in kinds}


_ENDS = ("sys.exit", "os._exit", "exit", "SystemExit")


def _passes_on(module: PyModule, body: list[ast.stmt]) -> bool:
    """Whether a handler raises again, or ends the run with status 2, which is no verdict either."""
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Raise):
                return True
            if (
                isinstance(node, ast.Call)
                and module.dotted(node.func) in _ENDS
                and any(isinstance(a, ast.Constant) and a.value == 2 for a in node.args)
            ):
                return True
    return False


def _may_start(module: PyModule, body: list[ast.stmt]) -> bool:
    """Whether a call in these statements can reach the solution: any that is not of the standard library."""
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call):
                name = module.dotted(node.func)
                root = name.split(".")[0]
                if isinstance(node.func, ast.Attribute) and not name:
                    continue  # a method of a value that stands there itself: "".join(…)
                if not (root in sys.stdlib_module_names or (hasattr(builtins, name) and name not in module.functions)):
                    return True
    return False


def _head(module: PyModule, handler: ast.ExceptHandler) -> Span:
    span = module.span(handler)
    return Span(span.source, span.start, span.start + len(span.text.split("\n")[0].rstrip()))

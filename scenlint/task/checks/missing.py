"""Results and outputs that are not there and that a verifier takes for right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scenlint.source.python import PyModule
from scenlint.source.regex import regex
from scenlint.task.checks.handlers import Swallow, exit_functions, is_quiet, is_right, is_wrong, own_nodes, short

_VERDICTS = frozenset(["passed", "pass", "ok", "success", "succeeded", "is_correct", "correct", "valid"])
_RESULTS = regex(r"results?|outcomes?|verdicts?|status(?:es)?|passed", re.IGNORECASE)
_PASS = ("PASS", "PASSED", "pass", "passed")
_EXISTS = frozenset(["exists", "isfile", "isdir", "is_file", "is_dir"])


def missing_is_right(module: PyModule) -> Iterator[Swallow]:
    """Defaults of verdicts that mean success, and branches for a missing output that end in success."""
    for node in module.of(ast.Call, ast.If):
        if isinstance(node, ast.Call) and (what := _default(node)):
            yield Swallow(module, node, f"a result without {what} counts as passed")
        elif isinstance(node, ast.If) and (end := _absent(node, module)) is not None:
            yield Swallow(module, end, f"an output that is not there is taken for right (`{short(end)}`)")


def _default(call: ast.Call) -> str:
    """What is missing where `results.get(name, True)` or `getattr(result, "passed", True)` gives success."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "get" and len(call.args) == 2:
        owner, (key, default) = ast.unparse(call.func.value).rsplit(".", 1)[-1], call.args
    elif isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) == 3:
        owner, (key, default) = "", call.args[1:]
    else:
        return ""
    value = default.value if isinstance(default, ast.Constant) else None
    name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
    if value is True and name.lower() in _VERDICTS:
        return f"`{name}`"
    if value in _PASS and (name.lower() in (*_VERDICTS, "status", "outcome", "result") or _RESULTS.fullmatch(owner)):
        return f"`{name or ast.unparse(key)}`"
    return f"`{ast.unparse(key)}`" if value is True and not name and _RESULTS.fullmatch(owner) else ""


def _absent(node: ast.If, module: PyModule) -> ast.stmt | None:
    """The end in success of `if not path.exists(): …`, unless absence is what is asked for."""
    test = node.test
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call)):
        return None
    if module.dotted(test.operand.func).rsplit(".", 1)[-1] not in _EXISTS:
        return None
    *before, last = node.body
    if not all(is_quiet(s) for s in before):
        return None
    function = module.function_of(node)
    if isinstance(last, ast.Return) and function is not None and last.value is not None:
        exits = function.name in exit_functions(module)
        others = [n for n in own_nodes(function) if isinstance(n, ast.Return) and n is not last]
        hopeful = any(not is_wrong(r.value, exits) and not is_right(r.value, exits) for r in others)
        return last if is_right(last.value, exits) and hopeful else None
    call = last.value if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
    if call is not None and module.dotted(call.func) in ("sys.exit", "exit", "quit", "os._exit"):
        fails = any(
            c is not call and not is_right((c.args or [ast.Constant(0)])[0], True)
            for c in module.calls(module.dotted(call.func))
        )
        return last if is_right((call.args or [ast.Constant(0)])[0], True) and fails else None
    return None

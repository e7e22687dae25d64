"""Exception handlers of a verifier that turn a failure into success: what each does, and what would have been lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.python import Function, PyModule, walk
from scenlint.source.secrets import cut
from scenlint.task.checks.facts import Event

_BROAD = frozenset(["", "Exception", "BaseException", "AssertionError"])
# Errors that say that the agent's work can't be read; a timeout, say, may be what a right program runs into.
_READING = _BROAD | frozenset([
    "ValueError", "JSONDecodeError", "KeyError", "TypeError", "IndexError", "LookupError", "OSError", "IOError",
    "FileNotFoundError", "AttributeError", "UnicodeDecodeError", "UnicodeError", "YAMLError", "ParseError", "Error",
    "TOMLDecodeError", "ImportError", "ModuleNotFoundError", "SyntaxError", "SolutionError", "NotADirectoryError",
    "IsADirectoryError", "PermissionError", "EOFError", "ArithmeticError", "ZeroDivisionError",
])  # fmt: skip
_QUIET = (
    "print",
    "warn",
    "warning",
    "info",
    "debug",
    "log",
    "exception",
    "error",
    "sleep",
    "print_exc",
    "write",
    "flush",
)
_WORDS = frozenset(["pass", "passed", "ok", "success", "correct", "valid"])
_MARKS = frozenset(["errors", "failures", "failed", "problems", "missing", "issues", "mismatches", "bad", "wrong",
                    "violations", "errs", "fails"])  # fmt: skip


@dataclass(frozen=True)
class Swallow:
    """A handler, or a default, that lets bad work pass; `how` completes "…, so that it passes"."""

    module: PyModule
    node: ast.AST
    how: str


def swallows(events: list[Event]) -> Iterator[Swallow]:
    """The handlers among some events that end in silence or in the right result."""
    for event in events:
        handler = event.place.node if event.place is not None and event.kind == "swallows" else None
        if event.place is None or not isinstance(handler, ast.ExceptHandler):
            continue
        module = event.place.module
        kinds = {module.dotted(k).split(".")[-1] for k in _types(handler)}
        statement = module.parent(handler)
        if not isinstance(statement, ast.Try) or not kinds <= _READING:
            continue
        if (end := _success(handler, module)) is not None:
            if not _expects_error(handler, module):
                yield Swallow(module, end, f"what can't be read or fails here is taken for right (`{short(end)}`)")
        elif kinds & _BROAD and _silent(handler):
            if "assert" in event.note and not _retried(statement, module):
                yield Swallow(module, handler, "an assertion that fails here is swallowed")
            elif _defaults_right(statement, module):
                yield Swallow(module, handler, "whatever goes wrong here leaves the result as it was, which is right")


def _types(handler: ast.ExceptHandler) -> list[ast.expr | None]:
    if isinstance(handler.type, ast.Tuple):
        return list(handler.type.elts)
    return [handler.type]


def _silent(handler: ast.ExceptHandler) -> bool:
    return all(is_quiet(s) for s in handler.body)


def is_quiet(statement: ast.stmt) -> bool:
    """Whether a statement does no more than say or wait."""
    if isinstance(statement, ast.Pass | ast.Continue):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    call = statement.value
    if isinstance(call, ast.Constant):
        return True
    if not isinstance(call, ast.Call):
        return False
    name = ast.unparse(call.func).rsplit(".", 1)[-1]
    return name in _QUIET and "FAIL" not in ast.unparse(call).upper()


def _success(handler: ast.ExceptHandler, module: PyModule) -> ast.stmt | None:
    """The statement by which a handler says that all is well, where nothing else in it says otherwise."""
    *before, last = handler.body
    if not all(is_quiet(s) for s in before):
        return None
    function = module.function_of(handler)
    if isinstance(last, ast.Return):
        exits = function is not None and function.name in exit_functions(module)
        return last if is_right(last.value, exits) else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        name = module.dotted(last.value.func)
        if name in ("sys.exit", "exit", "quit", "os._exit") and is_right(
            (last.value.args or [ast.Constant(0)])[0], True
        ):
            return last
        given = last.value.args
        if name.rsplit(".", 1)[-1] == "append" and given and _is_true(given[0]):
            return last
        if name.rsplit(".", 1)[-1].startswith("check") and len(given) >= 3 and _is_true(given[2]):
            return last
    if isinstance(last, ast.Assign):
        targets = [ast.unparse(t).rsplit(".", 1)[-1].lower() for t in last.targets]
        if _is_true(last.value):
            return last if any(w in t.split("_") for t in targets for w in _WORDS) else None
        scored = any(t in ("score", "reward", "verdict") for t in targets)
        return last if scored and is_right(last.value, False) else None
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add):
        return (
            last
            if ast.unparse(last.target).rsplit(".", 1)[-1].lower() in ("passed", "score", "correct", "earned")
            else None
        )
    return None


def is_right(value: ast.expr | None, exits: bool) -> bool:
    """Whether a returned value means success: 0 for an exit status, a full score or True elsewhere."""
    if exits:
        return value is None or (
            isinstance(value, ast.Constant) and value.value in (0, None) and value.value is not False
        )
    if isinstance(value, ast.Constant):
        return (
            value.value is True
            or (type(value.value) in (int, float) and value.value == 1)
            or value.value in ("PASS", "PASSED")
        )
    if isinstance(value, ast.Tuple) and value.elts:
        return _is_true(value.elts[0])
    if isinstance(value, ast.Dict):
        given = {k.value: v for k, v in zip(value.keys, value.values, strict=True) if isinstance(k, ast.Constant)}
        return any(k in given and is_right(given[k], False) for k in ("passed", "score", "reward"))
    return False


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def exit_functions(module: PyModule) -> set[str]:
    """Functions whose result is the process's exit status."""
    out = set()
    for call in (*module.calls("sys.exit", "exit", "quit", "SystemExit"),):
        if call.args and isinstance(call.args[0], ast.Call):
            out.add(module.dotted(call.args[0].func))
    return out


def _expects_error(handler: ast.ExceptHandler, module: PyModule) -> bool:
    """Whether the error is what is hoped for: every other way through the function ends in failure."""
    function = module.function_of(handler)
    inside = {id(n) for n in walk(handler)}
    exits = function is not None and function.name in exit_functions(module)
    if function is None:
        body = module.parent(handler)
        return isinstance(body, ast.Try) and any(isinstance(n, ast.Raise) for s in body.body for n in walk(s))
    others = [n for n in own_nodes(function) if isinstance(n, ast.Return) and id(n) not in inside]
    hopeful = [r for r in others if not is_wrong(r.value, exits)]
    if isinstance(handler.body[-1], ast.Return):
        return not hopeful
    statement = module.parent(handler)
    return isinstance(statement, ast.Try) and _ends_badly([*statement.body, *statement.orelse], module)


def _ends_badly(body: list[ast.stmt], module: PyModule) -> bool:
    """Whether a block ends in a failure when nothing is raised before."""
    last = body[-1]
    if isinstance(last, ast.Raise | ast.Return):
        return True
    if isinstance(last, ast.Assert):
        return isinstance(last.test, ast.Constant) and not last.test.value
    if isinstance(last, ast.Assign) and isinstance(last.value, ast.Constant):
        return last.value.value is False
    return (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and module.dotted(last.value.func).endswith("fail")
    )


def is_wrong(value: ast.expr | None, exits: bool) -> bool:
    """Whether a returned value means failure."""
    if isinstance(value, ast.Tuple) and value.elts:
        value = value.elts[0]
    if isinstance(value, ast.Constant):
        return bool(value.value) if exits else not value.value
    return value is None


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    rest: list[ast.AST] = list(function.body)
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            rest += ast.iter_child_nodes(node)


def _retried(statement: ast.Try, module: PyModule) -> bool:
    """Whether the block is one attempt of several: it stands in a loop that a good attempt leaves."""
    loop = next((p for p in module.parents(statement) if isinstance(p, ast.For | ast.While | ast.FunctionDef)), None)
    if not isinstance(loop, ast.For | ast.While):
        return False
    return any(isinstance(n, ast.Break | ast.Return) for s in (*statement.body, *statement.orelse) for n in walk(s))


def _defaults_right(statement: ast.Try, module: PyModule) -> bool:
    """Whether the block only takes back a verdict of "right" that was given before it, or only notes failures."""
    taken_back: set[str] = set()
    for node in (n for s in statement.body for n in walk(s)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is False:
            taken_back |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            owner = node.func.value
            taken_back |= {owner.id} if isinstance(owner, ast.Name) and owner.id.strip("_").lower() in _MARKS else set()
    up = module.parent(statement)
    blocks = [getattr(up, name, []) for name in ("body", "orelse", "finalbody")]
    block = next((b for b in blocks if statement in b), [statement])
    return any(
        isinstance(earlier, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id in taken_back for t in earlier.targets)
        and (_is_true(earlier.value) or (isinstance(earlier.value, ast.List) and not earlier.value.elts))
        for earlier in block[: block.index(statement)]
    )


def short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return cut(text, 48)

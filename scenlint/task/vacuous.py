"""Tests that only look at each of the things the agent's output holds, so that they pass where it holds none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from scenlint.source.python import PyModule, Scope, parse, walk
from scenlint.source.text import Span
from scenlint.task.checks.model import Access, Check, Dialect, How

_READS = frozenset([
    "load", "loads", "read", "read_text", "readlines", "reader", "DictReader", "glob", "rglob", "iglob", "iterdir",
    "listdir", "read_csv", "iter_rows", "findall", "finditer", "safe_load", "safe_load_all", "find_all", "parse",
])  # fmt: skip
_VIEWS = frozenset([
    "enumerate", "list", "sorted", "reversed", "tuple", "set", "items", "values", "keys", "split", "splitlines",
    "strip", "get", "iterrows", "itertuples", "getroot",
])  # fmt: skip
_EXISTS = frozenset(["exists", "is_file", "is_dir", "isfile", "isdir", "isinstance"])
_FAILING = (
    "pytest.fail",
    "self.fail",
    "sys.exit",
    "pytest.raises",
    "self.assert",
    "numpy.testing",
    "subprocess.check_",
)
_DEPTH = 6


@dataclass(frozen=True)
class Vacuous:
    """A test and what it goes through: the expression, and the places where that is read."""

    check: Check
    span: Span
    accesses: list[Access]


def vacuous(check: Check) -> Vacuous | None:
    """The test (or the script), if all that can fail in it is asked of each thing that was read."""
    if check.fragment.language != "python":
        return None
    module = parse(check.fragment)
    if check.dialect is Dialect.COMMAND and check.node is not None:
        return _Test(check, module, module.tree).judge()
    if check.dialect is Dialect.TEST and isinstance(check.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _Test(check, module, check.node).judge()
    return None


class _Test:
    def __init__(self, check: Check, module: PyModule, scope: Scope) -> None:
        self.check, self.module, self.scope = check, module, scope
        self.nodes = module.nodes if isinstance(scope, ast.Module) else walk(scope)
        self.mains = {_last(a.func) for c in self.nodes if _is_exit(c) for a in c.args if isinstance(a, ast.Call)}

    def judge(self) -> Vacuous | None:
        found: list[ast.expr] = []
        for node in self.nodes:
            if not self._fails(node) or self._asks_existence(node):
                continue
            gone_through = self._gone_through(node)
            if gone_through is None:
                return None
            found.append(gone_through)
        if not found:
            return None
        spans = [self.module.span(part) for f in found for part in self._sources(f)]
        read = [a for a in self.check.accesses if any(s.start <= a.span.start and a.span.end <= s.end for s in spans)]
        return Vacuous(self.check, self.module.span(found[0]), read)

    def _fails(self, node: ast.AST) -> bool:
        """Whether a node may end the test, or the script, as failed."""
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Raise):
            return not (isinstance(node.exc, ast.Call) and _is_exit(node.exc)) or self._is_failure(node.exc.args)
        if isinstance(node, ast.Return):
            function = self.module.function_of(node)
            main = function is not None and function.name in self.mains and isinstance(self.scope, ast.Module)
            return main and node.value is not None and self._is_failure([node.value])
        if not isinstance(node, ast.Call):
            return False
        if _is_exit(node):
            return self._is_failure(node.args)
        name = self.module.dotted(node.func)
        own = self.module.functions.get(name)
        if own is not None:
            # What a script calls is looked at by itself.
            return not isinstance(self.scope, ast.Module) and any(
                isinstance(n, ast.Assert | ast.Raise) for n in walk(own)
            )
        return name.startswith((*_FAILING, "self.")) or any(k.arg == "check" for k in node.keywords)

    def _is_failure(self, status: list[ast.expr]) -> bool:
        """Whether a status may say that something failed: not 0, and not what a function returns that is looked at."""
        value = status[0] if status else None
        if value is None or (isinstance(value, ast.Call) and _last(value.func) in self.mains):
            return False
        return not (isinstance(value, ast.Constant) and value.value in (0, None))

    def _asks_existence(self, node: ast.AST) -> bool:
        """Whether it fails where a file, or a value of some kind, is not there."""
        if isinstance(node, ast.Assert):
            return _is_existence(node.test)
        for up in self.module.parents(node):
            if isinstance(up, ast.ExceptHandler) or (isinstance(up, ast.If) and _is_existence(up.test)):
                return True
            if up is self.scope or isinstance(up, ast.For):
                break
        return False

    def _gone_through(self, node: ast.AST) -> ast.expr | None:
        """What is gone through where a failure depends on the things in it alone; None where it does not."""
        for up in self.module.parents(node):
            if up is self.scope:
                break
            if isinstance(up, ast.For) and self._is_read(up.iter):
                return None if _forbids(node, up) else up.iter
        if isinstance(node, ast.Assert):
            return self._of_each(node.test)
        value = node.value if isinstance(node, ast.Return) else next(iter(getattr(node, "args", ())), None)
        if isinstance(value, ast.IfExp) and isinstance(value.orelse, ast.Constant) and value.orelse.value in (0, None):
            return self._of_each(ast.UnaryOp(ast.Not(), value.test))
        return None

    def _of_each(self, test: ast.expr) -> ast.expr | None:
        """`all(… for x in rows)`, and `not problems` where those only grow in a loop over the rows."""
        if isinstance(test, ast.Call) and _last(test.func) == "all" and test.args:
            inner = test.args[0]
            if isinstance(inner, ast.GeneratorExp | ast.ListComp) and self._is_read(inner.generators[0].iter):
                return inner.generators[0].iter
        name = _emptied(test)
        if not name:
            return None
        grown = [n for n in self.nodes if _grows(n) == name]
        made = [v for v in self._values(name) if not _is_nothing(v)]
        if (
            len(made) == 1
            and not grown
            and isinstance(made[0], ast.ListComp)
            and self._is_read(made[0].generators[0].iter)
        ):
            return made[0].generators[0].iter
        loops = [self._gone_through(n) for n in grown]
        return loops[0] if loops and not made and all(loop is not None for loop in loops) else None

    def _values(self, name: str) -> list[ast.expr]:
        out: list[ast.expr] = []
        for n in self.nodes:
            targets = n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, ast.AnnAssign) else []
            if any(_last(t) == name and isinstance(t, ast.Name) for t in targets) and (
                value := getattr(n, "value", None)
            ):
                out.append(value)
        return out

    def _is_read(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether something was read from a file, and as a whole: it may be empty."""
        if depth == 0:
            return False
        if isinstance(node, ast.Name):
            values = self._values(node.id)
            return bool(values) and all(self._is_read(v, depth - 1) for v in values)
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._is_read(node.value, depth - 1)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._is_read(node.generators[0].iter, depth - 1)
        if isinstance(node, ast.Call):
            last = _last(node.func)
            inner = node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
            if last == "split" and node.args:
                return False  # "".split(",") is [""], which is looked at
            return last in _READS or (last in _VIEWS and inner is not None and self._is_read(inner, depth - 1))
        return False

    def _sources(self, node: ast.expr) -> list[ast.expr]:
        """An expression and those its names were set to, from one to the next."""
        found, seen = [node], set[str]()
        for expression in found:  # which grows meanwhile
            for name in {n.id for n in walk(expression) if isinstance(n, ast.Name)} - seen:
                seen.add(name)
                found += [*self._values(name), *self._opened(name)]
        return found

    def _opened(self, name: str) -> Iterator[ast.expr]:
        """`with open(path) as name`."""
        for n in self.nodes:
            if isinstance(n, ast.withitem) and isinstance(n.optional_vars, ast.Name) and n.optional_vars.id == name:
                yield n.context_expr


def _forbids(node: ast.AST, loop: ast.For) -> bool:
    """Whether a loop fails at the first thing that it finds, whatever it is: then nothing is what it wants."""
    direct = any(s is node or (isinstance(s, ast.Expr) and s.value is node) for s in loop.body)
    if isinstance(node, ast.Assert):
        return direct and isinstance(node.test, ast.Constant) and not node.test.value
    return direct and (isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _last(node.func) == "fail"))


def _emptied(test: ast.expr) -> str:
    """The name in `not problems`, `problems == []` and `len(problems) == 0`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name):
        return test.operand.id
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return ""
    left, right = test.left, test.comparators[0]
    if isinstance(right, ast.List) and not right.elts and isinstance(left, ast.Name):
        return left.id
    if (
        isinstance(left, ast.Call)
        and _last(left.func) == "len"
        and isinstance(right, ast.Constant)
        and right.value == 0
    ):
        return _last(left.args[0]) if left.args else ""
    return ""


def _is_nothing(node: ast.expr) -> bool:
    return (isinstance(node, ast.List) and not node.elts) or (isinstance(node, ast.Constant) and node.value == 0)


def _is_existence(test: ast.expr) -> bool:
    """`path.exists()`, `not isinstance(data, list)`, also joined by `or` and `and`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_existence(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(map(_is_existence, test.values))
    return isinstance(test, ast.Call) and _last(test.func) in _EXISTS


def _is_exit(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _last(node.func) in ("exit", "_exit", "quit", "SystemExit")


def _grows(node: ast.AST) -> str:
    """The name of a list or counter that a node adds to."""
    if isinstance(node, ast.AugAssign):
        return _last(node.target)
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute) and func.attr in ("append", "add", "extend"):
        return _last(func.value)
    return ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def covers(check: Check, found: Vacuous) -> bool:
    """Whether another check turns down output that holds nothing."""
    paths = {a.path for a in found.accesses}
    own = vacuous(check)
    if not paths & {a.path for a in check.accesses} or (own is not None and paths & {a.path for a in own.accesses}):
        return False
    if not check.existence_only or check.comparisons:
        return True
    return any(a.how is How.LIST or "*" in a.path for a in found.accesses)

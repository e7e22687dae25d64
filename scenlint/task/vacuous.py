"""Tests that only look at each of the things the agent's output holds, so that they pass where it holds none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.python import Function, PyModule, parse, walk
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
    """The test, if all that can fail in it is asked of each thing that was read."""
    node = check.node
    if check.dialect is not Dialect.TEST or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return _Test(check, parse(check.fragment), node).judge()


class _Test:
    def __init__(self, check: Check, module: PyModule, function: Function) -> None:
        self.check, self.module, self.function = check, module, function
        self.nodes = walk(function)

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
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if not isinstance(node, ast.Call):
            return False
        name = self.module.dotted(node.func)
        own = self.module.functions.get(name)
        if own is not None:
            return any(isinstance(n, ast.Assert | ast.Raise) for n in walk(own))
        return name.startswith((*_FAILING, "self.")) or any(k.arg == "check" for k in node.keywords)

    def _asks_existence(self, node: ast.AST) -> bool:
        test = node.test if isinstance(node, ast.Assert) else None
        return isinstance(test, ast.Call) and _last(test.func) in _EXISTS

    def _gone_through(self, node: ast.AST) -> ast.expr | None:
        """What is gone through where a failure depends on the things in it alone; None where it does not."""
        for up in self.module.parents(node):
            if up is self.function:
                break
            if isinstance(up, ast.For) and self._is_read(up.iter):
                return up.iter
        return self._of_each(node.test) if isinstance(node, ast.Assert) else None

    def _of_each(self, test: ast.expr) -> ast.expr | None:
        """`all(… for x in rows)`, and `not problems` where those only grow in a loop over the rows."""
        if isinstance(test, ast.Call) and _last(test.func) == "all" and test.args:
            inner = test.args[0]
            if isinstance(inner, ast.GeneratorExp | ast.ListComp) and self._is_read(inner.generators[0].iter):
                return inner.generators[0].iter
        name = _emptied(test)
        grown = [c for c in self.nodes if isinstance(c, ast.Call) and _grows(c) == name] if name else []
        loops = [self._gone_through(c) for c in grown]
        made = [v for v in self._values(name) if not (isinstance(v, ast.List) and not v.elts)] if name else []
        if (
            len(made) == 1
            and not grown
            and isinstance(made[0], ast.ListComp)
            and self._is_read(made[0].generators[0].iter)
        ):
            return made[0].generators[0].iter
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


def _grows(call: ast.Call) -> str:
    func = call.func
    grows = isinstance(func, ast.Attribute) and func.attr in ("append", "add", "extend")
    return func.value.id if grows and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""


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

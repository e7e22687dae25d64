"""Which outcome of a test the verifier wants: read from the code around it (`not`, `if … raise`, `assert`, a returned verdict)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from scenlint.source.python import Function, PyModule, parse, walk
from scenlint.source.text import Fragment, Span
from scenlint.task.checks.model import Check
from scenlint.task.model import Task

_DEPTH = 12  # names and callers that are followed from one test
_FAILURES = re.compile(
    r"(?:\w*_)?(?:errors?|problems?|failures?|failed|issues?|violations?|missing|bad|wrong|mismatch\w*|reasons?)"
)
_PASSES = re.compile(
    r"(?:\w*_)?(?:ok|okay|pass|passed|success|successes|succeeded|valid|found|correct|score|points?|earned|reward|hits?)"
)
_JUDGES = re.compile(
    r"(?:\w*_)?(?:check|expect|record|report|grade|require|ensure|verify|criterion|case|result|test|step|add|append|ok)\w*"
)


class Stance(StrEnum):
    """What the verifier makes of a test's outcome."""

    WANTED = "wanted"  # the check fails where it does not hold
    UNWANTED = "unwanted"  # the check fails where it holds
    EITHER = "either"  # one of several ways to pass
    OPEN = "open"  # it steers what is looked at, or cannot be told

    @property
    def flipped(self) -> Stance:
        return {Stance.WANTED: Stance.UNWANTED, Stance.UNWANTED: Stance.WANTED}.get(self, self)


def locate(task: Task, check: Check, span: Span) -> tuple[PyModule, ast.AST] | None:
    """The Python expression at a span of the verifier's code, and its module."""
    files = task.verifier.code("python") if task.verifier else ()
    for fragment in (check.fragment, *files):
        if fragment.source is span.source and fragment.language == "python":
            node = _nodes(fragment).get((span.start, span.end))
            if node is not None:
                return parse(fragment), node
    return None


def _nodes(fragment: Fragment) -> dict[tuple[int, int], ast.AST]:
    """Comparisons and calls by their place in the file; the outermost of those with one place."""

    def make() -> dict[tuple[int, int], ast.AST]:
        module = parse(fragment)
        out: dict[tuple[int, int], ast.AST] = {}
        for node in module.nodes:
            if isinstance(node, ast.Compare | ast.Call | ast.Subscript | ast.Constant | ast.keyword):
                span = module.span(node)
                out.setdefault((span.start, span.end), node)
        return out

    return fragment.memo("stance", make)


def stance(module: PyModule, node: ast.AST) -> Stance:
    """The stance towards an expression."""
    return _Reader(module).of(node)


class _Reader:
    def __init__(self, module: PyModule) -> None:
        self.module = module
        self.depth = 0

    def of(self, node: ast.AST) -> Stance:
        self.depth += 1
        try:
            return Stance.OPEN if self.depth > _DEPTH else self._of(node)
        finally:
            self.depth -= 1

    def _of(self, node: ast.AST) -> Stance:
        up = self.module.parent(node)
        if isinstance(up, ast.Expr) and isinstance(node, ast.Call) and _last(node.func).startswith("assert"):
            return Stance.WANTED  # `self.assertGreater(a, b)` is the comparison itself
        if isinstance(up, ast.UnaryOp):
            return self.of(up).flipped if isinstance(up.op, ast.Not) else Stance.OPEN
        if isinstance(up, ast.BoolOp):
            outer = self.of(up)
            every = isinstance(up.op, ast.And) is (outer is Stance.WANTED)
            return outer if every or outer not in (Stance.WANTED, Stance.UNWANTED) else Stance.EITHER
        if isinstance(up, ast.Compare):
            return self._compared(up, node)
        if isinstance(up, ast.Assert):
            return Stance.WANTED if up.test is node else Stance.OPEN
        if isinstance(up, ast.If):
            return self._branch(up) if up.test is node else Stance.OPEN
        if isinstance(up, ast.IfExp):
            return self._choice(up) if up.test is node else self.of(up)
        if isinstance(up, ast.Call):
            return self._argument(up, node)
        if isinstance(up, ast.keyword):
            bad = bool(_FAILURES.fullmatch(up.arg or ""))
            call = self.module.parent(up)
            return (
                Stance.UNWANTED if bad else Stance.WANTED if call is not None and self._judging(call) else Stance.OPEN
            )
        if isinstance(up, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            return self.of(up) if up.elt is node else Stance.OPEN
        if isinstance(up, ast.Tuple | ast.List):
            return self._row(up, node)
        if isinstance(up, ast.Dict):
            key = next((k for k, v in zip(up.keys, up.values, strict=True) if v is node), None)
            name = key.value if isinstance(key, ast.Constant) else ""
            return Stance.UNWANTED if isinstance(name, str) and _FAILURES.fullmatch(name) else Stance.WANTED
        if isinstance(up, ast.Attribute | ast.Subscript):
            found = isinstance(node, ast.Call) and _matches(node)
            return Stance.WANTED if found and up.value is node else Stance.OPEN  # no match, and the next step crashes
        if isinstance(up, ast.Return):
            return self._returned(up)
        if isinstance(up, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return self._kept(up)
        if isinstance(up, ast.AugAssign):
            return Stance.WANTED if _named(up.target, _PASSES) else Stance.OPEN
        return Stance.OPEN

    def _compared(self, up: ast.Compare, node: ast.AST) -> Stance:
        """`… is None`, `… is not None`, `… == False` around a test."""
        other = up.comparators[0] if up.left is node else up.left
        if len(up.ops) != 1 or not isinstance(other, ast.Constant) or other.value not in (None, True, False):
            return Stance.OPEN
        same = isinstance(up.ops[0], ast.Is | ast.Eq)
        return self.of(up) if same is (other.value is True) else self.of(up).flipped

    def _branch(self, node: ast.If) -> Stance:
        rest = node.orelse or self._after(node)
        if fails(node.body) or (passes(rest) and not passes(node.body) and _leaves(node.body)):
            return Stance.UNWANTED
        if passes(node.body) or (fails(rest) and _leaves(node.body)) or (node.orelse and fails(node.orelse)):
            return Stance.WANTED
        return Stance.OPEN

    def _after(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that follow in the same block."""
        up = self.module.parent(node)
        for block in ("body", "orelse", "finalbody"):
            held = getattr(up, block, None)
            if isinstance(held, list) and node in held:
                return held[held.index(node) + 1 :][:1]
        return []

    def _choice(self, node: ast.IfExp) -> Stance:
        then, other = _mark(node.body), _mark(node.orelse)
        if then == other:
            return Stance.OPEN
        return Stance.WANTED if then or other is False else Stance.UNWANTED

    def _argument(self, call: ast.Call, node: ast.AST) -> Stance:
        name = _last(call.func)
        if name in ("bool", "all", "any", "sum"):
            return self.of(call)
        if name in ("assertFalse", "assertIsNone"):
            return Stance.UNWANTED
        if name.startswith("assert"):
            return Stance.WANTED
        return Stance.WANTED if self._judging(call) else Stance.OPEN

    def _judging(self, call: ast.AST) -> bool:
        if not isinstance(call, ast.Call) or not _JUDGES.fullmatch(_last(call.func).lower()):
            return False
        return not (isinstance(call.func, ast.Attribute) and _named(call.func.value, _FAILURES))

    def _row(self, up: ast.Tuple | ast.List, node: ast.AST) -> Stance:
        """`("label", test)` in a table of results, `return test, "why"`."""
        above = self.module.parent(up)
        if isinstance(above, ast.Return):
            return self._returned(above) if up.elts[0] is node else Stance.OPEN
        labelled = any(
            isinstance(e, ast.Constant) and isinstance(e.value, str) or isinstance(e, ast.JoinedStr) for e in up.elts
        )
        return Stance.WANTED if labelled else Stance.OPEN

    def _returned(self, node: ast.Return) -> Stance:
        function = self.module.function_of(node)
        if function is None:
            return Stance.OPEN
        return self._callers(function)

    def _callers(self, function: Function) -> Stance:
        for use in self.module.nodes:
            if isinstance(use, ast.Call) and _last(use.func) == function.name:
                found = self.of(use)
                if found is not Stance.OPEN:
                    return found
        return Stance.WANTED if _JUDGES.fullmatch(function.name.lower()) else Stance.OPEN

    def _kept(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> Stance:
        """A test kept in a name: the first use of it that says something."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {t.id for t in targets if isinstance(t, ast.Name)}
        if not names and any(isinstance(t, ast.Subscript | ast.Attribute) and _named(t, _PASSES) for t in targets):
            return Stance.WANTED
        scope: ast.AST = self.module.function_of(node) or self.module.tree
        if isinstance(node, ast.NamedExpr) and (found := self.of(node)) is not Stance.OPEN:
            return found
        for use in walk(scope):
            if isinstance(use, ast.Name) and use.id in names and isinstance(use.ctx, ast.Load):
                found = self._used(use)
                if found is not Stance.OPEN:
                    return found
        return Stance.OPEN

    def _used(self, use: ast.Name) -> Stance:
        up = self.module.parent(use)
        if isinstance(up, ast.Attribute | ast.Subscript) and not isinstance(self.module.parent(up), ast.Assert):
            # `m.group(1)` may stand behind a test of `m`, which says more.
            return Stance.OPEN
        return self.of(use)


def _matches(call: ast.Call) -> bool:
    return _last(call.func) in ("match", "search", "fullmatch")


def fails(body: Sequence[ast.stmt]) -> bool:
    """Whether a block says that the check failed."""
    return any(_fails(s) for s in body)


def _fails(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and not node.test.value
    if isinstance(node, ast.Return):
        value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        return (
            value is not None
            and _mark(value) is False
            and not (isinstance(value, ast.Constant) and value.value is None)
        )
    if isinstance(node, ast.Assign):
        return any(_named(t, _PASSES) for t in node.targets) and _mark(node.value) is False
    if isinstance(node, ast.AugAssign):
        return _named(node.target, _FAILURES)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = _last(call.func)
    if name in ("fail", "_fail", "skip") or name.startswith("fail"):
        return name != "skip"
    if name in ("exit", "_exit", "quit"):
        return bool(call.args) and not (isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None))
    if name in ("append", "add", "extend"):
        return isinstance(call.func, ast.Attribute) and _named(call.func.value, _FAILURES)
    return any(
        isinstance(a, ast.Constant) and a.value is False for a in [*call.args, *(k.value for k in call.keywords)]
    )


def passes(body: Sequence[ast.stmt]) -> bool:
    """Whether a block says that the check passed."""
    return any(_passes(s) for s in body)


def _passes(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
        return value is not None and _mark(value) is True
    if isinstance(node, ast.Assign):
        return any(_named(t, _PASSES) for t in node.targets) and _mark(node.value) is True
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and _named(node.target, _PASSES)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and any(
        isinstance(a, ast.Constant) and a.value is True for a in [*call.args, *(k.value for k in call.keywords)]
    )


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Continue | ast.Break | ast.Raise)


def _mark(node: ast.expr) -> bool | None:
    """Whether a constant stands for a pass: True, 1, "PASS" against False, 0, None, "FAIL"."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return (
                True
                if node.value.upper() in ("PASS", "PASSED", "OK")
                else False
                if "FAIL" in node.value.upper()
                else None
            )
        return bool(node.value)
    return None


def _named(node: ast.AST, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.fullmatch(_last(node).lower()))


def _last(node: ast.AST) -> str:
    """The last name of `x`, `self.x`, `a.b.x`, `x["key"]`."""
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else _last(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def alternatives(module: PyModule, node: ast.AST) -> Iterator[ast.AST]:
    """The tests that are tried in turn with this one: the other operands of an `or`."""
    for up in module.parents(node):
        if isinstance(up, ast.BoolOp) and isinstance(up.op, ast.Or):
            yield from (v for v in up.values if v is not node)
        if isinstance(up, ast.stmt):
            return
        node = up

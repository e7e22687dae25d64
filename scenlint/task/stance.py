"""Which outcome of a test the verifier wants, read from the code around it: `not`, `if … raise`, `assert`, `return`."""

from __future__ import annotations

import ast
from enum import StrEnum

from scenlint.source.python import Function, PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.checks.model import Check
from scenlint.task.endings import FAILURES, PASSES, fails, last, leaves, mark, named, passes
from scenlint.task.model import Task

_DEPTH = 12  # names and callers that are followed from one test
_JUDGES = regex(
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
            module = parse(fragment)
            for node in _by_line(fragment).get(span.line, ()):
                if module.span(node) == span:
                    return module, node
    return None


def _by_line(fragment: Fragment) -> dict[int, list[ast.AST]]:
    """Comparisons, calls and their like by the line of the file they begin on, outer ones first."""

    def make() -> dict[int, list[ast.AST]]:
        module = parse(fragment)
        before = fragment.span().line - 1 if len(fragment.pieces) == 1 else None  # None: its lines are not the file's
        out: dict[int, list[ast.AST]] = {}
        for node in module.of(ast.Compare, ast.Call, ast.Subscript, ast.Constant, ast.keyword):
            line = module.span(node).line if before is None else before + getattr(node, "lineno", 1)
            out.setdefault(line, []).append(node)
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
        if isinstance(up, ast.Expr) and isinstance(node, ast.Call) and last(node.func).startswith("assert"):
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
            bad = bool(FAILURES.fullmatch(up.arg or ""))
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
            return Stance.UNWANTED if isinstance(name, str) and FAILURES.fullmatch(name) else Stance.WANTED
        if isinstance(up, ast.Attribute | ast.Subscript):
            found = isinstance(node, ast.Call) and last(node.func) in ("match", "search", "fullmatch")
            return Stance.WANTED if found and up.value is node else Stance.OPEN  # no match, and the next step crashes
        if isinstance(up, ast.Return):
            return self._returned(up)
        if isinstance(up, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return self._kept(up)
        if isinstance(up, ast.AugAssign):
            return Stance.WANTED if named(up.target, PASSES) else Stance.OPEN
        return Stance.OPEN

    def _compared(self, up: ast.Compare, node: ast.AST) -> Stance:
        """`… is None`, `… is not None`, `… == False` around a test."""
        other = up.comparators[0] if up.left is node else up.left
        if len(up.ops) != 1 or not isinstance(other, ast.Constant) or not isinstance(other.value, bool | None):
            return Stance.OPEN
        same = isinstance(up.ops[0], ast.Is | ast.Eq)
        return self.of(up) if same is (other.value is True) else self.of(up).flipped

    def _branch(self, node: ast.If) -> Stance:
        rest = node.orelse or self._after(node)
        if fails(node.body) or (passes(rest) and not passes(node.body) and leaves(node.body)):
            return Stance.UNWANTED
        if passes(node.body) and not fails(rest) and self._one_of(node):
            return Stance.EITHER
        if passes(node.body) or (fails(rest) and leaves(node.body)) or (node.orelse and fails(node.orelse)):
            return Stance.WANTED
        return Stance.OPEN

    def _one_of(self, node: ast.If) -> bool:
        """Whether what the block sets to true is set to something other than false elsewhere too."""
        flags = {t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        scope = self.module.function_of(node) or self.module.tree
        others = (
            s for s in walk(scope) if isinstance(s, ast.Assign) and s not in node.body and mark(s.value) is not False
        )
        return any(isinstance(t, ast.Name) and t.id in flags for s in others for t in s.targets)

    def _after(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that follow in the same block."""
        up = self.module.parent(node)
        for block in ("body", "orelse", "finalbody"):
            held = getattr(up, block, None)
            if isinstance(held, list) and node in held:
                return held[held.index(node) + 1 :][:1]
        return []

    def _choice(self, node: ast.IfExp) -> Stance:
        then, other = mark(node.body), mark(node.orelse)
        if then == other:
            return Stance.OPEN
        up = self.module.parent(node)
        if isinstance(up, ast.Call) and last(up.func) in ("exit", "_exit", "quit", "SystemExit"):
            then, other = other, then  # 0 is success
        return Stance.WANTED if then or other is False else Stance.UNWANTED

    def _argument(self, call: ast.Call, node: ast.AST) -> Stance:
        name = last(call.func)
        if name in ("bool", "all", "any", "sum"):
            return self.of(call)
        if name in ("assertFalse", "assertIsNone"):
            return Stance.UNWANTED
        if name.startswith("assert"):
            return Stance.WANTED
        return Stance.WANTED if self._judging(call) else Stance.OPEN

    def _judging(self, call: ast.AST) -> bool:
        if not isinstance(call, ast.Call) or not _JUDGES.fullmatch(last(call.func).lower()):
            return False
        return not (isinstance(call.func, ast.Attribute) and named(call.func.value, FAILURES))

    def _row(self, up: ast.Tuple | ast.List, node: ast.AST) -> Stance:
        """`("label", test)` in a table of results, `return test, "why"`."""
        above = self.module.parent(up)
        if isinstance(above, ast.Return):
            return self._returned(above) if up.elts[0] is node else Stance.OPEN
        labelled = any(isinstance(e, ast.JoinedStr) or isinstance(getattr(e, "value", None), str) for e in up.elts)
        return Stance.WANTED if labelled else Stance.OPEN

    def _returned(self, node: ast.Return) -> Stance:
        function = self.module.function_of(node)
        if function is None:
            return Stance.OPEN
        return self._callers(function)

    def _callers(self, function: Function) -> Stance:
        for use in self.module.nodes:
            if isinstance(use, ast.Call) and last(use.func) == function.name:
                found = self.of(use)
                if found is not Stance.OPEN:
                    return found
        return Stance.WANTED if _JUDGES.fullmatch(function.name.lower()) else Stance.OPEN

    def _kept(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> Stance:
        """A test kept in a name: the first use of it that says something."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {t.id for t in targets if isinstance(t, ast.Name)}
        if not names and any(isinstance(t, ast.Subscript | ast.Attribute) and named(t, PASSES) for t in targets):
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

"""How often a list grows, or a counter is raised, on each way through a program."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scenlint.source.python import Function, PyModule, walk

_GROWS = frozenset(["append", "add"])
_MOST = 8  # different counts that are told apart
_ENDS = ("sys.exit", "exit", "quit", "os._exit", "pytest.fail", "pytest.skip")


@dataclass
class Ways:
    """How often something grew: where the block is left at its end, by `return`, or for a loop's next round."""

    falls: frozenset[int] = frozenset([0])
    returns: frozenset[int] = frozenset()
    rounds: frozenset[int] = frozenset()


@dataclass
class Growth:
    """The growth of one name (`results`, `self.rows`, `total`) in a module."""

    module: PyModule
    name: str
    cause: ast.stmt | None = None  # the first statement that not every way counts alike
    _busy: set[ast.AST] = field(default_factory=set)

    @cached_property
    def growers(self) -> dict[str, Function]:
        """The functions and methods that make it grow, by name, also through others."""
        functions = {n.name: n for n in self.module.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
        found = {n: f for n, f in functions.items() if any(self._grows(x) for x in walk(f))}
        for _ in range(6):
            more = {
                n: f
                for n, f in functions.items()
                if n not in found and any(_called(x) in found for x in walk(f) if isinstance(x, ast.Call))
            }
            if not more:
                break
            found |= more
        return found

    def _grows(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
            return _last(node.func.value) == self.name
        if isinstance(node, ast.Assign) and self._is_dict:
            return any(isinstance(t, ast.Subscript) and _last(t.value) == self.name for t in node.targets)
        return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _last(node.target) == self.name

    @cached_property
    def _is_dict(self) -> bool:
        return any(
            isinstance(n, ast.Assign)
            and isinstance(n.value, ast.Dict)
            and any(_last(t) == self.name for t in n.targets)
            for n in self.module.nodes
        )

    def before(self, node: ast.AST) -> frozenset[int]:
        """The growth on each way that leads to a statement of some function or of the module's top level."""
        statement = node
        count = frozenset([0])
        up = self.module.parent(statement)
        while up is not None:
            for name in ("body", "orelse", "finalbody", "handlers"):
                block = getattr(up, name, None)
                if isinstance(block, list) and statement in block:
                    earlier = [s for s in block[: block.index(statement)] if isinstance(s, ast.stmt)]
                    count = _sums(self.block(earlier, top=True).falls, count)
                    if name in ("finalbody", "handlers") and isinstance(up, ast.Try):
                        count = _sums(self._aborted(up), count)
            if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                break
            statement = up
            up = self.module.parent(up)
        return count

    def _aborted(self, node: ast.Try) -> frozenset[int]:
        """The growth where the block of a `try` may have been left at any point."""
        whole = self.block(node.body).falls
        out = whole | {0}
        if len(out) > 1:
            self.cause = self.cause or node.body[0]
        return frozenset(out)

    def block(self, body: Sequence[ast.stmt], *, top: bool = False) -> Ways:
        out = Ways()
        for n, statement in enumerate(body):
            if not out.falls:
                break
            if isinstance(statement, ast.If) and self._made_up_for(statement, body[:n]):
                continue
            ways = self.statement(statement)
            if isinstance(statement, ast.Try) and any(self._made_up_for(s, [statement]) for s in body[n + 1 :]):
                ways = Ways(frozenset([max(ways.falls, default=0)]), ways.returns, ways.rounds)
            if top and len(ways.falls) > 1:
                self.cause = self.cause or statement
            out = Ways(
                _sums(out.falls, ways.falls),
                out.returns | _sums(out.falls, ways.returns),
                out.rounds | _sums(out.falls, ways.rounds),
            )
        return out

    def _made_up_for(self, node: ast.stmt, earlier: Sequence[ast.stmt]) -> bool:
        """`if token: …` behind a `try` whose handler sets `token = None` and counts the same checks as failed."""
        if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Name):
            return False
        wanted = self.block(node.body).falls
        for statement in earlier:
            for handler in statement.handlers if isinstance(statement, ast.Try) else ():
                unset = any(
                    isinstance(s, ast.Assign)
                    and any(isinstance(t, ast.Name) and t.id == node.test.id for t in s.targets)
                    and isinstance(s.value, ast.Constant)
                    and not s.value.value
                    for s in handler.body
                )
                if unset and self.block(handler.body).falls == wanted:
                    return True
        return False

    def statement(self, node: ast.stmt) -> Ways:
        if isinstance(node, ast.If):
            grown = self._expression(node.test)
            then, other = self.block(node.body), self.block(node.orelse)
            both = Ways(then.falls | other.falls, then.returns | other.returns, then.rounds | other.rounds)
            return Ways(_sums(grown, both.falls), _sums(grown, both.returns), _sums(grown, both.rounds))
        if isinstance(node, ast.Try):
            return self._try(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            inner = self.block(node.body)
            ends = inner.falls | inner.rounds
            # Every round alike: the number of rounds is whatever is looped over. Unlike: some rounds do not count.
            return Ways(frozenset([0]) if len(ends) <= 1 else frozenset([0, 1]), inner.returns)
        if isinstance(node, ast.With | ast.AsyncWith):
            ways = self.block(node.body)
            quiet = any("suppress" in ast.unparse(i.context_expr) for i in node.items)
            return Ways(ways.falls | {0}, ways.returns, ways.rounds) if quiet else ways
        if isinstance(node, ast.Match):
            parts = [self.block(c.body) for c in node.cases]
            falls = frozenset().union(*(p.falls for p in parts))
            return Ways(
                falls, frozenset().union(*(p.returns for p in parts)), frozenset().union(*(p.rounds for p in parts))
            )
        if isinstance(node, ast.Return):
            return Ways(frozenset(), self._expression(node.value))
        if isinstance(node, ast.Continue | ast.Break):
            return Ways(frozenset(), frozenset(), frozenset([0]))
        if isinstance(node, ast.Raise) or self._ends(node):
            return Ways(frozenset(), frozenset())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return Ways()
        own = 1 if self._grows(node) else 0
        return Ways(_sums(frozenset([own]), self._expression(node)))

    def _try(self, node: ast.Try) -> Ways:
        body = self.block([*node.body, *node.orelse])
        falls, returns, rounds = body.falls, body.returns, body.rounds
        for handler in node.handlers:
            ways = self.block(handler.body)
            falls, returns, rounds = falls | ways.falls, returns | ways.returns, rounds | ways.rounds
        last = self.block(node.finalbody)
        return Ways(_sums(falls, last.falls), _sums(returns, last.falls), _sums(rounds, last.falls))

    def _ends(self, node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return isinstance(call, ast.Call) and self.module.dotted(call.func) in _ENDS

    def _expression(self, node: ast.AST | None) -> frozenset[int]:
        """The growth by the calls in an expression or a simple statement."""
        out = frozenset([0])
        for call in (n for n in walk(node) if isinstance(n, ast.Call)) if node is not None else ():
            if self._grows(call):
                out = _sums(out, frozenset([1]))
                continue
            function = self.growers.get(_called(call))
            if function is not None and function not in self._busy and len(self._busy) < 8:
                self._busy.add(function)
                ways = self.block(function.body)
                self._busy.discard(function)
                out = _sums(out, ways.falls | ways.returns or frozenset([0]))
        return out


def _sums(a: frozenset[int], b: frozenset[int]) -> frozenset[int]:
    return frozenset(sorted({x + y for x in a for y in b})[:_MOST])


def _called(call: ast.Call) -> str:
    return _last(call.func)


def _last(node: ast.AST) -> str:
    """The last name of `x`, `self.x`, `a.b.x`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

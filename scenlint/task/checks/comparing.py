"""Comparisons of a followed verifier: folded where both sides are known, facts where one is of the agent's making."""
# ruff: noqa: N802 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scenlint.source.pyfold import combine
from scenlint.source.python import PyModule
from scenlint.source.pyvalue import HOLE, UNKNOWN, Map, PathText, Ref, Seq, Value, constants, plain, unknown
from scenlint.source.regex import regex
from scenlint.task.checks.facts import Judged, Place, Source
from scenlint.task.checks.iteration import Iteration
from scenlint.task.checks.model import Comparison, Key
from scenlint.task.checks.scope import Env

# Keys and columns by which a record is found; to compare one of them judges nothing else of it.
IDENTITY = regex(
    r"(?:.*_)?(?:id|uuid|name|title|label|slug|key|path|email|username|login|deleted\w*|type|schema|displayname|subject)",
    re.IGNORECASE,
)


class Comparing(Iteration):
    """Comparisons, and the keys that are asked for on the way."""

    def _Compare(self, node: ast.Compare, env: Env) -> Value:
        sides = [node.left, *node.comparators]
        values = [self.eval(s, env) for s in sides]
        out: list[Value] = []
        for n, op in enumerate(node.ops):
            close = self._closeness(sides[n], sides[n + 1], op, env)
            out.append(close or self.compare(_OPERATORS[type(op)], values[n], values[n + 1], node, env))
        if len(out) == 1:
            return out[0]
        return replace(unknown(*out), shape="judged")

    def _closeness(self, left: ast.expr, right: ast.expr, op: ast.cmpop, env: Env) -> Value | None:
        """`abs(a - b) < tolerance` is an equality within a tolerance."""
        if not isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return None
        if isinstance(op, ast.Gt | ast.GtE) and not (
            isinstance(left, ast.Call) and env.module.dotted(left.func).endswith("abs")
        ):
            left, right = right, left
        if not (isinstance(left, ast.Call) and len(left.args) == 1 and isinstance(left.args[0], ast.BinOp)):
            return None
        difference = left.args[0]
        if env.module.dotted(left.func).split(".")[-1] not in ("abs", "fabs") or not isinstance(difference.op, ast.Sub):
            return None
        a, b = self.eval(difference.left, env), self.eval(difference.right, env)
        if not (self.produced(a) or self.produced(b)):
            return None
        bound = self.eval(right, env)
        limits = [c for c in constants(bound) if isinstance(c, int | float)]
        whole = env.module.parent(left)
        return self.compare(
            "==", a, b, whole if whole is not None else left, env, tolerance=limits[0] if limits else 0.0
        )

    def compare(
        self, op: str, left: Value, right: Value, node: ast.AST, env: Env, *, tolerance: float | None = None
    ) -> Value:
        """One comparison: folded where both sides are known, a fact where one is the agent's."""
        here = unknown(left, right, shape="judged")
        left_made, right_made = self.produced(left), self.produced(right)
        if not left_made and not right_made:
            folded = combine(_FOLD[op], left, right) if op in _FOLD else UNKNOWN
            if folded.open or not folded.options:
                return here
            return replace(folded, data=here.data, why=here.why, shape="judged")
        if (
            op in ("in", "not in")
            and right_made
            and not left_made
            and (keyed := self._membership(left, right, node, env))
        ):
            return here.since(keyed, keyed)
        made, other, swapped = (left, right, False) if left_made else (right, left, True)
        both = left_made and right_made
        if not both and swapped and op in _SWAP:
            op = _SWAP[op]
        options = [] if both else _constants(other)
        span = env.module.span(node)
        where = other.origin.span if isinstance(other.origin, Place) else None
        presence = self._asks_presence(op, made, options)
        keys = [f.name for f in self.facts.of(made.all_data) if isinstance(f, Key)]
        named = bool(keys) and IDENTITY.fullmatch(keys[-1]) is not None
        selects = self.filtering > 0 or made.shape == "selected" or (named and _picks(node, env.module))
        presence |= named and swapped and op in ("in", "not in") and any(isinstance(o, Seq) for o in made.options)
        paths = self.facts.paths(made.all_data)
        against = self.facts.paths(other.all_data) if both else ()
        sources = tuple(dict.fromkeys(f.kind for f in self.facts.of(made.all_data) if isinstance(f, Source)))
        if other.shape.startswith("approx"):
            tolerance = float(other.shape[7:] or 1e-6)
        bits = 0
        neutral = made.shape == "neutral"
        for constant in options or [None]:
            fact = Comparison(
                op, constant, bool(options), not neutral, span, where if options else None, presence, selects,
                tolerance, keys[-1] if keys else None, paths, sources, against,
            )  # fmt: skip
            bits |= self.facts.add(fact, basis=here.data)
        return here.since(0, bits)

    def _membership(self, left: Value, right: Value, node: ast.AST, env: Env) -> int:
        """`"key" in data` for structured data; what lies under a key may as well be a list or a text."""
        if right.shape not in ("json", "rows") and not any(isinstance(o, Map) for o in right.options):
            return 0
        nested = any(isinstance(f, Key) for f in self.facts.of(right.data))
        wanted = {o for o in left.options if isinstance(o, str)}
        if nested and right.shape == "json" and not wanted <= env.module.subscripts:
            return 0
        bits = self.key_facts(right, left, node, env, default=not _demanded(node, env.module))
        return bits | self.facts.add(Judged(env.module.span(node)), basis=bits | right.all_data) if bits else 0

    @staticmethod
    def _asks_presence(op: str, made: Value, options: list[Any]) -> bool:
        if op in ("is", "is not", "==", "!=") and options and all(o is None or o in ("", b"") for o in options):
            return True
        sized = made.shape in ("size", "count", "extent")
        if made.shape == "listing" and op in ("in", "not in"):
            return True
        if made.shape == "extent" and op in (">", ">=") and options:
            return all(isinstance(o, int) and o <= 100 for o in options)  # a text of some length, a file of some bytes
        if op in ("==", "!=") and made.shape == "presence":
            return True
        if sized and options and all(isinstance(o, int) for o in options):
            return (op, options[0]) in ((">", 0), (">=", 1), ("!=", 0), ("==", 0), ("<=", 0), ("<", 1))
        return False

    def key_facts(self, value: Value, key: Value, node: ast.AST, env: Env, *, default: bool = False) -> int:
        if any(isinstance(o, Map) and not o.more for o in value.options) and not value.open:
            return 0  # a table of the verifier's own that holds produced data
        bits = 0
        found = self.facts.paths(value.all_data)
        for option in key.options:
            if isinstance(option, str) and not isinstance(option, PathText) and HOLE not in option:
                place = key.origin.node if isinstance(key.origin, Place) else node
                module = key.origin.module if isinstance(key.origin, Place) else env.module
                bits |= self.facts.add(Key(option, module.span(place), found, default), produced=True)
        return bits


def _picks(node: ast.AST, module: PyModule) -> bool:
    """Whether a comparison looks for a record: the condition of an `if` in a loop, or the item of `any(…)`."""
    up = module.parent(node)
    while isinstance(up, ast.BoolOp | ast.UnaryOp):
        node, up = up, module.parent(up)
    if isinstance(up, ast.GeneratorExp | ast.ListComp):
        return up.elt is node
    return isinstance(up, ast.If) and up.test is node and any(isinstance(p, ast.For) for p in module.parents(up))


def _demanded(node: ast.AST, module: PyModule) -> bool:
    """Whether a key that is asked for has to be there: asserted, or its absence tested."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn):
        return True
    up = next((p for p in module.parents(node) if isinstance(p, ast.stmt)), None)
    return isinstance(up, ast.Assert | ast.Return)


def _constants(value: Value) -> list[Any]:
    return constants(value) if not value.open or value.options else []


def _contains(a: Any, b: Any) -> Any:
    if isinstance(b, Seq):
        return NotImplemented if b.more else a in plain(b)
    if isinstance(b, Map):
        return NotImplemented if b.more else a in b.items
    return a in b if isinstance(b, str | bytes) and HOLE not in str(b) else NotImplemented


def _same(a: Any, b: Any) -> Any:
    if isinstance(a, Ref) and isinstance(b, Ref):
        return True if a == b else NotImplemented
    return plain(a) == plain(b)


def _negated(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        result = function(a, b)
        return result if result is NotImplemented else not result

    return run


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_SWAP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "==": _same,
    "!=": _negated(_same),
    "is": _same,
    "is not": _negated(_same),
    "<": lambda a, b: plain(a) < plain(b),
    "<=": lambda a, b: plain(a) <= plain(b),
    ">": lambda a, b: plain(a) > plain(b),
    ">=": lambda a, b: plain(a) >= plain(b),
    "in": _contains,
    "not in": _negated(_contains),
}

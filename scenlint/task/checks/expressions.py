"""Evaluates the expressions of a followed verifier: values, and on the way the facts that they rest on."""
# ruff: noqa: N802 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from scenlint.source.pyfold import binary, combine, subscript, text_of, unary
from scenlint.source.pyvalue import UNKNOWN, Map, Ref, Seq, Value, is_scalar, join, known, plain, truth, unknown
from scenlint.task.checks.comparing import Comparing
from scenlint.task.checks.facts import Place
from scenlint.task.checks.follower import DEEPEST, STEPS, ExhaustedError
from scenlint.task.checks.iteration import put
from scenlint.task.checks.scope import Env, Func


class Expressions(Comparing):
    """The expression half of the follower; `Statements` and `Flow` add the rest."""

    def eval(self, node: ast.AST, env: Env) -> Value:
        self.steps += 1
        if self.steps > STEPS or self.depth > DEEPEST:
            raise ExhaustedError
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            return unknown(*[self.eval(c, env) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)])
        self.depth += 1
        try:
            value: Value = method(node, env)
        finally:
            self.depth -= 1
        return value

    def _Constant(self, node: ast.Constant, env: Env) -> Value:
        return known(node.value, origin=Place(env.module, node))

    def _Name(self, node: ast.Name, env: Env) -> Value:
        value = env.get(node.id)
        if value is None:
            value = known(Ref(node.id))
        return value

    def _NamedExpr(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.eval(node.value, env)
        self.assign(node.target, value, env)
        return value

    def _JoinedStr(self, node: ast.JoinedStr, env: Env) -> Value:
        parts = [self.eval(p, env) for p in node.values]
        out = text_of(parts)
        origins = tuple(p.origin for p in parts if p.origin is not None)
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and str(first.value).lstrip().startswith("[") and len(parts) > 1:
            # `[{status}] (…pt) label`: the verdict rests on the status alone, not on what else the line shows.
            return replace(out, data=parts[1].all_data, why=parts[1].all_why, origin=origins)
        return replace(out, origin=origins)

    def _FormattedValue(self, node: ast.FormattedValue, env: Env) -> Value:
        value = self.eval(node.value, env)
        if node.conversion == 114:
            return combine(lambda o: repr(plain(o)), value)
        if node.format_spec is not None:
            spec = self.eval(node.format_spec, env)
            return combine(lambda o, s: format(plain(o), s), value, spec)
        return value

    def _Sequence(self, node: ast.List | ast.Tuple | ast.Set, env: Env, kind: str) -> Value:
        seq = Seq(kind)
        for item in node.elts:
            if isinstance(item, ast.Starred):
                inner = self.eval(item.value, env)
                items, more = self.elements(inner)
                seq.items += items
                seq.more |= more
                seq.data |= inner.all_data
                seq.why |= inner.all_why
            else:
                put(seq, self.eval(item, env))
        return known(seq, origin=Place(env.module, node))

    def _List(self, node: ast.List, env: Env) -> Value:
        return self._Sequence(node, env, "list")

    def _Tuple(self, node: ast.Tuple, env: Env) -> Value:
        return self._Sequence(node, env, "tuple")

    def _Set(self, node: ast.Set, env: Env) -> Value:
        return self._Sequence(node, env, "set")

    def _Dict(self, node: ast.Dict, env: Env) -> Value:
        out = Map()
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.eval(item, env)
            put(out, value)
            if key is None:
                for option in value.options:
                    if isinstance(option, Map):
                        out.items.update(option.items)
                        out.more |= option.more
                    else:
                        out.more = True
                out.more |= value.open
                continue
            for k in (keys := self.eval(key, env)).options:
                if is_scalar(k):
                    out.items[k] = value
                elif isinstance(k, Seq):
                    try:
                        out.items[plain(k)] = value
                    except (ValueError, TypeError):
                        out.more = True
            out.more |= keys.open
        if "passed" in out.items and "id" in out.items:
            self.cases.append((out.items["id"], out.items["passed"], self.place(node, env), self.why()))
        return known(out, origin=Place(env.module, node))

    def _BinOp(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        out = binary(node.op, left, right)
        shape = out.shape
        if not shape and out.open:
            shape = next((s for s in (left.shape, right.shape) if s), "")
        if shape == "judged":  # sums of verdicts
            return replace(out, shape=shape)
        origins = tuple(v.origin for v in (left, right) if v.origin is not None)
        return replace(out, shape=shape, origin=out.origin or origins or None)

    def _UnaryOp(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.eval(node.operand, env)
        if isinstance(node.op, ast.Not):
            value = self.decide(value, node.operand, env)
        return unary(node.op, value)

    def _BoolOp(self, node: ast.BoolOp, env: Env) -> Value:
        values: list[Value] = []
        before = self.ctx
        stop = isinstance(node.op, ast.Or)
        for n, part in enumerate(node.values):
            value = self.eval(part, env)
            last = n == len(node.values) - 1
            decided = value if last and not values else self.decide(value, part, env)
            known_truth = truth(value)
            if known_truth is not None and known_truth is not stop and not last:
                values.append(replace(decided, options=(), open=False))
                continue
            if stop and not last and not decided.open:
                decided = replace(decided, options=tuple(o for o in decided.options if o or not is_scalar(o)))
            values.append(decided)
            self.ctx |= decided.all_why
            if known_truth is stop:
                break
        self.ctx = before
        out = join(values)
        judged = all(v.shape in ("judged", "") for v in values) and any(v.shape == "judged" for v in values)
        return replace(out, shape="judged" if judged else out.shape)

    def _IfExp(self, node: ast.IfExp, env: Env) -> Value:
        test = self.decide(self.eval(node.test, env), node.test, env)
        decided = truth(test)
        before = self.ctx
        self.ctx |= test.all_why
        sides = [s for s, want in ((node.body, True), (node.orelse, False)) if decided in (None, want)]
        out = join([self.eval(s, env) for s in sides])
        self.ctx = before
        return out.since(0, test.all_why)

    def _Await(self, node: ast.Await, env: Env) -> Value:
        return self.eval(node.value, env)

    def _Starred(self, node: ast.Starred, env: Env) -> Value:
        return self.eval(node.value, env)

    def _Yield(self, node: ast.Yield, env: Env) -> Value:
        value = self.eval(node.value, env) if node.value else known(None)
        if self.frames:
            self.frames[-1].yields.append(value)
        return UNKNOWN

    def _YieldFrom(self, node: ast.YieldFrom, env: Env) -> Value:
        items, _ = self.elements(self.eval(node.value, env))
        if self.frames:
            self.frames[-1].yields += items
        return UNKNOWN

    def _Lambda(self, node: ast.Lambda, env: Env) -> Value:
        return known(Func(node, env))

    def _Call(self, node: ast.Call, env: Env) -> Value:
        value = self.call(node, env)
        old = self.values.get(node)
        self.values[node] = value if old is None else join([old, value])
        return value

    def _Attribute(self, node: ast.Attribute, env: Env) -> Value:
        return self.attribute(self.eval(node.value, env), node.attr, node, env)

    def _Slice(self, node: ast.Slice, env: Env) -> Value:
        return UNKNOWN

    def _Subscript(self, node: ast.Subscript, env: Env) -> Value:
        value, key = self.eval(node.value, env), self.eval(node.slice, env)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice, env)
        return self.item(value, key, node, env)

    def item(self, value: Value, key: Value, node: ast.AST, env: Env, *, default: bool = False) -> Value:
        """`value[key]`: a key where the data are the agent's."""
        if any(isinstance(o, Ref) for o in value.options):
            return self._environment(value, key, node, env) or unknown(value, key)
        out = subscript(value, key)
        if not self.produced(value):
            return out
        bits = self.key_facts(value, key, node, env, default=default)
        if not default and not value.options:
            self.fail(node, env, "implicit", "LookupError", value)
        shape = (
            value.shape
            if value.shape in ("json", "rows", "agent", "opaque")
            else "text"
            if value.shape == "text"
            else ""
        )
        out = out.since(bits, 0)
        return replace(out, shape=out.shape or shape) if out.open else out

    def _environment(self, value: Value, key: Value, node: ast.AST, env: Env) -> Value | None:
        for option in value.options:
            if isinstance(option, Ref) and option.name == "os.environ":
                return self.variable(key, None)
            if isinstance(option, Ref) and option.name == "sys.argv":
                indices = [k for k in key.options if isinstance(k, int) and k > 0]
                if indices and indices[0] <= len(self.setup.arguments):
                    return self.setup.arguments[indices[0] - 1]
        return None

    def variable(self, key: Value, default: Value | None) -> Value:
        """An environment variable: what is known of it, or its default, or anything."""
        found = [self.setup.environment[k] for k in key.options if isinstance(k, str) and k in self.setup.environment]
        if found:
            return join(found)
        if default is not None and (default.options or default.open):
            return replace(default, open=True) if default.options != (None,) else UNKNOWN
        return UNKNOWN

    def _slice(self, value: Value, node: ast.Slice, env: Env) -> Value:
        bounds = [self.eval(b, env) if b is not None else known(None) for b in (node.lower, node.upper, node.step)]

        def cut(option: Any, low: Any, high: Any, step: Any) -> Any:
            at = slice(low, high, step)
            if isinstance(option, Seq):
                return known(Seq(option.kind, option.items[at], option.more, option.data, option.why, option.maybe))
            return option[at] if isinstance(option, str | bytes) else NotImplemented

        if any(isinstance(o, Ref) and o.name == "sys.argv" for o in value.options):
            return known(Seq("list", list(self.setup.arguments), more=True))
        out = combine(cut, value, *bounds)
        return replace(out, shape=value.shape) if out.open else out

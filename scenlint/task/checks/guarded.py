"""Follows `try` and `with`: which failures a handler catches, and what is known behind it."""
# ruff: noqa: N802, N815 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from scenlint.source.pyvalue import UNKNOWN, Seq, Value, join, known
from scenlint.task.checks.expressions import Expressions
from scenlint.task.checks.facts import Failure
from scenlint.task.checks.scope import Class, Env, Instance, merged


class Guarded(Expressions):
    """Blocks whose failures go elsewhere."""

    def block(self, body: Sequence[ast.stmt], env: Env) -> bool:
        raise NotImplementedError

    def member(self, cls: Class, name: str, bound: Value | None) -> Value | None:
        raise NotImplementedError

    def apply(self, target: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
        raise NotImplementedError

    def _s_With(self, node: ast.With, env: Env) -> bool:
        raising = quiet = False
        for item in node.items:
            value = self.eval(item.context_expr, env)
            name = env.module.dotted(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else ""
            quiet |= name in ("contextlib.suppress", "suppress")
            raising |= name.split(".")[-1] in (
                "raises",
                "assertRaises",
                "assertRaisesRegex",
                "warns",
                "deprecated_call",
            )
            if item.optional_vars is not None:
                entered = next((o for o in value.options if isinstance(o, Instance)), None)
                member = self.member(entered.cls, "__enter__", known(entered)) if entered else None
                if member is not None:
                    value = self.apply(member, [], {}, item.context_expr, env)
                elif value.options and all(isinstance(o, Seq) and o.more and len(o.items) == 1 for o in value.options):
                    value = join([o.items[0] for o in value.options])  # a generator made a context manager
                self.assign(item.optional_vars, value, env)
        count = len(self.failures)
        fell = self.block(node.body, env)
        if raising:
            del self.failures[count:]
            self.fail(node, env, "assert", "AssertionError", UNKNOWN)
            return True
        if quiet:
            del self.failures[count:]
            return True
        return fell

    _s_AsyncWith = _s_With

    def _s_Try(self, node: ast.Try, env: Env) -> bool:
        facts, count = len(self.facts.list), len(self.failures)
        names = dict(env.names)
        fell = self.block(node.body, env)
        raised = self.failures[count:]
        del self.failures[count:]
        if fell and node.orelse:
            fell = self.block(node.orelse, env)
        late = self.failures[count:]
        del self.failures[count:]
        done = env.names
        ends: list[dict[str, Value]] = [done] if fell else []
        for handler in node.handlers:
            env.names = merged(names, done, 0, names)
            caught = [f for f in raised if self.catches(handler, f.exception, env)]
            kinds = {"assert" if f.kind in ("assert", "fail") else "data" for f in caught if self._deciding(f)}
            if kinds:
                self.note("swallows", handler, env, " ".join(sorted(kinds)))
            before = self.ctx
            self.ctx |= self.facts.since(facts) & self.facts.accesses
            for failure in caught:
                if failure.kind in ("assert", "fail"):
                    self.ctx |= failure.why
            self.caught += caught
            if handler.name:
                env.names[handler.name] = UNKNOWN
            self.uncertain += 1
            if self.block(handler.body, env):
                ends.append(env.names)
            self.uncertain -= 1
            self.ctx = before
            raised = [f for f in raised if f not in caught]
        self.failures += raised + late
        env.names = ends[0] if ends else done
        for other in ends[1:]:
            env.names = merged(env.names, other, 0, names)
        after = self.block(node.finalbody, env)
        return bool(ends) and after

    def _deciding(self, failure: Failure) -> bool:
        """Whether a failure tells of the agent's work."""
        return failure.kind in ("assert", "fail") or bool((failure.data | failure.why) & self.facts.produced)

    def catches(self, handler: ast.ExceptHandler, exception: str, env: Env) -> bool:
        """Whether a handler catches an exception of that name."""
        if handler.type is None:
            return True
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        raised = getattr(builtins, exception, None)
        for kind in kinds:
            name = env.module.dotted(kind).split(".")[-1]
            caught = getattr(builtins, name, None)
            if name == exception or name == "BaseException":
                return True
            if isinstance(raised, type) and isinstance(caught, type) and issubclass(raised, caught):
                return True
            if raised is None and name == "Exception" and exception not in ("SystemExit", "Failed"):
                return True
        return False

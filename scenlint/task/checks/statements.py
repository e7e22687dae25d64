"""Follows a verifier's statements: every branch, loops over known items unrolled, handlers with what they catch."""
# ruff: noqa: N802, N815 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from scenlint.source.pyfold import binary
from scenlint.source.python import walk
from scenlint.source.pyvalue import UNKNOWN, PathText, Seq, Value, is_scalar, known, truth
from scenlint.task.checks.facts import Output
from scenlint.task.checks.guarded import Guarded
from scenlint.task.checks.iteration import maybe
from scenlint.task.checks.scope import Class, Env, Func, merged


class Statements(Guarded):
    """The statement half of the follower: each method says whether the next statement is reached."""

    def block(self, body: Sequence[ast.stmt], env: Env) -> bool:
        before = self.ctx
        for statement in body:
            if not self.statement(statement, env):
                self.ctx = before
                return False
        self.ctx = before
        return True

    def statement(self, node: ast.stmt, env: Env) -> bool:
        self.steps += 1
        method = getattr(self, "_s_" + type(node).__name__, None)
        if method is None:
            return True
        return bool(method(node, env))

    def leave(self) -> None:
        if self.frames:
            self.frames[-1].escaped |= self.ctx

    def _s_Expr(self, node: ast.Expr, env: Env) -> bool:
        count = len(self.failures)
        self.eval(node.value, env)
        if isinstance(node.value, ast.Call):
            ended = next(
                (f for f in self.failures[count:] if f.kind in ("exit", "fail") and f.place.node is node.value), None
            )
            if ended or any(o.kind == "exit" and o.place.node is node.value for o in self.outputs[-1:]):
                self.leave()
                return False
        return True

    def _s_Assign(self, node: ast.Assign, env: Env) -> bool:
        value = self.eval(node.value, env)
        for target in node.targets:
            self.assign(target, value, env)
        return True

    def _s_AnnAssign(self, node: ast.AnnAssign, env: Env) -> bool:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value, env), env)
        return True

    def _s_AugAssign(self, node: ast.AugAssign, env: Env) -> bool:
        value = self.eval(node.value, env)
        load = ast.copy_location(_as_load(node.target), node.target)
        old = self.eval(load, env)
        for option in old.options:
            if isinstance(option, Seq) and isinstance(node.op, ast.Add):
                items, more = self.elements(value)
                option.maybe = (option.maybe or not option.items) and (bool(self.uncertain) or more)
                option.items += items[: 200 - len(option.items)]
                option.more |= more or self.repeats > 0
                option.data |= value.all_data
                option.why |= value.all_why | self.ctx
                return True
        new = binary(node.op, old, value)
        counted = replace(new, shape="count") if new.open and old.shape in ("", "count") and is_count(old) else new
        self.assign(node.target, counted, env)
        return True

    def _s_Delete(self, node: ast.Delete, env: Env) -> bool:
        return True

    def _s_Return(self, node: ast.Return, env: Env) -> bool:
        value = self.eval(node.value, env) if node.value else known(None)
        if self.frames:
            frame = self.frames[-1]
            self.returned(value, node, env)
            frame.returns.append(value.since(0, self.ctx | frame.escaped))
            self.leave()
        return False

    def returned(self, value: Value, node: ast.Return, env: Env) -> None:
        """For those who read a verdict from what a function returns."""

    def _s_Raise(self, node: ast.Raise, env: Env) -> bool:
        value = self.eval(node.exc, env) if node.exc else UNKNOWN
        name = env.module.dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc) if node.exc else ""
        if name.split(".")[-1] == "SystemExit":
            args = node.exc.args if isinstance(node.exc, ast.Call) else []
            self.exit(self.eval(args[0], env) if args else known(None), node, env)
        else:
            self.fail(node, env, "raise", name.split(".")[-1] or "Exception", value)
        self.leave()
        return False

    def exit(self, status: Value, node: ast.AST, env: Env) -> None:
        """The process ends with a status."""
        self.outputs.append(Output("exit", status, self.place(node, env), self.why() | status.all_why, self.stack()))
        if truth(status) is not False or not status.options:
            self.fail(node, env, "exit", "SystemExit", status)

    def _s_Assert(self, node: ast.Assert, env: Env) -> bool:
        value = self.decide(self.eval(node.test, env), node.test, env)
        decided = truth(value)
        if decided is not True:
            self.fail(node, env, "assert", "AssertionError", value)
        if self.frames:
            self.frames[-1].escaped |= value.all_why
        _narrow(node.test, True, env)
        return decided is not False

    def _s_If(self, node: ast.If, env: Env) -> bool:
        test = self.decide(self.eval(node.test, env), node.test, env)
        decided = truth(test)
        if decided is not None:
            before, self.ctx = self.ctx, self.ctx | test.all_why
            fell = self.block(node.body if decided else node.orelse, env)
            self.ctx = before
            return fell
        before, names = self.ctx, dict(env.names)
        self.ctx |= test.all_why
        self.uncertain += 1
        _narrow(node.test, True, env)
        fell = self.block(node.body, env)
        after = env.names
        env.names = dict(names)
        _narrow(node.test, False, env)
        other = self.block(node.orelse, env)
        self.ctx = before
        self.uncertain -= 1
        if fell and other:
            env.names = merged(after, env.names, test.all_why, names)
        elif fell:
            env.names = after
        return fell or other

    def _s_For(self, node: ast.For, env: Env) -> bool:
        iterable = self.eval(node.iter, env)
        before = self.ctx
        known_items, more = self.elements(iterable)
        if more:
            self.ctx |= iterable.all_why
        unsure = maybe(iterable)
        self.uncertain += unsure
        repeats = more and not known_items
        self.repeats += repeats
        names = dict(env.names)
        for item in self.rounds(iterable):
            self.assign(node.target, item, env)
            self._round(node.body, env)
        self.ctx = before
        self.uncertain -= unsure
        self.repeats -= repeats
        if more and not known_items:
            env.names = merged(env.names, {**env.names, **names}, iterable.all_why, names)
        self.block(node.orelse, env)
        return True

    _s_AsyncFor = _s_For

    def _s_While(self, node: ast.While, env: Env) -> bool:
        test = self.decide(self.eval(node.test, env), node.test, env)
        before, names = self.ctx, dict(env.names)
        endless = truth(test) is True
        self.ctx |= test.all_why
        self.uncertain += not endless
        self.repeats += 1
        if truth(test) is not False:
            self._round(node.body, env)
        self.uncertain -= not endless
        self.repeats -= 1
        self.ctx = before
        env.names = merged(env.names, {**env.names, **names}, test.all_why, names)
        self.block(node.orelse, env)
        return not endless or any(isinstance(n, ast.Break) for n in walk(node))

    def _round(self, body: list[ast.stmt], env: Env) -> None:
        """A round of a loop, which ends at its last statement or where it is left."""
        self.jumps.append([])
        names = dict(env.names)
        fell = self.block(body, env)
        for left, why in self.jumps.pop():
            env.names = merged(env.names, left, why, names) if fell else left
            fell = True

    def _s_Break(self, node: ast.stmt, env: Env) -> bool:
        self.leave()
        if self.jumps:
            self.jumps[-1].append((dict(env.names), self.ctx))
        return False

    _s_Continue = _s_Break

    def _s_Match(self, node: ast.Match, env: Env) -> bool:
        test = self.decide(self.eval(node.subject, env), node.subject, env)
        before, names = self.ctx, dict(env.names)
        self.ctx |= test.all_why
        ends: list[dict[str, Value]] = [names]
        for case in node.cases:
            env.names = dict(names)
            for child in walk(case.pattern):
                if isinstance(child, ast.MatchAs | ast.MatchStar) and child.name:
                    env.names[child.name] = test
            self.uncertain += 1
            if self.block(case.body, env):
                ends.append(env.names)
            self.uncertain -= 1
        self.ctx = before
        env.names = ends[0]
        for other in ends[1:]:
            env.names = merged(env.names, other, test.all_why, names)
        return True

    def _s_FunctionDef(self, node: ast.FunctionDef, env: Env) -> bool:
        env.put(node.name, known(Func(node, env)))
        return True

    _s_AsyncFunctionDef = _s_FunctionDef

    def _s_ClassDef(self, node: ast.ClassDef, env: Env) -> bool:
        env.put(node.name, known(Class(node, env)))
        return True

    def _s_Global(self, node: ast.Global | ast.Nonlocal, env: Env) -> bool:
        env.shared |= set(node.names)
        return True

    _s_Nonlocal = _s_Global


def is_count(value: Value) -> bool:
    """Whether a value began as 0: what is added to it counts something."""
    return 0 in value.options or value.shape == "count"


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(node.value, node.slice, ast.Load())
    return node


def _narrow(test: ast.expr, holds: bool, env: Env) -> None:
    """What a test of a bare name says about it: `if x`, `if not x`, `if x is None`."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        for part in test.values:
            _narrow(part, holds, env)
        return
    drop = False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        if test.comparators[0].value is None and isinstance(test.ops[0], ast.Is | ast.IsNot):
            drop = isinstance(test.ops[0], ast.IsNot) is holds
            test = test.left
    elif isinstance(test, ast.Name):
        drop = holds
    if not isinstance(test, ast.Name) or not drop:
        return
    value = env.names.get(test.id)
    if value is not None and len(value.options) > 0:
        kept = tuple(o for o in value.options if o is not None and (not is_scalar(o) or o or isinstance(o, PathText)))
        if len(kept) < len(value.options):
            env.names[test.id] = replace(value, options=kept, open=value.open or not kept)

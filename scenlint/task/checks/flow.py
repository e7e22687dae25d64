"""Follows a verifier's statements without running it: every branch, calls entered, loops over known items unrolled."""
# ruff: noqa: N802, N815 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import replace

from scenlint.source.python import PyModule
from scenlint.source.pyvalue import UNKNOWN, Map, PathText, Ref, Seq, Value, is_scalar, join, known, truth, unknown
from scenlint.task.checks import library
from scenlint.task.checks.expressions import Class, Env, Exhausted, Expressions, Frame, Func, Instance, Module
from scenlint.task.checks.facts import Failure, Output, Place, Source
from scenlint.task.checks.model import Name
from scenlint.task.checks.program import LIBRARIES, Setup

DEPTH = 14  # calls entered inside each other


class Flow(Expressions):
    """One walk through a verifier's program."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.modules: dict[PyModule, Env] = {}
        self.complete = True

    # -- modules and functions
    def load(self, module: PyModule, *, main: bool = False) -> Env:
        """Run a module's top level, once."""
        if module in self.modules:
            return self.modules[module]
        env = self.modules[module] = Env(module)
        env.names["__file__"] = known(self.setup.home(module))
        env.names["__name__"] = known("__main__" if main else "?")
        before, self.ctx = self.ctx, 0
        self.block(module.tree.body, env)
        self.ctx = before
        return env

    def run(self, work: object, *args: object) -> bool:
        """Call something of ours, minding the limit; False where the verifier is too large for it."""
        try:
            work(*args)  # type: ignore[operator]
        except (Exhausted, RecursionError):
            self.complete = False
            self.frames.clear()
        return self.complete

    def enter(self, func: Func, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
        """Follow a call of one of the verifier's own functions."""
        sources = unknown(*args, *kwargs.values())
        if len(self.frames) >= DEPTH or sum(f.func is not None and f.func.node is func.node for f in self.frames) > 1:
            return sources
        inner = Env(func.env.module, {}, func.env)
        given = [func.bound, *args] if func.bound is not None else list(args)
        self._bind(func, given, kwargs, inner)
        frame = Frame(func, func.env.module, Place(env.module, node))
        self.frames.append(frame)
        before = self.ctx
        try:
            if isinstance(func.node, ast.Lambda):
                return self.eval(func.node.body, inner)
            fell = self.block(func.node.body, inner)
        finally:
            self.frames.pop()
            self.ctx = before
        if frame.yields:
            return known(Seq("list", frame.yields, more=True))
        if fell or not frame.returns:
            frame.returns.append(known(None, why=frame.escaped))
        return join(frame.returns)

    def _bind(self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env) -> None:
        spec = func.node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        for name, default in zip(names[::-1], spec.defaults[::-1], strict=False):
            env.names[name] = self.eval(default, func.env)
        for name, default_node in zip((a.arg for a in spec.kwonlyargs), spec.kw_defaults, strict=True):
            env.names[name] = self.eval(default_node, func.env) if default_node is not None else UNKNOWN
        for name in names:
            env.names.setdefault(name, UNKNOWN)
        env.names.update(zip(names, args, strict=False))
        if spec.vararg:
            env.names[spec.vararg.arg] = known(Seq("tuple", args[len(names) :], more="*" in kwargs))
        known_names = {*names, *(a.arg for a in spec.kwonlyargs)}
        env.names.update({k: v for k, v in kwargs.items() if k in known_names})
        if spec.kwarg:
            env.names[spec.kwarg.arg] = known(Map({k: v for k, v in kwargs.items() if k not in known_names}, more=True))

    def call(self, node: ast.Call, env: Env) -> Value:
        target = self.eval(node.func, env)
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                value = self.eval(arg.value, env)
                items, more = self.elements(value)
                args += items
                if more:
                    kwargs["*"] = value
            else:
                args.append(self.eval(arg, env))
        for keyword in node.keywords:
            value = self.eval(keyword.value, env)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
                continue
            for option in value.options:
                if isinstance(option, Map):
                    kwargs.update({k: v for k, v in option.items.items() if isinstance(k, str)})
        return self.apply(target, args, kwargs, node, env)

    def apply(self, target: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
        """Call a value."""
        out: list[Value] = []
        for option in target.options:
            if isinstance(option, Func):
                out.append(self.enter(option, args, kwargs, node, env))
            elif isinstance(option, Class):
                out.append(self.make(option, args, kwargs, node, env))
            elif isinstance(option, Ref):
                out.append(library.call(self, option.name, args, kwargs, node, env))
            elif isinstance(option, library.Method):
                out.append(library.method(self, option, args, kwargs, node, env))
        if target.open or not out:
            out.append(library.opaque(self, target, args, kwargs, node, env))
        return join(out)

    def make(self, cls: Class, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
        """An object of one of the verifier's own classes."""
        made = Instance(cls)
        value = known(made)
        init = self.member(cls, "__init__", value)
        if init is not None and isinstance(init.options[0], Func):
            self.enter(init.options[0], args, kwargs, node, env)
        else:
            names = [
                s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            made.fields.update(zip(names, args, strict=False))
            made.fields.update({k: v for k, v in kwargs.items() if k in names})
        return value

    def member(self, cls: Class, name: str, bound: Value | None) -> Value | None:
        """A method or class attribute, also an inherited one."""
        for statement in cls.node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == name:
                marks = {
                    env_name.split(".")[-1] for d in statement.decorator_list if (env_name := cls.env.module.dotted(d))
                }
                func = Func(statement, cls.env, None if "staticmethod" in marks else bound, cls.node)
                return self.enter(func, [], {}, statement, cls.env) if "property" in marks else known(func)
            if isinstance(statement, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in statement.targets
            ):
                return self.eval(statement.value, cls.env)
            if isinstance(statement, ast.AnnAssign) and statement.value and isinstance(statement.target, ast.Name):
                if statement.target.id == name:
                    return self.eval(statement.value, cls.env)
        for base in cls.node.bases:
            for option in self.eval(base, cls.env).options:
                if isinstance(option, Class) and option is not cls:
                    found = self.member(option, name, bound)
                    if found is not None:
                        return found
        return None

    def attribute(self, value: Value, name: str, node: ast.AST, env: Env) -> Value:
        out: list[Value] = []
        for option in value.options:
            if isinstance(option, Instance):
                found = option.fields.get(name)
                member = self.member(option.cls, name, known(option)) if found is None else found
                out.append(member or known(library.Method(value, name)))
            elif isinstance(option, Class):
                out.append(self.member(option, name, None) or UNKNOWN)
            elif isinstance(option, Module):
                out.append(option.env.get(name) or UNKNOWN)
            elif isinstance(option, Ref):
                out.append(library.constant(self, f"{option.name}.{name}"))
            else:
                out.append(library.field(self, replace(value, options=(option,), open=False), name, node, env))
        if value.open or not out:
            out.append(library.field(self, replace(value, options=(), open=True), name, node, env))
        return join(out)

    # -- statements: each returns whether the next one is reached
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
        from scenlint.source.pyvalue import binary

        new = binary(node.op, old, value)
        counted = replace(new, shape="count") if new.open and old.shape in ("", "count") and is_count(old) else new
        self.assign(node.target, join([old, counted]) if self.ctx & ~self._outer() else counted, env)
        return True

    def _outer(self) -> int:
        return 0

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
            env.names = _merged(after, env.names, test.all_why, names)
        elif fell:
            env.names = after
        return fell or other

    def _s_For(self, node: ast.For, env: Env) -> bool:
        iterable = self.eval(node.iter, env)
        before = self.ctx
        known_items, more = self.elements(iterable)
        if more:
            self.ctx |= iterable.all_why
        unsure = library.maybe(iterable)
        self.uncertain += unsure
        repeats = more and not known_items
        self.repeats += repeats
        names = dict(env.names)
        for item in self.rounds(iterable):
            self.assign(node.target, item, env)
            self.block(node.body, env)
        self.ctx = before
        self.uncertain -= unsure
        self.repeats -= repeats
        if more and not known_items:
            env.names = _merged(env.names, {**env.names, **names}, iterable.all_why, names)
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
            self.block(node.body, env)
        self.uncertain -= not endless
        self.repeats -= 1
        self.ctx = before
        env.names = _merged(env.names, {**env.names, **names}, test.all_why, names)
        self.block(node.orelse, env)
        return not endless or any(isinstance(n, ast.Break) for n in ast.walk(node))

    def _s_Break(self, node: ast.stmt, env: Env) -> bool:
        self.leave()
        return False

    _s_Continue = _s_Break

    def _s_With(self, node: ast.With, env: Env) -> bool:
        raising = quiet = False
        for item in node.items:
            count = len(self.failures)
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
            del count
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
            self.fail(node, env, "assert", "AssertionError", self.everything(count))
            return True
        if quiet:
            del self.failures[count:]
            return True
        return fell

    _s_AsyncWith = _s_With

    def everything(self, count: int) -> Value:
        return UNKNOWN

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
            env.names = _merged(names, done, 0, names)
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
            env.names = _merged(env.names, other, 0, names)
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

    def _s_Match(self, node: ast.Match, env: Env) -> bool:
        test = self.decide(self.eval(node.subject, env), node.subject, env)
        before, names = self.ctx, dict(env.names)
        self.ctx |= test.all_why
        ends: list[dict[str, Value]] = [names]
        for case in node.cases:
            env.names = dict(names)
            for child in ast.walk(case.pattern):
                if isinstance(child, ast.MatchAs | ast.MatchStar) and child.name:
                    env.names[child.name] = test
            self.uncertain += 1
            if self.block(case.body, env):
                ends.append(env.names)
            self.uncertain -= 1
        self.ctx = before
        env.names = ends[0]
        for other in ends[1:]:
            env.names = _merged(env.names, other, test.all_why, names)
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

    def _s_Import(self, node: ast.Import, env: Env) -> bool:
        for alias in node.names:
            value = self.imported(alias.name, alias, env)
            if alias.asname or value.open:
                env.put(alias.asname or alias.name.split(".")[0], value)
            elif any(isinstance(o, Module) for o in value.options) and "." not in alias.name:
                env.put(alias.name, value)
            else:
                env.put(alias.name.split(".")[0], known(Ref(alias.name.split(".")[0])))
        return True

    def _s_ImportFrom(self, node: ast.ImportFrom, env: Env) -> bool:
        base = "." * node.level + (node.module or "")
        module = self.imported(base, node, env) if node.module else UNKNOWN
        for alias in node.names:
            if not node.module:
                value = self.imported(base + alias.name, alias, env)
            elif alias.name == "*":
                for option in module.options:
                    if isinstance(option, Module):
                        env.names.update({k: v for k, v in option.env.names.items() if not k.startswith("__")})
                continue
            else:
                own = self.setup.find(f"{base}.{alias.name}", env.module) if module.options else None
                value = known(Module(self.load(own))) if own else self.attribute(module, alias.name, alias, env)
            env.put(alias.asname or alias.name, value)
        return True

    def imported(self, name: str, node: ast.AST, env: Env) -> Value:
        """What an import means: a module of the verifier's own, a library, or the agent's work."""
        own = self.setup.find(name, env.module)
        if own is not None and own is not env.module:
            return known(Module(self.load(own)))
        root = name.lstrip(".").split(".")[0]
        if root not in LIBRARIES and (self.setup.agents(root) or (self.foreign and self.setup.strangers(root))):
            return self.agent_module(name, node, env)
        return known(Ref(name))

    def agent_module(self, name: str, node: ast.AST, env: Env) -> Value:
        """A module that the agent wrote, loaded into the verifier's process."""
        span = env.module.span(node)
        self.note("loads", node, env)
        bit = self.facts.add(Source("import", name, span), produced=True) | self.facts.add(Name(name, "module", span))
        self.fail(node, env, "implicit", "ImportError", Value(data=bit))
        return Value((), True, bit, 0, "agent")


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


def _merged(a: dict[str, Value], b: dict[str, Value], why: int, before: dict[str, Value]) -> dict[str, Value]:
    """Names after two ways met; what differs depends on the test that chose the way."""
    out: dict[str, Value] = {}
    for name in {**a, **b}:
        if name in a and name in b:
            same = a[name] is b[name]
            out[name] = a[name] if same else join([a[name], b[name]]).since(0, why)
        else:
            out[name] = (a.get(name) or b[name]).since(0, why)
    return out


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

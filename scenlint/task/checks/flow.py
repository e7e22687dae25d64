"""Follows a verifier's program without running it: modules loaded, calls entered, attributes and imports resolved."""
# ruff: noqa: N802 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from scenlint.source.python import PyModule
from scenlint.source.pyvalue import UNKNOWN, Map, Ref, Seq, Value, join, known, unknown
from scenlint.task.checks import library
from scenlint.task.checks.facts import Place, Source
from scenlint.task.checks.follower import ExhaustedError
from scenlint.task.checks.model import Name
from scenlint.task.checks.program import LIBRARIES, Setup
from scenlint.task.checks.scope import Class, Env, Frame, Func, Instance, Module
from scenlint.task.checks.statements import Statements

DEPTH = 14  # calls entered inside each other


class Flow(Statements):
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
        except (ExhaustedError, RecursionError):
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
            if isinstance(statement, ast.AnnAssign) and statement.value and ast.unparse(statement.target) == name:
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
                out.append(library.constant(f"{option.name}.{name}"))
            else:
                out.append(library.field(self, replace(value, options=(option,), open=False), name, node, env))
        if value.open or not out:
            out.append(library.field(self, replace(value, options=(), open=True), name, node, env))
        return join(out)

    # -- imports
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

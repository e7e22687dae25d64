"""Which environment variables a Python program reads, and whether it can do without them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from scenlint.source.literals import literals, target
from scenlint.source.python import Function, PyModule, walk
from scenlint.source.text import Span

_GETTERS = ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault")


@dataclass(frozen=True)
class EnvRead:
    """One read of one variable. `node` is the expression that has its value; `span` is where the name is written."""

    name: str
    span: Span
    node: ast.expr
    fallback: bool  # the program goes on with something else where the variable is not set
    empty: bool = False  # the default is an empty text


@dataclass
class EnvReads:
    """All reads of a program; `open` where it also reads variables whose names are not known."""

    reads: list[EnvRead] = field(default_factory=list)
    open: bool = False
    helpers: set[str] = field(default_factory=set)  # functions that are handed the name


def env_reads(module: PyModule) -> EnvReads:
    """The reads in a program, in source order; those through a function of its own count where it is called."""
    return module.fragment.memo("environ", lambda: _Finder(module).find())


@dataclass(frozen=True)
class _Access:
    """`os.environ[key]`, `os.getenv(key)` and the like, before the key is resolved."""

    node: ast.expr
    key: ast.expr
    default: ast.expr | None
    tested: bool = False  # `key in os.environ`


class _Finder:
    def __init__(self, module: PyModule) -> None:
        self.module = module
        self.out = EnvReads()
        self.nodes = module.nodes
        self.known = literals(module)
        self.aliases: set[str] = set()
        self.aliases = {n for n, values in self.known.assigned.items() if any(self._is_environ(v) for v in values)}

    def find(self) -> EnvReads:
        for access in list(self._accesses()):
            parameter = self._parameter(access.key)
            if parameter is not None:
                self._through(access, *parameter)
                continue
            names = self.known.texts(access.key)
            if names is None:
                self.out.open = True
            for name, place in names or ():
                self._add(name, place, access, access.node, access.default)
        self.out.reads.sort(key=lambda r: r.span.start)
        return self.out

    def _accesses(self) -> Iterator[_Access]:
        for node in self.nodes:
            if isinstance(node, ast.Subscript) and self._is_environ(node.value) and isinstance(node.ctx, ast.Load):
                yield _Access(node, node.slice, None)
            elif isinstance(node, ast.Call) and node.args:
                method = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop", "setdefault")
                if self.module.dotted(node.func) in _GETTERS or (
                    method and isinstance(node.func, ast.Attribute) and self._is_environ(node.func.value)
                ):
                    default = next((k.value for k in node.keywords if k.arg == "default"), None)
                    yield _Access(node, node.args[0], node.args[1] if len(node.args) > 1 else default)
            elif (
                isinstance(node, ast.Compare)
                and isinstance(node.ops[0], ast.In | ast.NotIn)
                and self._is_environ(node.comparators[0])
            ):
                yield _Access(node, node.left, None, tested=True)

    def _is_environ(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return True
        if isinstance(node, ast.Call):
            copied = self.module.dotted(node.func)
            return copied == "os.environ.copy" or (
                copied == "dict" and bool(node.args) and self._is_environ(node.args[0])
            )
        return self.module.dotted(node) == "os.environ"

    def _parameter(self, key: ast.expr) -> tuple[Function, int] | None:
        """The function that is handed the name, and at which place."""
        function = self.module.function_of(key)
        if not isinstance(key, ast.Name) or function is None or self.known.loops(key, key.id):
            return None
        names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        return (function, names.index(key.id)) if key.id in names else None

    def _through(self, access: _Access, function: Function, at: int) -> None:
        self.out.helpers.add(function.name)
        parameters = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        for call in self.module.calls(function.name):
            key = call.args[at] if at < len(call.args) else _keyword(call, parameters[at])
            names = self.known.texts(key) if key is not None else None
            default = access.default
            if isinstance(default, ast.Name) and default.id in parameters:
                place = parameters.index(default.id)
                given = call.args[place] if place < len(call.args) else _keyword(call, default.id)
                default = given if given is not None else _declared(function, default.id)
            if names is None:
                self.out.open = True
            for name, span in names or ():
                self._add(name, span, access, call, default)

    def _add(self, name: str, place: ast.expr, access: _Access, node: ast.expr, default: ast.expr | None) -> None:
        literal = isinstance(default, ast.Constant)
        empty = literal and default.value in (None, "")  # type: ignore[union-attr]
        fallback = access.tested or (default is not None and not empty) or self._has_fallback(node, access.node)
        if not fallback and isinstance(access.key, ast.Name) and self.known.loops(access.key, access.key.id):
            # In a loop over candidates a missing one is skipped; only a test for what is missing asks for all.
            fallback = not (isinstance(access.node, ast.Subscript) or self._asked_for(access.node))
        nothing = literal and default.value == ""  # type: ignore[union-attr]
        self.out.reads.append(EnvRead(name, self.module.span(place), node, fallback, empty=nothing))

    def _has_fallback(self, *nodes: ast.expr) -> bool:
        for node in nodes:
            up = self.module.parent(node)
            if isinstance(up, ast.BoolOp) and isinstance(up.op, ast.Or) and up.values[-1] is not node:
                return True
            if isinstance(up, ast.IfExp) and node in (up.test, up.body):
                return True
            if any(
                isinstance(p, ast.Try) and _contains(p.body, node) and _catches(p) for p in self.module.parents(node)
            ):
                return True
            bound = target(up) if up is not None else None
            if bound in self._replaced:
                return True
        return False

    @cached_property
    def _replaced(self) -> set[str]:
        """The names for which something else is put in where they are empty: `x or y`, `if not x: x = y`."""
        out: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and self._is_value(node):
                out |= {v.id for v in node.values[:-1] if isinstance(v, ast.Name)}
            elif isinstance(node, ast.IfExp) and isinstance(node.test, ast.Name):
                out.add(node.test.id)
            elif isinstance(node, ast.If):
                tested = {n.id for n in walk(node.test) if isinstance(n, ast.Name)}
                out |= tested & {target(statement) for statement in node.body}
        return out

    def _is_value(self, node: ast.expr) -> bool:
        """Whether an `or` gives a value rather than a condition."""
        up = self.module.parent(node)
        return not (isinstance(up, ast.If | ast.While | ast.Assert) and up.test is node) and not isinstance(
            up, ast.UnaryOp
        )

    def _asked_for(self, node: ast.expr) -> bool:
        """Whether the program reacts to the variable's absence: `if not os.getenv(name)`, also through a name."""
        up = self.module.parent(node)
        if isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not):
            return True
        bound = target(up) if up is not None else None
        return bound in self._missing

    @cached_property
    def _missing(self) -> set[str]:
        """The names that are asked for with `not`."""
        asked = (n.operand for n in self.nodes if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not))
        return {operand.id for operand in asked if isinstance(operand, ast.Name)}


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _declared(function: Function, name: str) -> ast.expr | None:
    """A parameter's default."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    for parameter, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
        if parameter.arg == name:
            return default
    return None


def _contains(body: list[ast.stmt], node: ast.AST) -> bool:
    return any(n is node for statement in body for n in walk(statement))


def _catches(statement: ast.Try) -> bool:
    """Whether a missing key is caught and the program goes on."""
    for handler in statement.handlers:
        caught = ast.unparse(handler.type) if handler.type else "Exception"
        if re.search(r"\b(KeyError|LookupError|Exception|BaseException)\b", caught):
            return not any(stops(n) for s in handler.body for n in walk(s))
    return False


def stops(node: ast.AST) -> bool:
    """Whether a statement ends the program: `raise`, `sys.exit(…)`, `exit(…)`, `os._exit(…)`."""
    if isinstance(node, ast.Raise):
        return True
    call = node.value if isinstance(node, ast.Expr) else node
    return isinstance(call, ast.Call) and ast.unparse(call.func) in ("sys.exit", "exit", "quit", "os._exit", "os.abort")

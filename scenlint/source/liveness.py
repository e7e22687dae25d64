"""Which parts of a Python program take part in its result; not what nothing calls, nor tests that only stop it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scenlint.source.python import PyModule, walk

Owner = tuple[str, ...]  # the functions and classes around a statement, outermost first
Name = tuple[Owner, str]  # a name, and the scope it belongs to

_PURE_NAMES = {
    "print", "len", "str", "int", "bool", "float", "list", "dict", "set", "tuple", "sorted", "any", "all", "exit",
    "isinstance", "enumerate", "zip", "range", "min", "max", "sum", "repr", "format", "getattr", "frozenset", "quit",
}  # fmt: skip
_PURE_METHODS = {
    "append", "extend", "join", "format", "strip", "lstrip", "rstrip", "upper", "lower", "split", "startswith",
    "endswith", "replace", "get", "items", "keys", "values", "add", "update", "setdefault", "write", "copy", "insert",
}  # fmt: skip
_PURE_CALLS = {"os.getenv", "os.environ.get", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write"}
_DYNAMIC = ("globals", "locals", "eval", "exec", "vars", "setattr")


@dataclass(eq=False)
class _Unit:
    """A statement, or the head of a compound one, with the names it sets."""

    nodes: list[ast.AST]
    owner: Owner
    sets: set[Name] = field(default_factory=set)
    acts: bool = True  # does something besides setting names


def is_live(module: PyModule, pure: frozenset[str] = frozenset()) -> Callable[[ast.AST], bool]:
    """A test for nodes: whether what they compute can reach the program's result.

    `pure` names functions of the program that do no more than look something up.
    """
    live = module.fragment.memo(("live", pure), lambda: _Liveness(module, pure).find())
    return lambda node: id(node) in live


def is_dynamic(module: PyModule) -> bool:
    """Whether the program reaches its names by other ways than writing them."""
    return any(True for _ in module.calls(*_DYNAMIC))


class _Liveness:
    def __init__(self, module: PyModule, pure: frozenset[str]) -> None:
        self.module = module
        self.pure = pure
        self.locals: dict[Owner, set[str]] = {}

    def find(self) -> set[int]:
        units = list(self._split(self.module.tree.body, ()))
        everything = is_dynamic(self.module)
        wanted: set[Name] = set()
        methods: set[str] = set()
        waiting = units
        out: set[int] = set()
        while True:
            left, before = [], (len(wanted), len(methods), len(out))
            for unit in waiting:
                if not everything and not (
                    self._started(unit.owner, wanted, methods) and (unit.acts or unit.sets & wanted)
                ):
                    left.append(unit)
                    continue
                for node in (n for root in unit.nodes for n in walk(root)):
                    out.add(id(node))
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        wanted.add(self._resolve(unit.owner, node.id))
                    elif isinstance(node, ast.Attribute):
                        methods.add(node.attr)
            waiting = left
            if before == (len(wanted), len(methods), len(out)):
                return out

    def _started(self, owner: Owner, wanted: set[Name], methods: set[str]) -> bool:
        """Whether every function around a statement is called, or may be by whoever runs the program."""
        return all(
            self._resolve(owner[:n], name) in wanted or name.startswith(("test", "__")) or (n > 0 and name in methods)
            for n, name in enumerate(owner)
        )

    def _resolve(self, owner: Owner, name: str) -> Name:
        scope = next((owner[:n] for n in range(len(owner), 0, -1) if name in self.locals.get(owner[:n], ())), ())
        return scope, name

    def _split(self, body: list[ast.stmt], owner: Owner) -> Iterator[_Unit]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from self._definition(node, owner)
            elif isinstance(node, ast.Return | ast.Assert | ast.Delete):
                yield _Unit([node], owner)
            elif self._acts(node):
                yield from self._compound(node, owner) if hasattr(node, "body") else [_Unit([node], owner)]
            else:
                yield _Unit([node], owner, {self._resolve(owner, name) for name in _sets(node)}, acts=False)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, owner: Owner) -> Iterator[_Unit]:
        inner = (*owner, node.name)
        self.locals.setdefault(owner, set()).update([node.name] if owner else [])
        if node.decorator_list:  # a decorator may register it
            yield _Unit([*node.decorator_list, ast.Name(node.name, ast.Load())], owner)
        if isinstance(node, ast.ClassDef):
            yield _Unit([*node.bases, *node.keywords], inner)
        else:
            outer = {n for s in walk(node) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
            stored = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            given = {a.arg for a in walk(node.args) if isinstance(a, ast.arg)}
            self.locals[inner] = (stored | given) - outer
            yield _Unit([node.args], inner)
        yield from self._split(node.body, inner)

    def _compound(self, node: ast.stmt, owner: Owner) -> Iterator[_Unit]:
        heads: list[ast.AST] = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.withitem)]
        yield _Unit(heads, owner)
        for name in ("body", "orelse", "finalbody"):
            yield from self._split(getattr(node, name, []), owner)
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            yield from self._split(part.body, owner)

    def _acts(self, node: ast.stmt) -> bool:
        """Whether a statement calls anything that may do more than compute, or changes an object."""
        return any(
            isinstance(n, ast.Await | ast.Yield | ast.YieldFrom)
            or (isinstance(n, ast.Call) and not self._is_pure(n.func))
            or (isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
            for n in walk(node)
        )

    def _is_pure(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name):
            return function.id in _PURE_NAMES or function.id in self.pure
        name = self.module.dotted(function)
        if name in _PURE_CALLS or name.startswith(("os.path.", "pathlib.")):
            return True
        foreign = name.split(".")[0] in self.module.imports.values()
        return isinstance(function, ast.Attribute) and function.attr in _PURE_METHODS and not foreign


def _sets(node: ast.stmt) -> set[str]:
    """The names that a statement sets or adds to."""
    out: set[str] = set()
    for n in walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            out.add(n.id)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name):
            out.add(n.func.value.id)
        elif isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store):
            out |= {part.id for part in walk(n.value) if isinstance(part, ast.Name)}
    return out

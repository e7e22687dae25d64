"""The most that a count or a score in a verifier's code can come to, as far as the code and its own data show."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from scenlint.source.json_reader import loads
from scenlint.source.literals import literals, number_of
from scenlint.source.python import PyModule, walk
from scenlint.task.demands.base import Ground
from scenlint.task.model import Task

_SAME_SIZE = frozenset(["set", "list", "tuple", "sorted", "frozenset", "enumerate", "reversed", "iter", "dict"])
_VIEWS = frozenset(["items", "keys", "values", "copy", "difference"])
_GROWS = frozenset(["append", "add", "extend", "insert", "update", "setdefault", "appendleft"])
_DEEPEST = 12


@dataclass(eq=False)
class UpperBounds:
    """Answers for one module. None: not known."""

    task: Task
    module: PyModule
    _depth: int = field(default=0, repr=False)

    # How many things something holds at most.
    def size(self, node: ast.AST) -> float | None:
        self._depth += 1
        try:
            return None if self._depth > _DEEPEST else self._size(node)
        finally:
            self._depth -= 1

    def _size(self, node: ast.AST) -> float | None:
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return None if any(isinstance(e, ast.Starred) for e in node.elts) else len(node.elts)
        if isinstance(node, ast.Dict):
            return None if None in node.keys else len(node.keys)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return _product([self.size(g.iter) for g in node.generators])
        if isinstance(node, ast.BinOp):
            left, right = self.size(node.left), self.size(node.right)
            if isinstance(node.op, ast.BitAnd):
                return min((s for s in (left, right) if s is not None), default=None)
            if isinstance(node.op, ast.Sub):
                return left
            return left + right if isinstance(node.op, ast.BitOr | ast.Add) and None not in (left, right) else None  # type: ignore[operator]
        if isinstance(node, ast.Call):
            return self._size_of_call(node)
        if isinstance(node, ast.Name):
            values = literals(self.module).assigned.get(node.id, [])
            sizes = [self.size(v) for v in values]
            return max(sizes) if sizes and None not in sizes and node.id not in self._unsure else None  # type: ignore[type-var]
        return None

    def _size_of_call(self, call: ast.Call) -> float | None:
        name = _last(call.func)
        if isinstance(call.func, ast.Name):
            if name == "range" and call.args and not call.keywords:
                bounds = [self.exact(a) for a in call.args]
                whole = [int(b) for b in bounds if b is not None and float(b).is_integer()]
                return len(range(*whole)) if len(whole) == len(bounds) and whole[2:] != [0] else None
            if name in _SAME_SIZE:
                return (
                    self.size(call.args[0])
                    if len(call.args) == 1
                    else 0
                    if not call.args and not call.keywords
                    else None
                )
            if name in ("zip", "filter"):
                return min((s for a in call.args if (s := self.size(a)) is not None), default=None)
        if isinstance(call.func, ast.Attribute):
            own = self.size(call.func.value)
            if name in _VIEWS:
                return own
            if name == "intersection":
                return min((s for s in (own, *(self.size(a) for a in call.args)) if s is not None), default=None)
        if name in ("splitlines", "readlines"):
            return self._lines_of_input(call)
        return self._size_of_file(call) if name in ("load", "loads") else None

    def _lines_of_input(self, call: ast.Call) -> float | None:
        """The lines of a file that the agent is given and that the solution leaves as it is."""
        texts = [t for n in walk(call) if isinstance(n, ast.expr) for t, _ in literals(self.module).texts(n) or ()]
        paths = {t for t in texts if t.startswith("/")}
        given = self.task.visible.exists(paths.pop()) if len(paths) == 1 else None
        if given is None or given.file is None or Ground(self.task).creates(PurePosixPath(given.file).name):
            return None
        source = self.task.files.read(given.file)
        return (
            len(source.text.splitlines()) if source is not None and not source.binary and not source.truncated else None
        )

    def _size_of_file(self, call: ast.Call) -> float | None:
        """The entries of a JSON file of the verifier's own."""
        verifier = self.task.verifier
        names = {
            PurePosixPath(n.value).name for n in walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
        own = [p for p in verifier.truth if PurePosixPath(p).name in names and p.endswith(".json")] if verifier else []
        source = self.task.files.read(own[0]) if len(own) == 1 else None
        try:
            found = loads(source.text) if source is not None else None
        except ValueError:
            return None
        return len(found) if isinstance(found, list | dict) else None

    @cached_property
    def _unsure(self) -> frozenset[str]:
        """The names whose value does not come from assignments alone, or whose content is added to."""
        out: set[str] = set()
        for node in self.module.nodes:
            if isinstance(node, ast.For | ast.comprehension):
                out |= {_last(n) for n in walk(node.target)}
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                out |= {_last(n) for n in walk(node.optional_vars)}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
                out.add(_last(node.func.value))
            elif isinstance(node, ast.AugAssign):
                out.add(_last(node.target))
            elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                out.add(_last(node.value))
            elif isinstance(node, ast.arg):
                out.add(node.arg)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                out |= set(node.names)
        return frozenset(out)

    # How large a number is at most.
    def number(self, node: ast.AST) -> float | None:
        self._depth += 1
        try:
            return None if self._depth > _DEEPEST else self._number(node)
        finally:
            self._depth -= 1

    def _number(self, node: ast.AST) -> float | None:
        if isinstance(node, ast.Constant):
            return number_of(node.value)
        if isinstance(node, ast.Call):
            return self._number_of_call(node)
        if isinstance(node, ast.BinOp):
            return self._of_two(node)
        if isinstance(node, ast.Name):
            return self._counted(node)
        return None

    def _number_of_call(self, call: ast.Call) -> float | None:
        name = _last(call.func)
        if not call.args or not isinstance(call.func, ast.Name):
            return None
        if name == "len":
            return self.size(call.args[0])
        if name == "sum" and isinstance(call.args[0], ast.GeneratorExp | ast.ListComp) and _is_one(call.args[0].elt):
            return self.size(call.args[0])
        if name in ("round", "int", "float"):
            return None if name == "round" and len(call.args) == 1 else self.number(call.args[0])
        if name == "min" and len(call.args) > 1:
            return min((n for a in call.args if (n := self.number(a)) is not None), default=None)
        return None

    def _of_two(self, node: ast.BinOp) -> float | None:
        left = self.number(node.left)
        if isinstance(node.op, ast.Div):
            if self._is_share(node.left, node.right):
                return 1.0
            below = self.exact(node.right)
            return left / below if left is not None and below and below > 0 else None
        right = self.number(node.right)
        if left is None or right is None or left < 0 or right < 0:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else None

    def _is_share(self, part: ast.expr, whole: ast.expr) -> bool:
        """`hits / len(rows)` where the hits were counted among the same rows."""
        if not (
            isinstance(whole, ast.Call)
            and _last(whole.func) == "len"
            and whole.args
            and isinstance(whole.args[0], ast.Name)
        ):
            return False
        for value in [part, *(literals(self.module).assigned.get(part.id, []) if isinstance(part, ast.Name) else [])]:
            if isinstance(value, ast.Call) and _last(value.func) in ("sum", "len") and value.args:
                inner = value.args[0]
                counted = _last(value.func) == "len" or (
                    isinstance(inner, ast.GeneratorExp | ast.ListComp) and _is_one(inner.elt)
                )
                if counted and isinstance(inner, ast.GeneratorExp | ast.ListComp) and len(inner.generators) == 1:
                    return ast.dump(inner.generators[0].iter) == ast.dump(whole.args[0])
        return False

    def _counted(self, node: ast.Name) -> float | None:
        """A counter that starts at a constant and is only raised by constants, in loops of known sizes if in any."""
        function = self.module.function_of(node)
        scope = function or self.module.tree
        if function is not None and node.id in {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}:
            return None
        stores = [
            n for n in walk(scope) if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
        ]
        values: list[float] = []
        raised = 0.0
        for store in stores or self._module_stores(node.id):
            up = self.module.parent(store)
            if isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add):
                step = self.number(up.value) if not isinstance(up.value, ast.Compare) else 1.0
                times = self._times(up, scope)
                if step is None or times is None:
                    return None
                raised += max(step, 0.0) * times
            elif (
                isinstance(up, ast.Assign | ast.AnnAssign)
                and up.value is not None
                and store in (*getattr(up, "targets", ()), getattr(up, "target", None))
            ):
                value = self.number(up.value)
                if value is None:
                    return None
                values.append(value)
            else:
                return None
        return max(values) + raised if values else None

    def _module_stores(self, name: str) -> list[ast.Name]:
        stores = (n for n in self.module.of(ast.Name) if n.id == name and isinstance(n.ctx, ast.Store))
        return [n for n in stores if self.module.function_of(n) is None]

    def _times(self, node: ast.AST, scope: ast.AST) -> float | None:
        """How often a statement runs at most."""
        sizes: list[float | None] = []
        for up in self.module.parents(node):
            if up is scope:
                break
            if isinstance(up, ast.While | ast.AsyncFor | ast.FunctionDef):
                return None
            if isinstance(up, ast.For):
                sizes.append(self.size(up.iter))
        return _product(sizes)

    def exact(self, node: ast.AST) -> float | None:
        """A number that is written out, by itself or by a name that is set once; `len` of a literal."""
        if isinstance(node, ast.Name):
            values = literals(self.module).assigned.get(node.id, [])
            once = len(values) == 1 and node.id not in self._unsure
            return self.exact(values[0]) if once and not isinstance(values[0], ast.Name) else None
        if isinstance(node, ast.Call) and _last(node.func) == "len" and node.args:
            held = node.args[0]
            values = literals(self.module).assigned.get(held.id, []) if isinstance(held, ast.Name) else [held]
            if len(values) == 1 and isinstance(values[0], ast.List | ast.Tuple | ast.Dict):
                return self.size(held)
            return None
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            return None
        number = number_of(value)
        return number if number is not None and math.isfinite(number) else None


def _is_one(node: ast.expr) -> bool:
    """Whether an expression adds one at most: a test, or 1."""
    if isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return True
    if isinstance(node, ast.IfExp):
        return _is_one(node.body) and _is_one(node.orelse)
    return isinstance(node, ast.Constant) and node.value in (0, 1, True, False)


def _product(sizes: list[float | None]) -> float | None:
    out = 1.0
    for size in sizes:
        if size is None:
            return None
        out *= size
    return out


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

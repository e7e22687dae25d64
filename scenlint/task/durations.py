"""Durations that a verifier measures by itself, and the fixed upper limits that they are held against."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.python import Function, PyModule, parse, walk
from scenlint.source.text import Span
from scenlint.task.model import Task
from scenlint.task.precision import number
from scenlint.task.stance import Stance, stance

WIDE = 5.0  # seconds; a limit from there on only catches what hangs
_WIDEST = 60.0  # seconds; the same where the brief asks for the time itself
_CLOCKS = frozenset(
    f"time.{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")
) | {"timeit.timeit", "timeit.repeat", "timeit.default_timer", "datetime.datetime.now", "datetime.datetime.utcnow"}
_COLLECTS = frozenset(["append", "add", "extend", "insert"])
_FLIP: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}


@dataclass(frozen=True)
class TimeLimit:
    """A comparison that fails the check where a measured time is above `seconds`."""

    span: Span
    seconds: float
    measured: Span


def short_limits(task: Task) -> Iterator[TimeLimit]:
    """The narrow limits. Waits in loops, and times that are held against another measured time, are none."""
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = parse(fragment)
        if any(True for _ in module.calls(*_CLOCKS)):
            clocks = _Clocks(module)
            for node in module.nodes:
                if isinstance(node, ast.Compare) and len(node.ops) == 1:
                    for limit in clocks.limits(node):
                        if limit.seconds < WIDE or (limit.seconds < _WIDEST and _asked_for(task, limit.seconds)):
                            yield limit


def _asked_for(task: Task, seconds: float) -> bool:
    """Whether a brief names the time: then work is expected to come near it."""
    units = (
        (f"{seconds:g}", r"(?:\.0)?[- ]?(?:s|secs?|seconds?)"),
        (f"{seconds * 1000:g}", r"[- ]?(?:ms|milliseconds?)"),
    )
    written = "|".join(rf"(?<![\w.]){re.escape(number)}{unit}\b" for number, unit in units)
    return any(re.search(written, brief.prose.text, re.IGNORECASE) for brief in task.briefs)


class _Clocks:
    """What in a module holds a point in time, and what holds a duration, by the names that they are given."""

    def __init__(self, module: PyModule) -> None:
        self.module = module
        self.times: set[tuple[Function | None, str]] = set()
        self.durations: dict[tuple[Function | None, str], ast.AST] = {}
        self.timers: dict[str, ast.AST] = {}  # functions that return a duration
        for _ in range(4):
            before = len(self.times) + len(self.durations) + len(self.timers)
            for node in module.nodes:
                self._learn(node)
            if before == len(self.times) + len(self.durations) + len(self.timers):
                break

    def _learn(self, node: ast.AST) -> None:
        scope = self.module.function_of(node)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n for t in targets for n in walk(t) if isinstance(n, ast.Name)):
                if taken := self.duration(node.value):
                    self.durations.setdefault((scope, name.id), taken)
                elif self._is_time(node.value):
                    self.times.add((scope, name.id))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COLLECTS:
            if isinstance(node.func.value, ast.Name) and node.args and (taken := self.duration(node.args[-1])):
                self.durations.setdefault((scope, node.func.value.id), taken)
        elif isinstance(node, ast.Return) and node.value is not None and scope is not None:
            value = node.value.elts[-1] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
            if taken := self.duration(value):
                self.timers.setdefault(scope.name, taken)

    def _is_time(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self.module.dotted(node.func) in _CLOCKS
        return isinstance(node, ast.Name) and (self.module.function_of(node), node.id) in self.times

    def duration(self, node: ast.AST) -> ast.AST | None:
        """Where the time was taken that an expression holds; None for anything else, and for a ratio of two."""
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Sub) and self._is_time(node.left) and self._is_time(node.right):
                return node
            left, right = self.duration(node.left), self.duration(node.right)
            return None if left and right and not isinstance(node.op, ast.Add) else left or right
        if isinstance(node, ast.Name):
            return self.durations.get((self.module.function_of(node), node.id))
        if isinstance(node, ast.Call):
            name = self.module.dotted(node.func)
            if name in self.timers:
                return self.timers[name]
            if name.startswith("timeit."):
                return node
            if isinstance(node.func, ast.Attribute) and node.func.attr == "total_seconds":
                return self.duration(node.func.value)
            if name.rpartition(".")[2] in (
                "max",
                "mean",
                "sum",
                "median",
                "float",
                "round",
                "abs",
                "sorted",
                "percentile",
                "min",
            ):
                return next((d for a in node.args if (d := self.duration(a))), None)
        if isinstance(node, ast.Subscript):
            return self.duration(node.value)
        return None

    def limits(self, node: ast.Compare) -> Iterator[TimeLimit]:
        left, right, op = node.left, node.comparators[0], type(node.ops[0])
        if op not in _FLIP:
            return
        if self.duration(right):
            left, right, op = right, left, _FLIP[op]
        taken, limit = self.duration(left), number(self.module, right)
        if taken is None or limit is None or self.duration(right):
            return
        wanted = stance(self.module, node)
        below = wanted is Stance.WANTED if op in (ast.Lt, ast.LtE) else wanted is Stance.UNWANTED
        seconds = limit / self._scale(left, taken)
        if below and seconds > 0 and not self._waits(node):
            yield TimeLimit(self.module.span(node), seconds, self.module.span(taken))

    def _scale(self, node: ast.AST, taken: ast.AST) -> float:
        """What one second is in the unit that is compared: 1000 for milliseconds."""
        scale = 1.0
        around = [p for p in (taken, *self.module.parents(taken)) if isinstance(p, ast.BinOp)]
        for part in [*around, *(n for n in walk(node) if isinstance(n, ast.BinOp))]:
            factor = number(self.module, part.right)
            if factor is not None and factor >= 1000:
                scale *= factor if isinstance(part.op, ast.Mult) else 1 / factor if isinstance(part.op, ast.Div) else 1
        clock = next((self.module.dotted(n.func) for n in walk(taken) if isinstance(n, ast.Call)), "")
        return scale * (1e9 if clock.endswith("_ns") else 1)

    def _waits(self, node: ast.AST) -> bool:
        """Whether the comparison stands in a loop that waits for something."""
        for up in self.module.parents(node):
            if isinstance(up, ast.While):
                return True
            if isinstance(up, ast.For) and any(
                isinstance(n, ast.Call) and self.module.dotted(n.func).endswith("sleep") for n in walk(up)
            ):
                return True
            if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef):
                return False
        return False

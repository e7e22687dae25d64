"""A DeepGym judge: which shape the harness takes its file for, and what it hands back as a verdict."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from scenlint.source.python import PyModule, walk
from scenlint.source.pyvalue import HOLE, Map, PathText, constants
from scenlint.source.pyvalue import Value as PyValue
from scenlint.task.checks.facts import Place
from scenlint.task.checks.scope import Func
from scenlint.task.model import Contract
from scenlint.task.verdict_flow.programs import Program, programs

if TYPE_CHECKING:
    from scenlint.task.model import Task

SCRIPT, FUNCTION, BODY = "script", "verify_function", "body"


@dataclass
class Judge:
    """`results` are the values returned as verdicts; of a script they are none, it prints (`program.prints`)."""

    program: Program
    shape: str
    declared: bool  # metadata name the shape
    results: list[tuple[PyValue, Place]] = field(default_factory=list)
    falls: bool = False  # verify can come to its end without a return

    @property
    def module(self) -> PyModule:
        return self.program.entry.module

    @property
    def verify(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that the harness calls, or an async one that it does not see."""
        return next((n for n in self.module.tree.body if _is_verify(n)), None)  # type: ignore[return-value]

    @property
    def constant(self) -> Place | None:
        """Where the one verdict is returned that every solution gets which does not crash."""
        failures = [f for f in self.program.failures if f.kind != "implicit"]
        if not self.program.complete or not self.results or self.falls or failures:
            return None
        verdicts = {_fixed(value) for value, _ in self.results}
        return self.results[-1][1] if len(verdicts) == 1 and None not in verdicts else None


def _fixed(value: PyValue) -> object:
    """A verdict that is wholly known: its score and whether it passes; None where a run decides."""
    if value.open or len(value.options) != 1:
        return None
    option = value.options[0]
    if not isinstance(option, Map):
        return ("score", option) if isinstance(option, int | float) else None
    members = [option.items.get(name) for name in ("score", "passed")]
    known = [constants(m)[0] for m in members if m is not None and not m.open and len(constants(m)) == 1]
    return tuple(known) if len(known) == 2 else None


def _is_verify(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "verify"


def shape_of(tree: ast.Module) -> str:
    """How DeepGym reads a judge's file: by the top level of its syntax tree."""
    body = tree.body
    if any(isinstance(node, ast.If) and is_main_guard(node.test) for node in body):
        return SCRIPT
    if any(isinstance(node, ast.Return) for node in body):
        return BODY
    if any(isinstance(node, ast.FunctionDef) and node.name == "verify" for node in body):
        return FUNCTION
    return BODY


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, the only form that DeepGym knows."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
    )


def judges(task: Task) -> Iterator[Judge]:
    """The task's judges whose file can be parsed."""
    if task.verifier is None or task.verifier.contract is not Contract.JSON_LINE:
        return
    metadata = task.metadata.data if task.metadata else None
    stated = metadata.get("verifier_mode") if metadata else None
    declared = stated in (SCRIPT, FUNCTION, BODY)
    for program in programs(task):
        module = program.entry.module
        if program.entry.kind == "judge" and module.fault is None:
            shape = str(stated) if declared else shape_of(module.tree)
            yield module.fragment.memo(("judge", shape), partial(_judge, program, shape, declared))


def _judge(program: Program, shape: str, declared: bool) -> Judge:
    judge = Judge(program, shape, declared)
    flow, module = program.flow, judge.module
    env = flow.modules.get(module)
    if env is None or not program.complete:
        return judge
    if shape == BODY:
        for node in module.tree.body:
            for at in walk(node):
                if isinstance(at, ast.Return) and module.function_of(at) is None and at.value is not None:
                    flow.run(lambda n=at: judge.results.append((flow.eval(n.value, env), Place(module, n))))
    elif shape == FUNCTION and isinstance(judge.verify, ast.FunctionDef):
        verify, before = judge.verify, len(flow.returns)
        solution = PyValue((PathText(f"/solution/{HOLE}"),), False)
        got: list[PyValue] = []
        flow.run(lambda: got.append(flow.enter(Func(verify, env), [solution], {}, verify, env)))
        if program.complete:
            found = flow.returns[before:]
            judge.results = [(value, place) for func, value, place, _, _ in found if func.node is verify]
            stated = {id(place.node) for _, place in judge.results}
            explicit = any(isinstance(n, ast.Return) and n.value is None for n in walk(verify) if id(n) in stated)
            judge.falls = not explicit and any(None in v.options for v in got) and not _returns_none(judge)
    return judge


def _returns_none(judge: Judge) -> bool:
    return any(None in value.options for value, _ in judge.results)

"""Mutants of Python code that was handed in: values returned, conditions, statements, constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath
from random import Random

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.model import Label, Mutant, Result

_BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_DULL = frozenset({"print", "log", "debug", "info", "warning", "close", "flush", "sleep", "makedirs", "mkdir"})
_EACH = 4  # of each operator


def code(result: Result, form: Form, random: Random) -> Iterator[Mutant]:
    """The mutants of a Python file. Conditions at their boundary and constants are open, as many change nothing; those
    at a threshold that the brief states must die, and so must a `print` where the brief speaks of printing.
    """
    text = result.text
    if text is None or PurePosixPath(result.path).suffix != ".py":
        return
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    made = _Code(result.path, text, form, _limits(module))
    nodes = [n for n in ast.walk(module) if hasattr(n, "lineno")]
    for operator in (_returns, _conditions, _statements, _boundaries, _constants):
        found = [mutant for node in nodes for mutant in operator(made, node)]
        yield from random.sample(found, min(_EACH, len(found)))


class _Code:
    def __init__(self, path: str, text: str, form: Form, limits: set[int]) -> None:
        self.path, self.text, self.form, self.limits = path, text, form, limits
        self._starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def mutant(self, operator: str, node: ast.AST, new: str, label: Label, reason: str) -> Mutant:
        """The text with another one in the place of a node; ast counts columns in UTF-8 bytes."""
        raw = self.text.encode()
        start = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        old = " ".join(raw[start:end].decode().split())
        did = f"line {node.lineno}: `{old if len(old) < 60 else old[:59] + '…'}` became `{new}`"  # type: ignore[attr-defined]
        return Mutant(operator, self.path, raw[:start] + new.encode() + raw[end:], did, label, reason)


def _returns(made: _Code, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield made.mutant("return-nothing", node, "return None", Label.DIE, "what is asked for is not returned")


def _conditions(made: _Code, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.If) and not _is_main(node.test):
        old = ast.unparse(node.test)
        yield made.mutant("negate-condition", node.test, f"not ({old})", Label.DIE, "the branches are swapped")


def _statements(made: _Code, node: ast.AST) -> Iterator[Mutant]:
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if call is not None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in _DULL or (name == "print" and made.form.prints):
            yield made.mutant("drop-statement", node, "pass", Label.DIE, "a step of the work is left out")
    elif isinstance(node, ast.AugAssign):
        yield made.mutant("drop-statement", node, "pass", Label.DIE, "a step of the work is left out")


def _boundaries(made: _Code, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (new := _BOUNDARY.get(type(node.ops[0]))):
        text = f"{ast.unparse(node.left)} {new} {ast.unparse(node.comparators[0])}"
        said = made.form.threshold(node.comparators[0].value) if isinstance(node.comparators[0], ast.Constant) else None
        why = str(said or "whether the boundary is ever met depends on the input")
        yield made.mutant("boundary", node, text, Label.DIE if said else Label.OPEN, why)


def _constants(made: _Code, node: ast.AST) -> Iterator[Mutant]:
    """A number of the brief's is its threshold where it is compared; elsewhere the same number may be another one."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        said = made.form.threshold(node.value) if id(node) in made.limits else None
        why = str(said or "whether the constant matters depends on the input")
        label = Label.DIE if said else Label.OPEN
        yield made.mutant("constant-plus-one", node, repr(node.value + 1), label, why)  # type: ignore[operator]


def _limits(module: ast.Module) -> set[int]:
    """Nodes with which something is compared at a boundary."""
    compared = (n for n in ast.walk(module) if isinstance(n, ast.Compare) and type(n.ops[0]) in _BOUNDARY)
    return {id(n.comparators[0]) for n in compared if len(n.ops) == 1}


def _is_main(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test))

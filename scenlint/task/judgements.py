"""The comparisons by which a verifier judges the agent's work, each once: where it stands and what it wants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from scenlint.source.python import PyModule
from scenlint.source.text import Span
from scenlint.task.checks.model import Check, Comparison, Dialect
from scenlint.task.demands.base import Ground
from scenlint.task.model import Task
from scenlint.task.shell_stance import shell_stance
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible


@dataclass(frozen=True)
class Judgement:
    """One comparison and all constants that it was seen to be made with; `module` and `node` are None in shell."""

    check: Check
    comparison: Comparison
    visible: Visible  # what the agent could read when this was asked
    stance: Stance
    module: PyModule | None = None
    node: ast.AST | None = None
    constants: list[Any] = field(default_factory=list)

    @property
    def span(self) -> Span:
        return self.comparison.span

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the compared text may come from; in shell, those that the command is given."""
        return self.comparison.paths or (tuple(a.path for a in self.check.accesses) if self.node is None else ())

    @property
    def wanted(self) -> bool:
        """Whether the check fails where the two are not equal, not in order or not found."""
        return self.stance is (Stance.UNWANTED if self._inverse else Stance.WANTED)

    @property
    def unwanted(self) -> bool:
        return self.stance is (Stance.WANTED if self._inverse else Stance.UNWANTED)

    @property
    def _inverse(self) -> bool:
        if self.comparison.operator == "==" and isinstance(self.node, ast.Compare):
            return self.comparison.tolerance is not None and _apart(self.node)
        return self.comparison.operator in ("!=", "not in", "not matches")


def _apart(node: ast.Compare) -> bool:
    """Whether `abs(a - b) > bound`, which says that the two lie apart."""
    if isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return isinstance(node.ops[0], ast.NotEq)
    return isinstance(node.ops[0], ast.Gt | ast.GtE) is isinstance(node.left, ast.Call)


def judgements(task: Task) -> Iterator[Judgement]:
    """Every comparison of produced data, in the order of the checks; those of checks that cannot fail are left out."""
    ground = Ground(task)
    found: dict[tuple[str, int, int], Judgement] = {}
    for check, visible in ground.checks():
        for comparison in check.comparisons:
            if not comparison.produced:
                continue
            span = comparison.span
            mark = (str(span.source.path), span.start, span.end)
            known = found.get(mark)
            if known is None:
                known = _judgement(task, check, comparison, visible)
                if known is None:
                    continue
                found[mark] = known
            if comparison.has_constant and repr(comparison.constant) not in map(repr, known.constants):
                known.constants.append(comparison.constant)
    yield from found.values()


def is_made(visible: Visible, path: str) -> bool:
    """Whether a path is the agent's to make: it is not there before, not even in another folder."""
    if "*" in path or visible.exists(path) is not None:
        return False
    name = PurePosixPath(path).name
    return name not in visible.image.names


def _judgement(task: Task, check: Check, comparison: Comparison, visible: Visible) -> Judgement | None:
    if check.dialect in (Dialect.COMMAND, Dialect.GRADER) and check.node is None:
        asked = shell_stance(check) if check.dialect is Dialect.COMMAND else Stance.WANTED
        return Judgement(check, comparison, visible, asked)
    place = locate(task, check, comparison.span)
    return None if place is None else Judgement(check, comparison, visible, stance(*place), *place)

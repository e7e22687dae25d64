"""The modules, functions, classes, keyword arguments and options of the agent's programs that a verifier uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scenlint.source.python import PyModule, parse
from scenlint.source.text import Span
from scenlint.task.checks.world import setup
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.model import Task

_LOADING = frozenset("loader exec_module name submodule_search_locations origin run invoke".split())


def names(task: Task) -> Iterator[Demand]:
    """Each name once: what is imported from the agent's modules, asked of them, or given to their functions by name."""
    if task.verifier is None:
        return
    ground = Ground(task)
    seen: set[tuple[str, str]] = set()
    for name, kind, span in [*_followed(ground), *_written(task)]:
        last = name.rpartition(".")[2]
        if (last, kind) in seen or last.startswith("_") or last in _LOADING:
            continue
        seen.add((last, kind))
        if ground.solution is None or ground.solved(last, word=True):
            yield Demand(name, span, ground.visible(span), kind)


def _followed(ground: Ground) -> Iterator[tuple[str, str, Span]]:
    for check, _ in ground.checks():
        for name in check.names:
            yield name.name, name.kind, name.span


def _written(task: Task) -> Iterator[tuple[str, str, Span]]:
    """The names in the verifier's other programs: a driver that it starts as a process of its own."""
    assert task.verifier is not None
    agents = setup(task, task.verifier).agents
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        bound = {}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level and agents(node.module.split(".")[0]):
                for alias in node.names:
                    bound[alias.asname or alias.name] = alias.name
                    yield alias.name, "attribute", module.span(alias)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if agents(alias.name.split(".")[0]):
                        bound[alias.asname or alias.name.split(".")[0]] = alias.name
        yield from _used(module, bound)


def _used(module: PyModule, bound: dict[str, str]) -> Iterator[tuple[str, str, Span]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield node.attr, "attribute", module.span(node)
        if isinstance(node, ast.Call) and _root(node.func) in bound:
            for keyword in node.keywords:
                if keyword.arg:
                    yield keyword.arg, "argument", module.span(keyword)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

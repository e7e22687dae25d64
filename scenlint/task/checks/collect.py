"""What a test runner collects from a module, and what it passes over, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.python import Function, PyModule


@dataclass(frozen=True)
class Item:
    """A test as the runner sees it."""

    function: Function
    cls: ast.ClassDef | None = None

    @property
    def id(self) -> str:
        return f"{self.cls.name}::{self.function.name}" if self.cls else self.function.name


@dataclass(frozen=True)
class Passed:
    """Something that looks like a test and is not collected."""

    node: Function | ast.ClassDef
    reason: str


def is_case(cls: ast.ClassDef, module: PyModule) -> bool:
    """Whether a class is a unittest.TestCase, by its bases in this module."""
    for base in cls.bases:
        name = module.dotted(base).split(".")[-1]
        if name.endswith("TestCase"):
            return True
        if name in module.classes and module.classes[name] is not cls and is_case(module.classes[name], module):
            return True
    return False


def collected(module: PyModule, *, unittest: bool = False) -> Iterator[Item]:
    """The tests that pytest (or unittest) takes from a module."""
    for node in module.functions.values():
        if node.name.startswith("test") and not unittest and not is_fixture(node, module):
            yield Item(node)
    for cls in module.classes.values():
        case = is_case(cls, module)
        if case or (cls.name.startswith("Test") and not unittest and not _constructor(cls) and not _unmarked(cls)):
            yield from (Item(f, cls) for f in _methods(cls, module) if f.name.startswith("test"))


def passed_over(module: PyModule, *, unittest: bool = False) -> Iterator[Passed]:
    """Tests that pytest (or unittest) does not take, although someone wrote them as tests."""
    if unittest:
        yield from _no_cases(module)
        return
    for function in module.functions.values():
        if function.name.startswith("test_") and is_fixture(function, module):
            yield Passed(function, "it is marked as a fixture, which pytest runs for others only")
    for cls in module.classes.values():
        tests = [f for f in _methods(cls, module) if f.name.startswith("test")]
        if not tests or is_case(cls, module) or _unmarked(cls):
            continue
        used = any(isinstance(n, ast.Name) and n.id == cls.name and isinstance(n.ctx, ast.Load) for n in module.nodes)
        if cls.name.startswith("Test") and _constructor(cls) and not used:
            yield Passed(cls, "pytest collects no class that has a constructor")
        elif not cls.name.startswith("Test") and not used:
            yield Passed(cls, "pytest collects classes whose name begins with `Test`")


def _no_cases(module: PyModule) -> Iterator[Passed]:
    used = {n.id for n in module.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    reason = "unittest takes the methods of a `unittest.TestCase` only"
    for function in module.functions.values():
        if function.name.startswith("test_") and function.name not in used and not is_fixture(function, module):
            yield Passed(function, reason)
    for cls in module.classes.values():
        tests = any(f.name.startswith("test") for f in _methods(cls, module))
        if cls.name.startswith("Test") and tests and cls.name not in used and not is_case(cls, module):
            yield Passed(cls, reason)


def is_fixture(function: Function, module: PyModule) -> bool:
    return any(
        module.dotted(d.func if isinstance(d, ast.Call) else d)
        in ("pytest.fixture", "fixture", "pytest_asyncio.fixture")
        for d in function.decorator_list
    )


def _constructor(cls: ast.ClassDef) -> bool:
    return any(isinstance(n, ast.FunctionDef) and n.name in ("__init__", "__new__") for n in cls.body)


def _methods(cls: ast.ClassDef, module: PyModule, depth: int = 4) -> list[Function]:
    found: dict[str, Function] = {}
    for base in cls.bases:
        name = module.dotted(base)
        if depth and name in module.classes and module.classes[name] is not cls:
            found.update({f.name: f for f in _methods(module.classes[name], module, depth - 1)})
    found.update({n.name: n for n in cls.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)})
    return list(found.values())


def _unmarked(node: Function | ast.ClassDef) -> bool:
    """`__test__ = False` in a class."""
    return isinstance(node, ast.ClassDef) and any(
        isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == "__test__" for t in n.targets)
        and isinstance(n.value, ast.Constant)
        and not n.value.value
        for n in node.body
    )

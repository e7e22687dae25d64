"""What was written as a test and is not collected: files, classes and functions, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenlint.source.python import PyModule, parse
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.collect import collected, passed_over
from scenlint.task.checks.runner import TEST_FILE, Entry

if TYPE_CHECKING:
    from scenlint.task.model import Task

_PLUGINS = regex(r"pytest[-_](?:asyncio|trio|tornasync)|anyio|asyncio_mode")
_CONFIGURATION = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "conftest.py")
_DYNAMIC = frozenset(["globals", "locals", "vars", "inspect", "getattr", "dir", "__import__"])


@dataclass(frozen=True)
class Missed:
    """Something that is not collected: where it is, what it is and why, and what to do."""

    span: Span
    message: str
    help: str


def uncollected(task: Task) -> Iterator[Missed]:
    """All that the task's runners pass over."""
    yield from _misnamed_files(task)
    yield from _undiscovered_files(task)
    seen: set[PyModule] = set()
    for entry in task.survey.started.entries:
        if entry.module in seen:
            continue
        seen.add(entry.module)
        if entry.kind in ("pytest", "unittest"):
            yield from _in_module(entry, task)
        elif entry.kind == "script":
            yield from _never_called(entry)


def _in_module(entry: Entry, task: Task) -> Iterator[Missed]:
    module = entry.module
    name = module.fragment.path.name
    if module.fault is not None:
        if not module.fault.newer:
            message = f"no test of `{name}` is collected: {module.fault.message}"
            yield Missed(module.fault.span, message, "correct the syntax; the runner stops at this file")
        return
    items = list(collected(module, unittest=entry.kind == "unittest"))
    known = {i.function.name for i in items} | {i.cls.name for i in items if i.cls}
    for wanted in sorted(entry.only - known) if entry.command is not None else ():
        yield Missed(entry.command.span, f"`{wanted}` is no test of `{name}`", "name a test that the file defines")  # type: ignore[union-attr]
    configured = _configuration(task)
    if entry.kind == "unittest":
        over = list(passed_over(module, unittest=True)) if items else []
    else:
        over = list(passed_over(module)) if "python_classes" not in configured else []
    for passed in over:
        message = f"`{passed.node.name}` is not collected: {passed.reason}"
        remedy = "make it a plain function `test…`, or a class `Test…` without a constructor"
        if entry.kind == "unittest":
            remedy = "put it into a `unittest.TestCase`, or run the file with pytest"
        yield Missed(module.head(passed.node), message, remedy)
    if not items and not over and "python_functions" not in configured and not _others_collect(entry, task):
        remedy = (
            "put the checks into methods named `test…` of a `unittest.TestCase`"
            if entry.kind == "unittest"
            else "name the functions `test…`; pytest passes over all others"
        )
        yield Missed(_first(module), f"`{name}` holds no test that is collected", remedy)
    for item in items:
        if isinstance(item.function, ast.AsyncFunctionDef) and not item.cls and not _has_plugin(task):
            message = f"pytest does not run `{item.id}`: it is a coroutine, and no plugin runs those"
            remedy = "call `asyncio.run` in a plain function, or install pytest-asyncio and mark the test"
            yield Missed(module.head(item.function), message, remedy)
            break


def _others_collect(entry: Entry, task: Task) -> bool:
    """Whether the same runner collects tests from another file, so that this one may be a helper."""
    others = (e for e in task.survey.started.entries if e.command is entry.command and e.module is not entry.module)
    return any(any(collected(e.module, unittest=e.kind == "unittest")) for e in others)


def _misnamed_files(task: Task) -> Iterator[Missed]:
    """pytest is given a folder, and no file in it has a name that it collects."""
    verifier = task.verifier
    files = [f for f in verifier.code("python") if f.path.name != "conftest.py"] if verifier else []
    if any(TEST_FILE.fullmatch(f.path.name) for f in files) or "python_files" in _configuration(task):
        return
    for command, paths in task.survey.started.runners:
        if command.tool not in ("pytest", "py.test") or any(p.split("::")[0].endswith(".py") for p in paths):
            continue
        for module in map(parse, files):
            if any(collected(module)):
                name = module.fragment.path.name
                message = f"pytest does not collect `{name}`: by default it looks for `test_*.py` and `*_test.py`"
                yield Missed(_first(module), message, "rename the file, or name it on the command line")


def _undiscovered_files(task: Task) -> Iterator[Missed]:
    """unittest is left to find its files, and none in the folder has a name that it looks for."""
    files = [parse(f) for f in task.verifier.code("python")] if task.verifier else []
    runners = task.survey.started.runners
    for command, _ in runners if all(c.tool == "unittest" for c, _ in runners) else ():
        words = [w.pattern for w in command.tool_words[1:] if not w.pattern.startswith("-v")]
        finds = command.tool == "unittest" and (not words or "discover" in words)
        if not finds or any(w.startswith(("-p", "--pattern")) for w in words):
            continue
        if any(m.fragment.path.name.startswith("test") for m in files):
            continue
        for module in files:
            if any(collected(module, unittest=True)):
                message = f"unittest does not find `{module.fragment.path.name}`: by default it looks for `test*.py`"
                yield Missed(_first(module), message, "rename the file, or name it on the command line")


def _never_called(entry: Entry) -> Iterator[Missed]:
    """A test module that is run as a plain script and calls none of its tests."""
    module = entry.module
    tests = [f for f in module.functions.values() if f.name.startswith("test")]
    if not tests or entry.command is None or any(i.cls for i in collected(module)):
        return
    used = {n.id for n in module.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    if used & _DYNAMIC or any(f.name in used for f in tests):
        return
    message = f"`{module.fragment.path.name}` is run as a script, which calls none of its {len(tests)} tests"
    yield Missed(entry.command.span, message, 'run it with pytest, or call them below `if __name__ == "__main__":`')


def _first(module: PyModule) -> Span:
    body = module.tree.body
    node = next((n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)), body[0] if body else None)
    if node is None:
        return module.fragment.span(0, 0)
    return module.head(node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else module.span(node)


def _has_plugin(task: Task) -> bool:
    texts = [f.text for f in task.verifier.files] if task.verifier else []
    texts += [b.fragment.text for b in task.environment.builds] if task.environment else []
    return any(_PLUGINS.search(t) for t in texts)


def _configuration(task: Task) -> str:
    files = task.verifier.files if task.verifier else []
    return "\n".join(f.text for f in files if f.path.name in _CONFIGURATION)

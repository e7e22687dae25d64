"""A test file, class or function that the runner does not collect."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule
from scenlint.source.text import Span
from scenlint.task.checks.collect import collected, passed_over
from scenlint.task.checks.runner import TEST_FILE, Entry

_PLUGINS = re.compile(
    r"pytest[-_]asyncio|anyio|pytest[-_]trio|asyncio_mode|pytest[-_]tornasync|unittest\.IsolatedAsyncio"
)


@rule(
    "no-test-collected",
    "SL119",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the runner's own `--collect-only` lists the test",
)
def no_test_collected(task: Task) -> Iterator[Finding]:
    yield from _misnamed_files(task)
    seen: set[PyModule] = set()
    for entry in task.survey.started.entries:
        if entry.module in seen:
            continue
        seen.add(entry.module)
        if entry.kind in ("pytest", "unittest"):
            yield from _tests(entry, task)
        elif entry.kind == "script":
            yield from _never_called(entry)


def _tests(entry: Entry, task: Task) -> Iterator[Finding]:
    module = entry.module
    name = module.fragment.path.name
    if module.fault is not None and not module.fault.newer:
        yield Finding.at(
            module.fault.span,
            f"no test of `{name}` is collected: {module.fault.message}",
            help="correct the syntax; the runner stops at this file",
        )
    if module.fault is not None:
        return
    items = list(collected(module, unittest=entry.kind == "unittest"))
    known = {i.function.name for i in items} | {i.cls.name for i in items if i.cls}
    for wanted in sorted(entry.only - known):
        if entry.command is not None:
            yield Finding.at(
                entry.command.span, f"`{wanted}` is no test of `{name}`", help="name a test that the file defines"
            )
    configured = _configuration(task)
    over = [] if entry.kind != "pytest" or "python_classes" in configured else list(passed_over(module))
    for passed in over:
        yield Finding.at(
            module.head(passed.node),
            f"`{passed.node.name}` is not collected: {passed.reason}",
            help="make it a plain function `test…`, or a class `Test…` without a constructor",
        )
    if not items and not over and "python_functions" not in configured and not _others_collect(entry, task):
        yield Finding.at(_first(module), f"`{name}` holds no test that is collected", help=_help(entry))
    async_tests = [i for i in items if isinstance(i.function, ast.AsyncFunctionDef) and not i.cls]
    if async_tests and not _has_plugin(task):
        yield Finding.at(
            module.head(async_tests[0].function),
            f"pytest does not run `{async_tests[0].id}`: it is a coroutine, and no plugin for those is installed",
            help="run the coroutine with `asyncio.run` in a plain function, or install pytest-asyncio and mark the test",
        )


def _others_collect(entry: Entry, task: Task) -> bool:
    """Whether the same runner collects tests from another file, so that this one may be a helper."""
    others = (e for e in task.survey.started.entries if e.command is entry.command and e.module is not entry.module)
    return any(any(collected(e.module, unittest=e.kind == "unittest")) for e in others)


def _help(entry: Entry) -> str:
    if entry.kind == "unittest":
        return "put the checks into methods named `test…` of a `unittest.TestCase`"
    return "name the functions `test…`; pytest passes over all others"


def _misnamed_files(task: Task) -> Iterator[Finding]:
    """pytest is given a folder, and no file in it has a name that it collects."""
    verifier = task.verifier
    if verifier is None:
        return
    for command, paths in task.survey.started.runners:
        if command.tool not in ("pytest", "py.test") or any(p.split("::")[0].endswith(".py") for p in paths):
            continue
        files = [f for f in verifier.code("python") if f.path.name != "conftest.py"]
        if any(TEST_FILE.fullmatch(f.path.name) for f in files) or "python_files" in _configuration(task):
            continue
        from scenlint.source.python import parse

        for file in files:
            if any(collected(parse(file))):
                yield Finding.at(
                    _first(parse(file)),
                    f"pytest does not collect `{file.path.name}`: by default it looks for `test_*.py` and `*_test.py`",
                    help="rename the file, or name it on the command line",
                )


def _never_called(entry: Entry) -> Iterator[Finding]:
    """A test module that is run as a plain script and calls none of its tests."""
    module = entry.module
    tests = [f for f in module.functions.values() if f.name.startswith("test")]
    if not tests or entry.command is None or any(i.cls for i in collected(module)):
        return
    used = {n.id for n in ast.walk(module.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    dynamic = any(n in used for n in ("globals", "locals", "vars", "inspect", "getattr", "dir", "__import__"))
    if not dynamic and not any(f.name in used for f in tests):
        yield Finding.at(
            entry.command.span,
            f"`{module.fragment.path.name}` is run as a script, which calls none of its {len(tests)} tests",
            help='run it with pytest, or call the tests below `if __name__ == "__main__":`',
        )


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
    names = ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "conftest.py", ".pytest.ini")
    return "\n".join(f.text for f in task.verifier.files if f.path.name in names) if task.verifier else ""

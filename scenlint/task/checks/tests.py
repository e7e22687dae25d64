"""Checks stated as test functions, of pytest or unittest."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scenlint.source.python import PyModule, walk
from scenlint.source.pyvalue import UNKNOWN, Seq, Value, join, known
from scenlint.task.checks.collect import Item, collected
from scenlint.task.checks.facts import Event, Failure
from scenlint.task.checks.flow import Flow
from scenlint.task.checks.library import files
from scenlint.task.checks.model import Check, Dialect
from scenlint.task.checks.program import Setup
from scenlint.task.checks.runner import Entry
from scenlint.task.checks.scope import Class, Env, Func, Instance
from scenlint.task.checks.sinks import existence_only, fill

_TEMPORARY = ("tmp_path", "tmpdir", "tmp_path_factory")
_ROWS = 12  # parameter sets of one test that are told apart


def checks(entry: Entry, setup: Setup) -> tuple[list[Check], list[Event]]:
    """A check for every test that the runner collects from a module."""
    flow = Flow(setup)
    flow.cwd = entry.cwd
    return list(_checks(flow, entry)), flow.events


def _checks(flow: Flow, entry: Entry) -> Iterator[Check]:
    module = entry.module
    flow.run(flow.load, module)
    env = flow.modules.get(module)
    if env is None:
        return
    at_import = list(flow.failures)
    for item in collected(module, unittest=entry.kind == "unittest"):
        if entry.only and item.function.name not in entry.only and not (item.cls and item.cls.name in entry.only):
            continue
        flow.steps, flow.complete = 0, True
        flow.facts.touched, flow.ctx, flow.cwd = 0, 0, entry.cwd
        flow.uncertain = flow.repeats = 0
        flow.failures.clear()
        flow.outputs.clear()
        whole = flow.run(_run, flow, item, module, env)
        yield check_of(flow, item, module, at_import, whole)


def _run(flow: Flow, item: Item, module: PyModule, env: Env) -> None:
    fixtures = _fixtures(flow, module)
    bound: Value | None = None
    if item.cls is not None:
        cls = Class(item.cls, env)
        bound = known(Instance(cls))
        for name in ("setUpClass", "setup_class", "setUp", "setup_method", "asyncSetUp"):
            method = flow.member(cls, name, bound)
            if method is not None:
                flow.apply(method, [], {}, item.cls, env)
    for name, func in fixtures.items():
        if any("autouse" in ast.unparse(d) for d in func.node.decorator_list if not isinstance(func.node, ast.Lambda)):  # type: ignore[union-attr]
            _fixture(flow, name, fixtures, 3)
    names = [a.arg for a in (*item.function.args.posonlyargs, *item.function.args.args, *item.function.args.kwonlyargs)]
    if bound is not None and names:
        names = names[1:]
    base = {n: _fixture(flow, n, fixtures, 4) for n in names}
    func = Func(item.function, env, bound, item.cls)
    for row in _parameters(flow, item, env):
        flow.enter(func, [], {**base, **{k: v for k, v in row.items() if k in names}}, item.function, env)


def _fixtures(flow: Flow, module: PyModule) -> dict[str, Func]:
    out: dict[str, Func] = {}
    shared = [m for path, m in flow.setup.modules.items() if path.endswith("conftest.py")]
    for each in (*shared, module):
        env = flow.load(each)
        owners = [
            each.functions.values(),
            *([n for n in c.body if isinstance(n, ast.FunctionDef)] for c in each.classes.values()),
        ]
        for node in (n for group in owners for n in group):
            if any("fixture" in each.dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list):
                bound = UNKNOWN if node.args.args and node.args.args[0].arg == "self" else None
                out[node.name] = Func(node, env, bound)
    return out


def _fixture(flow: Flow, name: str, fixtures: dict[str, Func], depth: int) -> Value:
    if name in _TEMPORARY:
        return files.temporary()
    func = fixtures.get(name)
    if func is None or depth == 0 or isinstance(func.node, ast.Lambda):
        return UNKNOWN
    names = [a.arg for a in (*func.node.args.args, *func.node.args.kwonlyargs) if a.arg != "self"]
    given = {n: _fixture(flow, n, fixtures, depth - 1) for n in names}
    value = flow.enter(func, [], given, func.node, func.env)
    if value.options and all(isinstance(o, Seq) and o.more for o in value.options):  # a generator: what it yields
        return join([i for o in value.options for i in o.items])
    return value


def _parameters(flow: Flow, item: Item, env: Env) -> list[dict[str, Value]]:
    """The rows of `@pytest.mark.parametrize`; several decorators are each joined to one row but the longest."""
    tables: list[list[dict[str, Value]]] = []
    owners = [item.function, *([item.cls] if item.cls else [])]
    for decorator in (d for o in owners for d in o.decorator_list):
        if not isinstance(decorator, ast.Call) or not env.module.dotted(decorator.func).endswith("parametrize"):
            continue
        if len(decorator.args) < 2:
            continue
        names_value = flow.eval(decorator.args[0], env)
        names = [n.strip() for o in names_value.options if isinstance(o, str) for n in o.split(",") if n.strip()]
        names = names or [
            str(i.options[0]) for o in names_value.options if isinstance(o, Seq) for i in o.items if i.options
        ]
        rows: list[dict[str, Value]] = []
        items, more = flow.elements(flow.eval(decorator.args[1], env))
        for value in items or ([UNKNOWN] if more else []):
            value = _param(value)
            if len(names) == 1:
                rows.append({names[0]: value})
                continue
            parts = next((o.items for o in value.options if isinstance(o, Seq)), [])
            rows.append(dict(zip(names, parts, strict=False)) if parts else dict.fromkeys(names, UNKNOWN))
        tables.append(rows)
    tables.sort(key=len)
    longest = tables.pop() if tables else [{}]
    extra: dict[str, Value] = {}
    for table in tables:
        for name in table[0] if table else ():
            extra[name] = join([row[name] for row in table if name in row])
    return [{**extra, **row} for row in longest[:_ROWS]]


def _param(value: Value) -> Value:
    """`pytest.param(a, b, id=…)` comes out of the follower as a call that it cannot see through."""
    return value


def check_of(flow: Flow, item: Item, module: PyModule, at_import: list[Failure], whole: bool) -> Check:
    doc = module.docstring(item.function)
    mask = flow.facts.touched
    for failure in flow.failures:
        mask |= failure.why | failure.data
    check = Check(
        id=item.id,
        label=doc[0] if doc else item.function.name,
        span=module.head(item.function),
        fragment=module.fragment,
        dialect=Dialect.TEST,
        node=item.function,
        complete=whole,
    )
    fill(check, flow.facts, mask)
    check.can_fail = bool(flow.failures) or not whole or bool(at_import and uses(item.function, module))
    check.existence_only = whole and existence_only(flow.facts, flow.failures)
    return check


def uses(function: ast.AST, module: PyModule) -> bool:
    """Whether a function does anything at all besides its docstring."""
    return any(isinstance(n, ast.Call | ast.Assert | ast.Raise | ast.Subscript) for n in walk(function))

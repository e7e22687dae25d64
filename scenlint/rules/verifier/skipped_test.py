"""A skipped or expected failure: work that is missing or wrong leaves the test without a result."""

import ast
from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, related, rule
from scenlint.source.literals import literals
from scenlint.source.python import Function, PyModule, parse, walk
from scenlint.source.text import Span
from scenlint.task.checks import Access, Check, How, Key
from scenlint.task.finding import Location
from scenlint.task.judgements import is_made

_SKIPS = frozenset(["pytest.skip", "pytest.xfail", "self.skipTest", "unittest.SkipTest", "pytest.skip.Exception"])
_ALWAYS = {
    "pytest.mark.skip": "it is never run",
    "unittest.skip": "it is never run",
    "pytest.mark.xfail": "its failure counts as expected",
    "unittest.expectedFailure": "its failure counts as expected",
}


@rule(
    "skipped-test",
    "SL513",
    severity=Severity.WARNING,
    needs={Role.VERIFIER},
    refute="another check fails where this one is skipped, or what is skipped for is no work of the agent's",
)
def skipped_test(task: Task) -> Iterator[Finding]:
    assert task.verifier is not None
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        for function in module.of(ast.FunctionDef, ast.AsyncFunctionDef):
            for decorator in function.decorator_list:
                if why := _always(module, decorator):
                    yield _finding(module, decorator, f"`{function.name}` turns nothing down: {why}")
        for call in module.calls(*sorted(_SKIPS)):
            if found := _skips_for_work(task, module, call):
                why, place = found
                yield _finding(
                    module, call, f"the test is skipped where {why}, and a skipped test fails nothing", place
                )
        for call in module.calls("pytest.importorskip"):
            if (name := _literal(call)) and any(
                n.kind == "module" and n.name == name for c in task.checks for n in c.names
            ):
                yield _finding(
                    module, call, f"the test is skipped where the agent's module `{name}` cannot be imported"
                )


def _finding(module: PyModule, node: ast.AST, message: str, place: Location | None = None) -> Finding:
    return Finding.at(
        module.span(node),
        message,
        help="fail there: `pytest.fail(…)` or an assertion",
        related=[place] if place else [],
    )


def _always(module: PyModule, decorator: ast.expr) -> str:
    """Why a decorator makes a test's failure go unnoticed on every machine."""
    call = decorator if isinstance(decorator, ast.Call) else None
    name = module.dotted(call.func if call else decorator)
    if call and "xfail" in name:
        strict = any(k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords)
        if strict or call.args or any(k.arg == "condition" for k in call.keywords):
            return ""
    return _ALWAYS.get(name, "")


def _skips_for_work(task: Task, module: PyModule, call: ast.Call) -> tuple[str, Location | None] | None:
    """What of the agent's work a skip is due to, unless another check fails for it."""
    function = module.function_of(call)
    branch = next((p for p in module.parents(call) if isinstance(p, ast.If | ast.ExceptHandler)), None)
    if branch is None or function is None or module.function_of(branch) is not function:
        return None
    tests: list[ast.AST] = [branch.test] if isinstance(branch, ast.If) else []
    if isinstance(branch, ast.ExceptHandler) and isinstance(up := module.parent(branch), ast.Try):
        tests = list(up.body)
    spans = _looked_at(module, tests)
    for check in task.checks:
        facts: list[Access | Key] = [*check.accesses, *check.keys]
        for fact in facts:
            inside = any(
                s.source is fact.span.source and s.start <= fact.span.start and fact.span.end <= s.end for s in spans
            )
            if inside and _is_work(task, fact):
                if any(_fails_for(other, fact, function) for other in task.checks):
                    return None
                return f"`{_name(fact)}` is missing", related(fact.span, "here it is looked for")
    return None


def _inside(inner: Span, outer: Span) -> bool:
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def _looked_at(module: PyModule, tests: list[ast.AST]) -> list[Span]:
    """Some expressions, what their names stand for, and the functions that these call."""
    names = [n for t in tests for n in walk(t) if isinstance(n, ast.Name)]
    values = [v for n in names for v in literals(module).assigned.get(n.id, [])]
    called = {_last(n.func) for v in [*tests, *values] for n in walk(v) if isinstance(n, ast.Call)}
    functions = [n for n in module.of(ast.FunctionDef) if n.name in called]
    return [module.span(n) for n in [*tests, *values, *functions]]


def _is_work(task: Task, fact: Access | Key) -> bool:
    """Whether it is the agent's to make."""
    if isinstance(fact, Key):
        return bool(fact.paths) and all(is_made(task.visible, p) for p in fact.paths)
    return fact.how is not How.WRITE and is_made(task.visible, fact.path)


def _fails_for(check: Check, fact: Access | Key, skipping: Function) -> bool:
    """Whether a check without this skip looks for the same path or key."""
    if check.node is skipping or not check.can_fail:
        return False
    node = check.node
    if isinstance(node, ast.FunctionDef) and skipping.name in {a.arg for a in node.args.args}:
        return False
    if isinstance(fact, Key):
        return any(k.name == fact.name and not k.default for k in check.keys)
    return any(a.path == fact.path for a in check.accesses)


def _name(fact: Access | Key) -> str:
    return fact.name if isinstance(fact, Key) else fact.path


def _literal(call: ast.Call) -> str:
    return str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

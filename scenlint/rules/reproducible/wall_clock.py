"""A verdict that depends on the date or the time at which the verifier runs."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.source.python import PyModule, parse, walk

_NOW = {
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "time.time",
}
# A count of seconds is a date only once one of these has made it one; else it measures a duration.
_DATING = {
    "datetime.datetime.fromtimestamp",
    "datetime.date.fromtimestamp",
    "time.localtime",
    "time.gmtime",
    "time.ctime",
}
_SHAPING = {"isoformat", "strftime", "date", "replace", "weekday", "timestamp", "astimezone"}


@rule(
    "wall-clock",
    "SL308",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    needs={Role.VERIFIER},
    refute="the value measures how long something took, stamps a log, or both sides follow the same clock at once",
)
def wall_clock(task: Task) -> Iterator[Finding]:
    assert task.verifier is not None
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        for call in module.calls(*sorted(_NOW)):
            use = _compared(module, call)
            if use is not None:
                yield Finding.at(
                    module.span(call),
                    f"the verdict depends on `{module.dotted(call.func)}()`, so work that passes today may fail later",
                    help="fix the date in the brief and compare with that, or freeze it in the environment",
                    related=[related(module.span(use), "here it meets what is checked")],
                )


def _compared(module: PyModule, call: ast.Call) -> ast.AST | None:
    """Where the value of now, shaped or shifted, is compared with something that is no other time of this run."""
    value, names = _shaped(module, call), set()
    if module.dotted(call.func) == "time.time" and not _is_date(module, call, value):
        return None
    parent = module.parent(value)
    if isinstance(parent, ast.Compare):
        return None if _is_elapsed(module, parent) else parent
    if isinstance(parent, ast.Assign):
        names = {t.id for t in parent.targets if isinstance(t, ast.Name)}
    scope = module.function_of(call)
    for node in module.nodes:
        if isinstance(node, ast.Compare) and (scope is None or module.function_of(node) is scope):
            used = {n.id for side in (node.left, *node.comparators) for n in walk(side) if isinstance(n, ast.Name)}
            if names & used and not _is_elapsed(module, node):
                return node
    return None


def _shaped(module: PyModule, node: ast.AST) -> ast.AST:
    """The outermost expression that only reshapes or shifts the time: `(today() + timedelta(7)).isoformat()`."""
    while True:
        parent = module.parent(node)
        shifts = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub)
        shapes = isinstance(parent, ast.Attribute) and parent.attr in _SHAPING
        called = isinstance(parent, ast.Call) and (parent.func is node or module.dotted(parent.func) in _DATING)
        if not (shifts or shapes or called):
            return node
        assert parent is not None
        node = parent


def _is_date(module: PyModule, call: ast.AST, value: ast.AST) -> bool:
    around = [p for p in module.parents(call) if isinstance(p, ast.Call)]
    within = {id(n) for n in walk(value)}
    return any(module.dotted(p.func) in _DATING for p in around if id(p) in within)


def _is_elapsed(module: PyModule, compare: ast.Compare) -> bool:
    """A wait or a measured duration: it stands in a loop's condition, or only names of times are subtracted."""
    if isinstance(module.parent(compare), ast.While):
        return True
    sides = [compare.left, *compare.comparators]
    times = [n for s in sides for n in walk(s) if isinstance(n, ast.Name) and _is_time(n.id)]
    return len(times) > 1


def _is_time(name: str) -> bool:
    return any(part in name.lower() for part in ("start", "begin", "deadline", "elapsed", "end_time", "t0", "t1"))

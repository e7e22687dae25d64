"""A DeepGym judge that loads its test data only once the solution has been started."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import Function, PyModule, parse
from scenlint.task.model import Contract

_STARTS = frozenset(f"deepgym_solution.{name}" for name in ("load_solution", "load_files", "run_solution"))
_READS = ("open", "io.open", "gzip.open", "numpy.load", "numpy.loadtxt", "pandas.read_csv", "pandas.read_json")
_METHODS = ("read_text", "read_bytes", "open")


@rule(
    "data-after-solution",
    "SL516",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"deepgym"},
    refute="what is read there is made by the solution, or cannot be missing or broken",
)
def data_after_solution(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or verifier.contract is not Contract.JSON_LINE:
        return
    support = {f.path.name for f in verifier.files} | {p.rpartition("/")[2] for p in verifier.truth}
    for fragment in verifier.code("python"):
        module = parse(fragment)
        starts = [call for call in module.calls() if module.dotted(call.func) in _STARTS]
        if not starts:
            continue
        start = min(starts, key=_position)
        around = module.function_of(start)
        inside = (n for n in module.nodes if module.function_of(n) is around and _position(n) > _position(start))
        late = [n for n in inside if _loads(module, n, support)]
        if late:
            yield Finding.at(
                module.span(min(late, key=_position)),
                "the judge's data are loaded after the solution was started, so where this fails the solution scores 0",
                help="load them before the solution is started; a failure is then the verifier's, without a verdict",
                related=[related(module.span(start), "the solution is started here")],
            )


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _loads(module: PyModule, node: ast.AST, support: set[str], depth: int = 2) -> bool:
    """Whether this reads a file of the judge's own, itself or in a function that it calls."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        return any(f"{name.partition('.')[0]}.py" in support for name in names)
    if not isinstance(node, ast.Call):
        return False
    called = module.functions.get(module.dotted(node.func))
    if called is not None and depth:
        inner = [n for s in called.body for n in ast.walk(s)]
        handed = any(_is_own(module, a, support) for a in node.args) and any(_reads(module, n) for n in inner)
        return handed or any(_loads(module, n, support, depth - 1) for n in inner)
    return _reads(module, node) and _is_own(module, node, support)


def _reads(module: PyModule, node: ast.AST) -> bool:
    """Whether it is a call that opens a file."""
    if not isinstance(node, ast.Call):
        return False
    method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
    return method or module.dotted(node.func) in _READS


def _is_own(module: PyModule, node: ast.AST, support: set[str], depth: int = 3) -> bool:
    """Whether a path stems from `__file__`, from the cases that the harness hands over, or names a support file."""
    function = module.function_of(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.rpartition("/")[2] in support:
            return True
        if isinstance(part, ast.Subscript) and ast.unparse(part) == "sys.argv[2]":
            return True
        if isinstance(part, ast.Name):
            if part.id == "__file__" or (function and function.name == "verify" and _second(function) == part.id):
                return True
            if depth and any(_is_own(module, v, support, depth - 1) for v in _values(module, part.id)):
                return True
    return False


def _second(function: Function) -> str | None:
    names = [a.arg for a in function.args.args]
    return names[1] if len(names) > 1 else None


def _values(module: PyModule, name: str) -> Iterator[ast.expr]:
    for node in module.nodes:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            yield node.value

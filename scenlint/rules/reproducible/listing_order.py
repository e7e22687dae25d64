"""A verdict that depends on the order in which a folder is listed or a set is gone through."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, related, rule
from scenlint.source.edit_python import replace, wrap
from scenlint.source.python import PyModule, parse
from scenlint.source.shell import Command
from scenlint.task.runs import verifier_runs

_LISTS = ("os.listdir", "glob.glob", "glob.iglob", "os.scandir")
_METHODS = ("iterdir", "glob", "rglob")
_KEEP = ("list", "tuple", "iter", "reversed", "enumerate")  # these keep whatever order there is


@rule(
    "listing-order",
    "SL311",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="there is only ever one item, or every order gives the same verdict",
    fix="safe",
)
def listing_order(task: Task) -> Iterator[Finding]:
    for fragment in task.verifier.code("python") if task.verifier else []:
        module = parse(fragment)
        for node in module.of(ast.Call, ast.Set, ast.SetComp):
            if what := _unordered(module, node):
                use = _order_matters(module, node)
                if use is not None:
                    yield Finding.at(
                        module.span(node),
                        f"{what} come{'s' if what.startswith('a ') else ''} in no fixed order, and {use[1]}",
                        help="sort it first: `sorted(…)`",
                        related=[related(module.span(use[0]), "the order matters here")],
                        fix=_sorted(module, node, use[0]),
                    )
    yield from _found(task)


def _found(task: Task) -> Iterator[Finding]:
    """`find … | head -1` in a verifier's script."""
    for run in verifier_runs(task):
        pipeline = run.command.pipeline
        if run.command.program != "find" or pipeline is None:
            continue
        after = [c for c in pipeline.items[run.command.position + 1 :] if isinstance(c, Command)]
        one = after and after[0].program in ("head", "tail") and re.search(r"-(?:n ?)?1\b", after[0].span.text)
        if one and run.command.in_substitution:
            yield Finding.at(
                run.command.span,
                "what `find` prints comes in no fixed order, and one of it is taken",
                help="sort it first: `find … | sort | head -n 1`",
                fix=_piped(run.command),
            )


def _piped(find: Command) -> Fix | None:
    if "-print0" in find.span.text:
        return None
    return Fix.of("sort what `find` prints", find.fragment.edit(find.end, find.end, " | sort"))


def _sorted(module: PyModule, node: ast.AST, use: ast.AST) -> Fix | None:
    """Sorted: one of the orders that there could have been, so it is safe where the items are names and paths."""
    up = module.parent(node)
    name = module.dotted(node.func) if isinstance(node, ast.Call) else ""
    safe = name not in ("", "set", "frozenset")
    if isinstance(up, ast.withitem):
        return None
    if isinstance(use, ast.Call):  # next(…)
        edits = wrap(module, node, "iter(sorted(", "))")
    elif name == "os.scandir":
        edits = wrap(module, node, "sorted(", ", key=lambda entry: entry.name)")
    elif isinstance(up, ast.Call) and module.dotted(up.func) == "list":
        edits = replace(module, up.func, "sorted")
    else:
        edits = wrap(module, node, "sorted(", ")")
    if isinstance(use, ast.Compare):
        other = next((side for side in (use.left, *use.comparators) if isinstance(side, ast.List)), None)
        if other is None or any(isinstance(above, ast.ListComp) for above in module.parents(node)):
            return None  # what is compared may have another order than what is sorted
        if not _in_order(other):
            safe, edits = False, [*edits, *wrap(module, other, "sorted(", ")")]
    return Fix.of("sort it", *edits, safe=safe)


def _in_order(node: ast.List) -> bool:
    """Whether a list is written in the order that sorting gives."""
    values = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return len(values) == len(node.elts) and values == sorted(values)


def _unordered(module: PyModule, node: ast.AST) -> str:
    """What has no order of its own here; "" for anything else."""
    if isinstance(node, ast.Set | ast.SetComp):
        return "a set"
    assert isinstance(node, ast.Call)
    name = module.dotted(node.func)
    if name in _LISTS:
        return f"the names that `{name}` gives"
    if name in ("set", "frozenset") and node.args:
        return "a set"
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    pattern = node.args[0] if node.args else None
    one = method == "glob" and isinstance(pattern, ast.Constant) and not set(str(pattern.value)) & set("*?[")
    return f"the paths that `{method}` gives" if method in _METHODS and not one else ""


def _order_matters(module: PyModule, node: ast.AST) -> tuple[ast.AST, str] | None:
    """Where the order is used: an item by its place, or the whole compared with a list."""
    is_set = isinstance(node, ast.Set | ast.SetComp) or (
        isinstance(node, ast.Call) and module.dotted(node.func) in ("set", "frozenset")
    )
    for place in _kept(module, node, is_set):
        up = module.parent(place)
        if isinstance(up, ast.Subscript) and up.value is place and _is_place(up.slice) and not _is_only(module, place):
            return up, "only one of them is looked at"
        if (
            isinstance(up, ast.Call)
            and module.dotted(up.func) == "next"
            and up.args[0] is place
            and not _is_only(module, place)
        ):
            return up, "only the first of them is looked at"
        if isinstance(up, ast.Compare) and isinstance(up.ops[0], ast.Eq | ast.NotEq):
            other = up.comparators[0] if up.left is place else up.left
            if isinstance(other, ast.List | ast.Tuple) and len(other.elts) > 1:
                return up, "they are compared with a list"
    return None


def _kept(module: PyModule, node: ast.AST, is_set: bool) -> Iterator[ast.AST]:
    """The expression, what keeps its order around it, and every use of a name that holds it."""
    place: ast.AST = node
    ordered = not is_set  # a set has no places; a list made of it has
    while True:
        if ordered:
            yield place
        up = module.parent(place)
        if isinstance(up, ast.Call) and module.dotted(up.func) in _KEEP and up.args and up.args[0] is place:
            place, ordered = up, True
        elif isinstance(up, ast.comprehension) and up.iter is place and isinstance(module.parent(up), ast.ListComp):
            place, ordered = module.parent(up) or up, True
        else:
            break
    up = module.parent(place)
    if ordered and isinstance(up, ast.Assign) and len(up.targets) == 1 and isinstance(up.targets[0], ast.Name):
        yield from _uses(module, up, up.targets[0].id)


def _uses(module: PyModule, assign: ast.Assign, name: str) -> Iterator[ast.AST]:
    """Where a name is read in the same function; nowhere once it is set again or sorted."""
    function = module.function_of(assign)
    inside = [n for n in module.nodes if module.function_of(n) is function]
    set_again = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in inside) > 1
    is_sorted = any(isinstance(n, ast.Call) and ast.unparse(n.func) == f"{name}.sort" for n in inside)
    if not set_again and not is_sorted:
        yield from (n for n in inside if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))


def _is_place(index: ast.expr) -> bool:
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def _is_only(module: PyModule, place: ast.AST) -> bool:
    """Whether it is made sure that there is one item only: `len(found) == 1`."""
    size = f"len({ast.unparse(place)})"
    for node in module.nodes:
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and ast.unparse(node.left) == size:
            return any(isinstance(c, ast.Constant) and c.value in (1, 2) for c in node.comparators)
    return False

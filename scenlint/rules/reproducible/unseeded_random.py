"""An unseeded random value that decides the verdict, or which part of the work is looked at."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, related, rule
from scenlint.source.edit_python import behind_imports
from scenlint.source.python import PyModule, parse
from scenlint.source.regex import regex

_DRAWS = regex(
    r"(?:random|secrets)\.(?:random|randint|randrange|uniform|gauss|choice|choices|sample|shuffle|betavariate|normalvariate|"
    r"triangular|getrandbits|randbelow)|"
    r"numpy\.random\.(?!seed|default_rng|RandomState|Generator|SeedSequence)\w+|(?:random\.Random|numpy\.random\.(?:default_rng|RandomState))"
)
_MAKERS = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
_SEEDS = regex(r"(?:\w+\.)*(?:seed|manual_seed|set_seed|seed_all|seed_everything)")
# Functions that only compute: what they are given stays in the verifier.
_PURE = regex(
    r"(?:len|int|float|str|round|abs|sum|min|max|sorted|list|tuple|set|dict|enumerate|range|zip|any|all|bool|repr|print|isinstance|map|filter|"
    r"(?:math|numpy|statistics)\.\w+|pytest\.approx|range)"
)


@rule(
    "unseeded-random",
    "SL307",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="the value is an input of the agent's program, or the generator is seeded elsewhere",
    fix="unsafe",
)
def unseeded_random(task: Task) -> Iterator[Finding]:
    for fragment in task.verifier.code("python") if task.verifier else []:
        if "random" not in fragment.text and "secrets" not in fragment.text:
            continue
        module = parse(fragment)
        if any(_SEEDS.fullmatch(module.dotted(c.func)) for c in module.calls() if c.args):
            continue
        for draw in module.calls():
            name = ast.unparse(draw.func)
            if _is_draw(module, draw) and (use := _decides(module, draw)) is not None:
                yield Finding.at(
                    module.span(draw),
                    f"`{name}` is not seeded and has a say in the verdict, so the same work can pass or fail",
                    help="draw from `random.Random(1234)`, or look at everything",
                    related=[related(module.span(use), "it decides here")],
                    fix=_seeded(module, draw),
                )


def _seeded(module: PyModule, draw: ast.Call) -> Fix | None:
    """A seed behind the imports, for the functions of a module that share one generator."""
    library = module.dotted(draw.func).rpartition(".")[0]
    if library not in ("random", "numpy.random") or not isinstance(draw.func, ast.Attribute):
        return None
    call = f"{ast.unparse(draw.func.value)}.seed(1234)"
    return Fix.of(f"call `{call}` first", *behind_imports(module, call), safe=False)


def _is_draw(module: PyModule, call: ast.Call) -> bool:
    name = module.dotted(call.func)
    if name in _MAKERS:
        return False  # what is drawn from it counts
    if _DRAWS.fullmatch(name):
        return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(owner, ast.Name):
        return False
    made = [
        n.value
        for n in module.nodes
        if isinstance(n, ast.Assign) and any(ast.unparse(t) == owner.id for t in n.targets)
    ]
    return any(
        isinstance(v, ast.Call) and module.dotted(v.func) in _MAKERS and not v.args and not v.keywords for v in made
    )


def _decides(module: PyModule, draw: ast.Call, depth: int = 2) -> ast.AST | None:
    """The comparison or loop that hangs on what was drawn, unless the agent's program may be given it."""
    function = module.function_of(draw)
    inside = [n for n in module.nodes if function is None or module.function_of(n) is function]
    tainted = _tainted(module, draw, inside)
    if tainted is None:
        return None
    for node in inside:
        waits = isinstance(module.parent(node), ast.While | ast.comprehension)
        if isinstance(node, ast.Compare) and not waits and _holds(node, draw, tainted):
            return node
        if isinstance(node, ast.For) and _holds(node.iter, draw, tainted) and _checks(node):
            return node
    returned = any(isinstance(n, ast.Return) and n.value and _holds(n.value, draw, tainted) for n in inside)
    if returned and function is not None and depth:
        uses = (_decides(module, call, depth - 1) for call in module.calls(function.name))
        return next((use for use in uses if use is not None), None)
    return None


def _tainted(module: PyModule, draw: ast.Call, inside: list[ast.AST]) -> set[str] | None:
    """The names that hold what was drawn; None where some of it is handed to something that is not only arithmetic."""
    names: set[str] = set()
    for _ in range(4):
        before = len(names)
        for node in inside:
            if (
                isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
                and node.value
                and _holds(node.value, draw, names)
            ):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            elif isinstance(node, ast.For | ast.comprehension) and _holds(node.iter, draw, names):
                names |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            elif node is draw and ast.unparse(draw.func).endswith("shuffle") and draw.args:
                names |= {n.id for n in ast.walk(draw.args[0]) if isinstance(n, ast.Name)}
        if len(names) == before:
            break
    for node in inside:
        given = (
            isinstance(node, ast.Call)
            and node is not draw
            and any(_holds(a, draw, names) for a in (*node.args, *(k.value for k in node.keywords)))
        )
        if (
            given
            and isinstance(node, ast.Call)
            and not _PURE.fullmatch(module.dotted(node.func))
            and not _is_own_method(module, node)
        ):
            return None
    return names


def _is_own_method(module: PyModule, call: ast.Call) -> bool:
    """Whether it is a look-up in a table (`rows.get(x)`, `expected.index(x)`) or an assertion of unittest."""
    attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return attribute in (
        "get",
        "index",
        "count",
        "append",
        "add",
        "format",
        "startswith",
        "endswith",
    ) or attribute.startswith("assert")


def _holds(node: ast.AST, draw: ast.Call, names: set[str]) -> bool:
    return any(n is draw or (isinstance(n, ast.Name) and n.id in names) for n in ast.walk(node))


def _checks(loop: ast.For) -> bool:
    """Whether a loop's body judges something."""
    return any(isinstance(n, ast.Assert | ast.Raise) for s in loop.body for n in ast.walk(s))

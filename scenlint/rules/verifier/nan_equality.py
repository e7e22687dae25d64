"""A comparison that NaN, or nothing on both sides, passes."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.literals import literals
from scenlint.source.python import PyModule, walk
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.judgements import Judgement, is_made
from scenlint.task.stance import Stance

_GUARD = regex(r"isnan|isfinite|isna\b|isnull|notna|math\.inf|parse_constant|allow_nan")
_COUNTS = frozenset(["int", "len", "count"])


@rule(
    "nan-equality",
    "SL520",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="the value cannot be NaN, None or empty, or another check turns that down",
)
def nan_equality(task: Task) -> Iterator[Finding]:
    passing: dict[PyModule, list[tuple[Span, str]]] = {}
    for judgement in task.judgements:
        node, module = judgement.node, judgement.module
        if module is None or not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        if _passes_nan(judgement, module, node):
            passing.setdefault(module, []).append(
                (judgement.span, "NaN passes: this is false for it, and work only fails where this is true")
            )
        elif judgement.wanted and (how := _both_silent(module, node)):
            passing.setdefault(module, []).append((judgement.span, how))
    for (span, how), *rest in passing.values():
        yield Finding.at(
            span,
            how,
            help="ask for the right outcome (`assert abs(got - want) <= tolerance`) of a value that is there",
            related=[related(other, "and so is this") for other, _ in rest[:5]],
        )


def _passes_nan(judgement: Judgement, module: PyModule, node: ast.Compare) -> bool:
    """`if abs(got - want) > tolerance: fail` on a number that is read from the agent's text or JSON."""
    compared = judgement.comparison
    if not compared.paths or compared.sources or not isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE):
        return False
    if not any(is_made(judgement.visible, p) for p in compared.paths) or isinstance(module.parent(node), ast.IfExp):
        return False
    if compared.tolerance is not None:
        # What asks for closeness is false for NaN, and wanted.
        if not judgement.wanted or isinstance(node.ops[0], ast.Lt | ast.LtE) is isinstance(node.left, ast.Call):
            return False
    elif judgement.stance is not Stance.UNWANTED or not any(isinstance(c, float) for c in judgement.constants):
        return False
    function = module.function_of(node)
    if _GUARD.search(module.span(function).text if function else module.fragment.text):
        return False
    values = [v for n in walk(node) if isinstance(n, ast.Name) for v in literals(module).assigned.get(n.id, [])]
    calls = {_last(c.func) for v in [node, *values] for c in walk(v) if isinstance(c, ast.Call)}
    return not calls & _COUNTS and ("float" in calls or any(p.endswith((".json", ".jsonl")) for p in compared.paths))


def _both_silent(module: PyModule, node: ast.Compare) -> str:
    """`first.stdout == second.stdout` of two programs that may both print nothing."""
    bases = {b for side in (node.left, node.comparators[0]) if (b := _printed(side))}
    function = module.function_of(node)
    if len(bases) != 2 or function is None:
        return ""
    code = module.span(function).text
    if "returncode" in code or "check=True" in code or "check_returncode" in code:
        return ""
    asked = [
        n
        for n in walk(function)
        if isinstance(n, ast.Attribute) and n.attr == "stdout" and ast.unparse(n.value) in bases
    ]
    return "two programs that both print nothing pass: nothing is equal to nothing" if len(asked) == 2 else ""


def _printed(node: ast.expr) -> str:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("strip", "splitlines", "split")
    ):
        node = node.func.value
    return ast.unparse(node.value) if isinstance(node, ast.Attribute) and node.attr == "stdout" else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

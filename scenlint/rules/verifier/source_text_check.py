"""The work is a program, and the verifier only searches its text; it never runs it."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.checks import Check, How
from scenlint.task.judgements import Judgement

_CODE = frozenset([
    ".py", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".go", ".rs", ".java",
    ".rb", ".php", ".sh", ".bash", ".pl", ".cu", ".scala", ".kt", ".swift", ".r", ".jl", ".lua", ".cs", ".hs",
])  # fmt: skip


@rule(
    "source-text-check",
    "SL522",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="a check runs the program, or its wording is what the brief asks for",
)
def source_text_check(task: Task) -> Iterator[Finding]:
    if task.survey.programs or any(_runs(c) for c in task.checks):
        return
    searched: dict[str, list[Judgement]] = {}
    for judgement in task.judgements:
        if judgement.comparison.operator in ("in", "not in", "matches", "not matches") and (
            path := _program(judgement)
        ):
            searched.setdefault(path, []).append(judgement)
    for path, judgements in searched.items():
        first, *rest = judgements
        yield Finding.at(
            first.span,
            f"`{path}` is judged by its text alone: code that never runs, or a comment, passes",
            help="run the program on inputs of the verifier's own and compare what it gives",
            related=[related(j.span, "and so is this") for j in rest[:5]],
        )


def _program(judgement: Judgement) -> str | None:
    compared = judgement.comparison
    texts = [c for c in judgement.constants if isinstance(c, str)]
    paths = judgement.paths
    if compared.sources or compared.key or not texts or len(paths) != 1 or not (judgement.wanted or judgement.unwanted):
        return None
    return paths[0] if PurePosixPath(paths[0]).suffix.lower() in _CODE else None


def _runs(check: Check) -> bool:
    """Whether a check looks at behaviour: it runs or imports something, or asks a service."""
    if any(a.how is How.RUN for a in check.accesses) or any(n.kind == "module" for n in check.names):
        return True
    return any(k.sources for k in check.comparisons) or not check.complete

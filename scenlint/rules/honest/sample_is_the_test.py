"""Every graded case is one that the agent has been shown, so matching the sample is all it takes."""

import ast
import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import PyModule, syntax_tree
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.leaks import ANSWERLIKE, copies, in_briefs

_CASES = r"(?:test )?(?:cases?|inputs?|data(?:sets?)?|files?|examples?)"
_HELD_OUT = regex(
    rf"\bhidden (?:tests?|{_CASES})\b|\bheld[- ]?out\b|\bunseen {_CASES}|\bprivate test|"
    rf"\b(?:on|with|against) (?:other|different|further|more) {_CASES}\b|\bjust (?:the|one) sample\b",
    re.I,
)
_SAMPLE = regex(r"(?:^|[^a-z])(?:sample|example)s?(?:[^a-z]|$)", re.I)
# `add(2, 3)` in a brief's example: a name and arguments that are literals.
_CALL = regex(r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\((?P<arguments>[^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)")

_TELLING = 6  # characters that do not stand in a brief by chance


@rule(
    "sample-is-the-test",
    "SL413",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="a solution that only knows the shown cases is graded 0",
)
def sample_is_the_test(task: Task) -> Iterator[Finding]:
    yield from _files(task)
    theirs = sorted({n.name for check in task.checks for n in check.names})
    for module in {id(e.module): e.module for e in task.survey.started.entries}.values():
        for name in theirs:
            graded = _graded(module, name)
            places = [next((p for text in cells if (p := _shown(task, name, text))), None) for _, cells in graded]
            if graded and None not in places:
                many = "the only call that is" if len(graded) == 1 else f"all {len(graded)} calls that are"
                yield Finding.at(
                    module.span(graded[0][0]),
                    f"{many} graded of `{name}` stand{'s' * (len(graded) == 1)} in the brief as an example",
                    help="grade cases that the brief does not show, beside or instead of the example",
                    related=[related(places[0], "shown here")] if places[0] else [],
                )


def _shown(task: Task, name: str, case: str) -> Span | None:
    """Where a brief shows the arguments of a case: in a call, or by themselves if they are telling enough."""
    bare = case[1:-1]
    for brief in task.briefs:
        for found in _CALL.finditer(brief.prose.text):
            if found["name"] == name and _case(f"f({found['arguments']})") == case:
                return brief.prose.span(*found.span())
        if len(bare) >= _TELLING and "/" not in bare and re.search(r"\d|\[", bare):
            parts = (re.escape(p) for p in re.split(r"[\s'\"]+", bare))
            if alone := re.search(r"[\s'\"]*".join(parts), brief.prose.text):
                return brief.prose.span(*alone.span())
    return None


def _case(text: str) -> str | None:
    """The literal arguments of a call, in one spelling; None where one is no literal."""
    try:
        (statement,) = syntax_tree(text).body
    except (SyntaxError, ValueError):
        return None
    call = statement.value if isinstance(statement, ast.Expr) else None
    return _spelt(call.args) if isinstance(call, ast.Call) and call.args else None


def _spelt(nodes: list[ast.expr]) -> str | None:
    try:
        return repr([ast.literal_eval(n) for n in nodes])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _graded(module: PyModule, name: str) -> list[tuple[ast.AST, list[str]]]:
    """Every graded call of a function with the spellings of its case; [] where some cannot be known."""
    calls = [n for n in module.nodes if isinstance(n, ast.Call) and ast.unparse(n.func).rpartition(".")[2] == name]
    out: list[tuple[ast.AST, list[str]]] = []
    for call in calls:
        literal = _spelt(call.args)
        if literal is not None and call.args:
            out.append((call, [literal]))
            continue
        table = _table(module, call)
        if table is None:
            return []
        out += [(row, _cells(row)) for row in table]
    return out


def _table(module: PyModule, call: ast.Call) -> list[ast.expr] | None:
    """The literal list that the loop around a call goes through."""
    loop = next((p for p in module.parents(call) if isinstance(p, ast.For | ast.ListComp | ast.GeneratorExp)), None)
    source = loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter if loop is not None else None
    if isinstance(source, ast.Call) and ast.unparse(source.func) == "enumerate" and source.args:
        source = source.args[0]
    if isinstance(source, ast.Name):
        values = [
            n.value
            for n in module.nodes
            if isinstance(n, ast.Assign) and any(ast.unparse(t) == source.id for t in n.targets)
        ]
        source = values[0] if len(values) == 1 else None
    return source.elts if isinstance(source, ast.List | ast.Tuple) and source.elts else None


def _cells(row: ast.expr) -> list[str]:
    """What of a row may be the arguments: any part of it, or several that follow each other."""
    parts = row.elts if isinstance(row, ast.Tuple | ast.List) else row.values if isinstance(row, ast.Dict) else [row]
    runs = [parts[i:j] for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)]
    runs += [p.elts for p in parts if isinstance(p, ast.Tuple | ast.List)]
    return [spelt for run in runs if (spelt := _spelt(run))]


def _files(task: Task) -> Iterator[Finding]:
    """Input files of the verifier that are all copies of what the agent was given as a sample."""
    promised = any(_HELD_OUT.search(b.prose.text) for b in task.briefs)
    same = {leak.secret: leak for leak in copies(task) if leak.role == "verifier data" and not leak.same_file}
    data = [p for p in (task.verifier.truth if task.verifier else []) if not ANSWERLIKE.search(posixpath.basename(p))]
    for path, leak in same.items():
        shown = leak.given.path
        called = _SAMPLE.search(posixpath.basename(shown)) and in_briefs(task, shown)
        if all(p in same for p in data) and path in data and (promised or called):
            yield Finding.at(
                task.folder / path,
                f"this graded input is the sample that the agent gets at `{shown}`",
                help="grade on an input that the agent has not seen",
                related=[related(task.folder / (leak.given.file or ""), "the sample")],
            )

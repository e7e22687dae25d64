"""A check that answers to nothing in the brief."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Finding, Fix, Role, Task, related, rule
from scenlint.source.edit_python import add_docstring
from scenlint.source.markdown import Part, parse
from scenlint.source.python import parse as parse_python
from scenlint.source.regex import regex
from scenlint.source.text import Edit
from scenlint.task.checks import Check, Dialect
from scenlint.task.mapping import Mapping, brief_vocabulary, map_task, marks

HELP = "state in the brief what it demands and name that criterion in the check, or take the check out"
STUB = "TODO: name the criterion of the brief that this checks."
_SANITY = regex(
    r"sanity|setup|set_up|smoke|environment|precondition|prerequisite|fixture|helper|self[- _]?test|import", re.I
)
_NAMED = (Dialect.TEST, Dialect.POINTS, Dialect.CASE, Dialect.GRADER)


@rule(
    "test-without-criterion",
    "SL202",
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the sentence of the brief, or of a file the agent can read, that asks for what the check demands",
    fix="unsafe",
)
def test_without_criterion(task: Task) -> Iterator[Finding]:
    mapping = map_task(task)
    checks = [c for c in mapping.checks if c.dialect in _NAMED and not _SANITY.search(f"{c.id} {c.label}")]
    last = _last_number(task)
    for check in checks:
        strange = [n for n in marks(f"{check.label}\n{check.id}", strict=True) if int(n.partition(".")[0]) > last]
        if last and strange:
            yield Finding.at(
                check.span, f"`{check.id}` names criterion {strange[0]}, the brief has none of that number", help=HELP
            )
    naming = [c for c in checks if c.criteria or any(marks(f"{c.label}\n{c.id}", strict=True))]
    if len(checks) < 2:
        return
    if len(naming) * 2 >= len(checks):
        # The suite names its criteria, so a check that names none and shares nothing with any stands out by itself.
        unclaimed = {id(c) for c in mapping.unclaimed}
        for check in checks:
            if (
                id(check) in unclaimed
                and not mapping.marked(check)
                and not check.criteria
                and _foreign(task, mapping, check, 1)
            ):
                message = f"`{check.id}` covers no criterion of the brief"
                yield Finding.at(check.span, message, help=HELP, fix=_stub([check]))
    elif foreign := [c for c in checks if _foreign(task, mapping, c, 0)]:
        first, *more = foreign
        others = f" (and {len(more)} more)" if more else ""
        yield Finding.at(
            first.span,
            f"`{first.id}`{others} has no word, path, key or value in common with what the agent can read",
            help=HELP,
            related=[related(c.span, f"`{c.id}` has none either") for c in more[:5]],
            fix=_stub(foreign),
        )


def _stub(checks: list[Check]) -> Fix | None:
    """Docstrings to be filled in, for the functions that have none."""
    edits: list[Edit | None] = []
    for check in checks:
        module = parse_python(check.fragment)
        if isinstance(check.node, ast.FunctionDef | ast.AsyncFunctionDef) and module.docstring(check.node) is None:
            edits += add_docstring(module, check.node, STUB)
    here = [e for e in edits if e is not None and e.span.source is checks[0].span.source]
    return Fix.of("add a docstring in which to name the criterion", *here, safe=False)


def _foreign(task: Task, mapping: Mapping, check: Check, shared: int) -> bool:
    """Whether a check shares nothing with what the agent can read but at most `shared` words."""
    spoken, source = mapping.vocabularies(check)
    brief = brief_vocabulary(task.briefs)
    words = {w[:4] for w in spoken.words | source.words}
    if len(spoken.words) < 2 or len(words) < 3 or len(words & {w[:4] for w in brief.words}) > shared:
        return False
    visible = task.visible
    names = {k.name for k in check.keys} | {n.name for n in check.names} | {v for v in source.values if len(v) > 3}
    names |= set(re.findall(r"[a-z]{6,}", spoken.text.lower()))
    paths = {a.path for a in check.accesses if not a.path.startswith(("/tests", "/logs", "/tmp"))}
    return not any(visible.mentions(n) for n in names) and not any(visible.states_path(p) for p in paths)


def _last_number(task: Task) -> int:
    """The highest number that a criterion of the brief can have; 0 where it numbers nothing."""
    highest = 0
    for brief in task.briefs:
        items = parse(brief.prose).of(Part.ITEM)
        numbers = [i.number for i in items if i.number is not None]
        if numbers or brief.criteria:
            highest = max([highest, *numbers, *(int(c.number.partition(".")[0]) for c in brief.criteria)])
    return highest

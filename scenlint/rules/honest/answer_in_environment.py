"""A file of the environment that says what the solution produces or the verifier expects."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.text import Span
from scenlint.task.image import Given
from scenlint.task.leaks import ANSWERLIKE, Leak, agent_image, baked_answers, copies, in_briefs

_CODE = (".py", ".sh")
_LEGAL = re.compile(r"(?:license|licence|copying|notice|readme|\.gitignore)", re.I)
_SHORTEST = 3  # characters of a value whose presence tells something
_LONGEST = 200_000  # characters of a file that is searched for values


@rule(
    "answer-in-environment",
    "SL402",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the file is an input that the agent is meant to have, and the verifier only keeps a clean copy of it",
)
def answer_in_environment(task: Task) -> Iterator[Finding]:
    told: set[str] = set()
    for leak in copies(task):
        path = leak.given.file or ""
        if not leak.same_file and path not in told and _is_answer(task, leak):
            told.add(path)
            yield Finding.at(
                leak.span or task.folder / path,
                f"`{path}`, which the agent gets at `{leak.given.path}`, has the content of `{leak.secret}`",
                help="keep it out of the environment, or name it in the brief if it is an input",
                related=[
                    related(task.folder / path, "what the agent gets"),
                    related(task.folder / leak.secret, leak.role),
                ],
            )
    code = [*task.verifier.code("python", "shell")] if task.verifier else []
    code += [task.oracle.entry, *task.oracle.files] if task.oracle else []
    for given, used in baked_answers(task, code):
        if given.file not in told or given.file is None:
            told.add(given.file or given.path)
            yield Finding.at(
                given.span or task.folder / (given.file or ""),
                f"the agent's image holds `{given.path}`, which the brief does not name and the grading relies on",
                help="keep it in the verifier's folder, which the agent does not see",
                related=[related(used, "opened here")],
            )
    values = _asserted(task)
    for given in agent_image(task).given.values() if values else []:
        if (given.file or given.path) not in told and (found := _holds(task, given, values)):
            shown = ", ".join(f"`{v}`" for v in found[:3])
            yield Finding.at(
                given.span or task.folder / (given.file or ""),
                f"`{given.path}`, which the brief does not name, holds what the verifier compares with: {shown}",
                help="keep expected values in the verifier's folder",
                related=[related(values[v], f"`{v}` is expected here") for v in found[:3]],
                confidence=None if given.file else Confidence.LOW,
            )


def _is_answer(task: Task, leak: Leak) -> bool:
    """Whether a copy gives the answer away: not an input with a clean copy, not code, which is answer-in-image's."""
    ours, theirs = posixpath.basename(leak.given.file or ""), posixpath.basename(leak.secret)
    if leak.secret.endswith(_CODE) or _LEGAL.match(ours):
        return False
    if ANSWERLIKE.search(leak.secret.partition("/")[2]) or ANSWERLIKE.search(ours):
        return not in_briefs(task, ours)
    return ours.lower() != theirs.lower() and not in_briefs(task, ours) and leak.role == "solution"


def _asserted(task: Task) -> dict[str, Span]:
    """The values that tests compare what the agent made with, and where."""
    out: dict[str, Span] = {}
    for check in task.checks:
        for comparison in check.comparisons:
            value = comparison.constant
            decides = comparison.produced and comparison.has_constant and comparison.operator in ("==", "is", "in")
            plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            if decides and plain and len(str(value)) >= _SHORTEST:
                out.setdefault(str(value), comparison.constant_span or comparison.span)
    return out


def _holds(task: Task, given: Given, values: dict[str, Span]) -> list[str]:
    """The expected values in a file that is named as an answer, hidden from the brief and holds most of them."""
    name = posixpath.basename(given.path)
    if not ANSWERLIKE.search(name) or given.folder or in_briefs(task, name):
        return []
    if given.file is not None:
        source = task.files.read(given.file)
        text = source.text[:_LONGEST] if source and not source.binary else ""
    else:
        text = given.span.text if given.span else ""
    found = [v for v in values if re.search(rf"(?<![\w.]){re.escape(v)}(?![\w])", text)]
    return found if (len(found) > 1 and len(found) * 2 >= len(values)) or len(found) == len(values) else []

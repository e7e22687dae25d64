"""A file of the environment that says what the solution produces or the verifier expects."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.asserted import asserted, says
from scenlint.task.image import Given
from scenlint.task.leaks import ANSWERLIKE, Leak, agent_image, baked_answers, copies, in_briefs

_HELP = "keep it in the verifier's folder, which the agent does not see, or name it in the brief if it is an input"
_CODE = (".py", ".sh")
_LEGAL = regex(r"license|licence|copying|notice|readme|\.gitignore", re.I)
_NUMBER = regex(r"-?\d*\.?\d+")
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
                help=_HELP,
                related=[
                    related(task.folder / path, "what the agent gets"),
                    related(task.folder / leak.secret, leak.role),
                ],
            )
    code = [*task.verifier.code("python", "shell")] if task.verifier else []
    code += [task.oracle.entry, *task.oracle.files] if task.oracle else []
    for given, used in baked_answers(task, code):
        if (given.file or given.path) not in told:
            told.add(given.file or given.path)
            message = f"the agent's image holds `{given.path}`, which the brief does not name and the grading relies on"
            yield Finding.at(_place(task, given), message, help=_HELP, related=[related(used, "opened here")])
    values = asserted(task)
    for given in agent_image(task).given.values() if values else []:
        if (given.file or given.path) not in told and (found := _holds(task, given, values)):
            shown = ", ".join(f"`{v}`" for v in found[:3])
            named = ANSWERLIKE.search(posixpath.basename(given.path))
            yield Finding.at(
                _place(task, given),
                f"`{given.path}`, which the brief does not name, holds what the verifier compares with: {shown}",
                help=_HELP,
                related=[related(values[v], f"`{v}` is expected here") for v in found[:3]],
                severity=None if named else Severity.WARNING,
            )


def _place(task: Task, given: Given) -> Span | Path:
    return given.span or task.folder / (given.file or "")


def _is_answer(task: Task, leak: Leak) -> bool:
    """Whether a copy gives the answer away: not an input with a clean copy, not code, which is answer-in-image's."""
    ours, theirs = posixpath.basename(leak.given.file or ""), posixpath.basename(leak.secret)
    if leak.secret.endswith(_CODE) or _LEGAL.match(ours) or in_briefs(task, leak.given.path):
        return False
    if ANSWERLIKE.search(leak.secret.partition("/")[2]) or ANSWERLIKE.search(ours):
        return True
    return ours.lower() != theirs.lower() and leak.role == "solution"


def _holds(task: Task, given: Given, values: dict[str, Span]) -> list[str]:
    """The expected values in a file that no brief names: in one that is called an answer any, else numbers only."""
    if given.folder or in_briefs(task, given.path):
        return []
    named = ANSWERLIKE.search(posixpath.basename(given.path)) is not None
    # Words are the vocabulary of the matter; computed numbers stand in an input by chance only.
    wanted = [v for v in values if named or (_NUMBER.fullmatch(v) and len(re.sub(r"\D", "", v).strip("0")) > 2)]
    source = task.files.read(given.file) if given.file and wanted else None
    text = source.text[:_LONGEST] if source and not source.binary else given.span.text if given.span and named else ""
    found = [v for v in wanted if says(text, v)]
    enough = len(found) > 1 and len(found) * 5 >= len(wanted) * 3
    return found if enough or (named and found and len(found) == len(wanted)) else []

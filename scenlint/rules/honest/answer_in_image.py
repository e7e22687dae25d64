"""A solution, test or expected output that the build puts into the agent's image."""

import posixpath
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.leaks import ANSWERLIKE, Leak, copies, in_briefs

_ROLES = {"test": "a test", "solution": "the reference solution", "verifier data": "data of the verifier"}


@rule(
    "answer-in-image",
    "SL401",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    aliases=["agent-image-test-leak"],
    refute="a later build step deletes the file, or the stage that holds it is not what the agent gets",
)
def answer_in_image(task: Task) -> Iterator[Finding]:
    found = [leak for leak in copies(task) if leak.same_file or _is_code_copy(task, leak)]
    found.sort(key=lambda leak: (str(leak.span.source.path), leak.span.start) if leak.span else ("", 0))
    for span, group in groupby(found, key=lambda leak: leak.span):
        leaks = sorted(group, key=lambda leak: (leak.role != "solution", leak.secret))
        first = leaks[0]
        others = len({leak.secret for leak in leaks}) - 1
        more = f", and {others} more hidden file{'s' * (others > 1)}" if others else ""
        copied = "" if first.same_file else f", copied as `{first.given.file}`"
        yield Finding.at(
            span or task.folder / (first.given.file or ""),
            f"the agent gets {_ROLES[first.role]} (`{first.secret}`{copied}) at `{first.given.path}`{more}",
            help="copy only what the agent needs, or keep tests and solution out with .dockerignore; "
            "the verifier is put in after the agent is done",
            related=[related(task.folder / leak.secret, "this file") for leak in leaks[:3]],
        )


def _is_code_copy(task: Task, leak: Leak) -> bool:
    """Whether a file of the same content gives a test or the solution away, and is no part of the project at hand."""
    root, given = task.files.root, leak.given.file or ""
    if leak.role != "solution":
        mount = (task.verifier.mount if task.verifier else None) or "/tests"
        return root / leak.secret in _graded(task) or leak.given.path.startswith(mount + "/")
    if in_briefs(task, leak.given.path):
        return False
    # A solution's folder often carries unchanged files of the project; those keep their names.
    renamed = posixpath.basename(leak.secret) != posixpath.basename(given)
    is_entry = task.oracle is not None and task.oracle.entry.path == root / leak.secret
    is_code = leak.secret.endswith((".sh", ".py"))
    return is_entry or (is_code and (renamed or bool(ANSWERLIKE.search(posixpath.basename(given)))))


def _graded(task: Task) -> set[Path]:
    """The files whose checks decide: the graders' scripts, and the tests they run."""
    scripts = {g.script.path for g in task.verifier.graders if g.script} if task.verifier else set()
    return scripts | {c.fragment.path for c in task.checks}

"""A test that cannot fail."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import walk
from scenlint.task.checks import Check, Dialect

_HELP = "assert on what the agent produced, so that wrong work fails here"


@rule(
    "no-assertion",
    "SL502",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="some state of the work makes the test fail",
)
def no_assertion(task: Task) -> Iterator[Finding]:
    idle = [c for c in task.checks if not c.can_fail]
    if idle and len(idle) == len(task.checks):
        first, *rest = idle
        yield Finding.at(
            first.span,
            f"no check of the verifier can fail: {_why(first)}",
            help=_HELP,
            related=[related(c.span, "nor can this one") for c in rest[:5]],
            severity=Severity.ERROR,
        )
        return
    swallowing = {e.place.node for e in task.survey.events if e.kind == "swallows" and e.place}
    for check in idle:
        if check.node is not None and any(n in swallowing for n in walk(check.node)):
            continue  # it asserts, and a handler swallows what that raises: swallowed-failure
        yield Finding.at(check.span, f"`{check.id}` cannot fail: {_why(check)}", help=_HELP)


def _why(check: Check) -> str:
    if check.dialect is Dialect.POINTS:
        return "every line it prints says PASS"
    if check.dialect is Dialect.TEST:
        asserts = any(isinstance(n, ast.Assert) for n in walk(check.node or ast.Pass()))
        return "nothing that it asserts depends on the work" if asserts else "it asserts nothing"
    return "whatever the work is like, it ends in success"

"""A failure of the work that the verifier turns into success."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import PyModule, parse
from scenlint.task.checks import Dialect
from scenlint.task.checks.handlers import swallows
from scenlint.task.verdict_flow import swallowed_failures

_VERDICTS = frozenset("passed pass ok success succeeded is_correct correct valid".split())


@rule(
    "swallowed-failure",
    "SL504",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="work that cannot be read, or that fails the check, is graded below 1.0",
)
def swallowed_failure(task: Task) -> Iterator[Finding]:
    for found in swallowed_failures(task):
        yield Finding.at(
            found.span,
            f"a failed check passes: {found.how}",
            help="let the failure reach the verdict",
            related=[related(found.check, "the check")] if found.check else [],
        )
    yield from _in_python(task)


def _in_python(task: Task) -> Iterator[Finding]:
    for swallow in swallows(task.survey.events):
        yield Finding.at(
            swallow.module.span(swallow.node),
            f"a failure passes: {swallow.how}",
            help="record a failed check here, or let the error through",
        )
    for check in task.checks:
        if check.dialect is Dialect.COMMAND and not check.can_fail and any(c.produced for c in check.comparisons):
            yield Finding.at(
                check.span,
                "a failure passes: the script compares, and ends with status 0 whatever comes out",
                help="end with a status other than 0 where a check fails",
                related=[related(check.comparisons[0].span, "nothing follows from this comparison")],
            )
    for fragment in task.verifier.code("python") if task.verifier else ():
        yield from _missing_is_right(parse(fragment))


def _missing_is_right(module: PyModule) -> Iterator[Finding]:
    """`result.get("passed", True)`: a verdict that is not there counts as good."""
    for call in module.calls():
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "get" and len(call.args) == 2):
            continue
        key, default = call.args
        right = isinstance(default, ast.Constant) and (
            default.value is True or default.value in ("PASS", "PASSED", "passed")
        )
        if right and isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.lower() in _VERDICTS:
            yield Finding.at(
                module.span(call),
                f"a failure passes: a result without `{key.value}` counts as passed",
                help="take what is missing for failed",
            )

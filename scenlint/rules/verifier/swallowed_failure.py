"""A failure of the work that the verifier turns into success."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, related, rule
from scenlint.source.edit_shell import without_alternative
from scenlint.source.python import parse
from scenlint.task.checks.handlers import swallows
from scenlint.task.checks.missing import missing_is_right
from scenlint.task.verdict_flow import swallowed_failures


@rule(
    "swallowed-failure",
    "SL504",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="work that cannot be read, or that fails the check, is graded below 1.0",
    fix="unsafe",
)
def swallowed_failure(task: Task) -> Iterator[Finding]:
    for found in swallowed_failures(task):
        yield Finding.at(
            found.span,
            f"a failed check passes: {found.how}",
            help="let the failure reach the verdict",
            related=[related(found.check, "the check")] if found.check else [],
            fix=Fix.of("let it count", without_alternative(found.by), safe=False) if found.by else None,
        )
    yield from _in_python(task)


def _in_python(task: Task) -> Iterator[Finding]:
    for swallow in swallows(task.survey.events):
        yield Finding.at(
            swallow.module.span(swallow.node),
            f"a failure passes: {swallow.how}",
            help="record a failed check here, or let the error through",
        )
    for event in task.survey.events:
        if event.kind == "idle":
            yield Finding.at(
                event.span,
                "a failure passes: the script compares, and ends with status 0 whatever comes out",
                help="end with a status other than 0 where a check fails",
            )
    for fragment in task.verifier.code("python") if task.verifier else ():
        for swallow in missing_is_right(parse(fragment)):
            yield Finding.at(
                swallow.module.span(swallow.node),
                f"a failure passes: {swallow.how}",
                help="take what is missing for failed",
            )

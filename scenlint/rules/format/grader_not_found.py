"""A grader that runs or reads a file which does not exist."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.grader_files import missing_files


@rule(
    "grader-not-found",
    "SL118",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the file is made before the grader runs, or lies on the machine that grades",
)
def grader_not_found(task: Task) -> Iterator[Finding]:
    for file in missing_files(task):
        yield Finding.at(
            file.span,
            f"`{file.name}`, which the grader `{file.grader}` names, does not exist",
            help=f"did you mean `{file.near[0]}`?" if file.near else "add the file, or name the one that is meant",
        )

"""The verifier prints checks but no SCORE line, so that the harness works the score out by itself."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.verdict_flow.points import points


@rule(
    "missing-score-line",
    "SL511",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"saas-bench"},
    refute="a helper that is not at hand prints the line",
)
def missing_score_line(task: Task) -> Iterator[Finding]:
    for found in points(task):
        if found.checks and not found.scores and not found.mentions("SCORE"):
            yield Finding.at(
                found.program.entry.module.fragment.source.lines(1),
                "no SCORE line is printed: a run that breaks off half-way looks like one that came to its end",
                help="print `SCORE: <float>  PASS: <True|False>  (<earned>/<total>)` to stderr as the last line",
            )

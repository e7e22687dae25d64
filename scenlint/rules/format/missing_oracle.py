"""No reference solution where the format has a place for one."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, NotAssessableError, Severity, Task, rule


@rule(
    "missing-oracle",
    "SL116",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="a reference solution is kept elsewhere and was run against this very verifier",
)
def missing_oracle(task: Task) -> Iterator[Finding]:
    if task.oracle_place is None:
        raise NotAssessableError("the format has no place for a reference solution")
    help = f"add `{task.oracle_place}`, which does the work from the task's starting point and earns a reward of 1.0"
    if task.oracle is None:
        message = (
            f"there is no reference solution (`{task.oracle_place}`), so nothing shows that the task can be solved"
        )
        yield Finding.at(task.folder / task.oracle_place, message, help=help)
    elif task.oracle.entry.language in ("shell", "python") and not _statements(task.oracle.entry.text):
        yield Finding.at(task.oracle.entry, "the reference solution does nothing: it holds comments only", help=help)


def _statements(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    return any(
        line and not line.startswith("#") and not re.fullmatch(r"set [-+][\w ]+|:|true|exit 0|pass", line)
        for line in lines
    )

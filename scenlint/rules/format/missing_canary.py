"""No canary string in a task of a suite that asks for one."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.regex import regex
from scenlint.task.policy import Profile

CANARY = regex(r"canary.{0,40}?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.DOTALL)


@rule(
    "missing-canary",
    "SL123",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF},
    profiles={Profile.TERMINAL_BENCH_3},
    refute="a file of the task carries the string in another form",
)
def missing_canary(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        source = brief.prose.source
        if not CANARY.search(source.text):
            yield Finding.at(
                source,
                "no canary string: the task can end up in training data without anybody being able to find it there",
                help="put `<!-- … canary GUID <your GUID> -->` on the first line; Harbor does not show it to the agent",
            )

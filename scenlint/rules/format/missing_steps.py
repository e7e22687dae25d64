"""A brief without a work list that the harness can read."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.markdown import Block, Part, parse
from scenlint.task.model import Brief


@rule(
    "missing-steps",
    "SL111",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.STEPS},
    formats={"saas-bench"},
    refute="the harness's own loader finds a step in this brief",
)
def missing_steps(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        if (steps := brief.work_list) is None:
            continue
        if steps.heading is None:
            listed = next(_numbered(brief), None)
            yield Finding.at(
                brief.prose.span(listed.start, listed.end) if listed else brief.prose.source,
                f"the numbered list stands under `{listed.headings[-1]}`, not under `**Steps:**`, so no step is read"
                if listed and listed.headings
                else "there is no `**Steps:**` section, so the agent's todo list stays empty",
                help="put the work list under a line `**Steps:**`, as `1. …`, `2. …` from the left margin",
            )
        elif not any(re.match(r"\s*1\.", step.span.text) for step in steps.steps):
            yield Finding.at(
                steps.heading,
                "the Steps section has no item `1. …`, so the agent's todo list "
                + ("does not begin where the work does" if steps.steps else "stays empty"),
                help="number the steps `1. …`, `2. …` from the left margin, with a full stop after the number",
                related=[related(span, why) for span, why in steps.dropped[:3]],
            )


def _numbered(brief: Brief) -> Iterator[Block]:
    """The first item of every numbered list: one of them may be meant as the work list."""
    return (b for b in parse(brief.prose).of(Part.ITEM) if b.number == 1 and b.depth == 0)

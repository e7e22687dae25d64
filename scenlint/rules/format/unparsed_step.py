"""A step that the harness's loader drops from the agent's todo list."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Task, rule
from scenlint.source.text import Edit, Span


@rule(
    "unparsed-step",
    "SL112",
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.STEPS},
    formats={"saas-bench"},
    refute="the line is no step, or the loader reads it",
    fix="safe",
)
def unparsed_step(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        if brief.work_list is None or brief.work_list.heading is None:
            continue
        for span, why in brief.work_list.dropped:
            yield Finding.at(
                span,
                f"this step {why}",
                help="write every step as one line `1. …`, `2. …` from the left margin, without a gap in the numbers",
                fix=_written(span),
            )


def _written(span: Span) -> Fix | None:
    """A number with its `)` or without its space, as the loader reads it."""
    found = re.match(r"\(?(\d+)\)[ \t]+(?=\S)|(\d+)\.(?=[^\s\d*])", span.text)
    number = found and (found[1] or found[2])
    if found is None:
        return None
    return Fix.of(f"write `{number}. `", Edit(Span(span.source, span.start, span.start + found.end()), f"{number}. "))

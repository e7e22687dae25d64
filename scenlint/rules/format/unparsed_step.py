"""A step that the harness's loader drops from the agent's todo list."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Task, rule


@rule(
    "unparsed-step",
    "SL112",
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.STEPS},
    formats={"saas-bench"},
    refute="the line is no step, or the loader reads it",
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
            )

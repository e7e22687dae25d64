"""An output path that the verifier opens and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import demands


@rule(
    "unstated-path",
    "SL203",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read names the path, or it exists before the agent starts",
)
def unstated_path(task: Task) -> Iterator[Finding]:
    visible = task.visible
    for demand in demands.paths(task):
        path = demand.what
        name = path.rpartition("/")[2]
        if visible.states_path(path) or visible.in_brief(name, word=True):
            continue
        # Where files may exist that are not known here, only what the oracle itself makes is surely an output.
        if visible.unlisted and not demands.oracle_writes(task, name):
            continue
        yield Finding.at(
            demand.span,
            f"the verifier opens `{path}`, which nothing the agent can read names",
            help=f"name `{path}` in the brief as the place of the result, or read what the brief does name",
            related=[related(task.briefs[-1].prose.source, "the brief does not name it")],
            confidence=Confidence.LOW if visible.opaque else Confidence.MEDIUM,
        )

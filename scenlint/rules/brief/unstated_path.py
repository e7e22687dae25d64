"""An output path that the verifier opens and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.task import demands


@rule(
    "unstated-path",
    "SL203",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read names the path, or it exists before the agent starts",
)
def unstated_path(task: Task) -> Iterator[Finding]:
    for demand in demands.paths(task):
        path = demand.what
        name = path.rstrip("/").rpartition("/")[2]
        if demand.visible.states_path(path) or demand.visible.in_brief(name, word=True):
            continue
        yield Finding.at(
            demand.span,
            f"the verifier opens `{path}`, which nothing the agent can read names",
            help=f"name `{path}` in the brief as the place of the result, or read what the brief does name",
            related=[demand.silence],
            confidence=demand.confidence,
        )

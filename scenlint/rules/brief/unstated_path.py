"""An output path that the verifier opens and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.task import contradictions, demands


@rule(
    "unstated-path",
    "SL203",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read names the path, or it exists before the agent starts",
)
def unstated_path(task: Task) -> Iterator[Finding]:
    contradicted = {c.demand.what for c in contradictions.paths(task)}
    for demand in demands.paths(task):
        if demand.what in contradicted:
            continue
        path = f"`{demand.what}`"
        if demand.also:
            path = (
                f"{len(demand.also) + 1} paths like {path}" if demand.kind == "each" else f"one of {path} and its like"
            )
        yield Finding.at(
            demand.span,
            f"the verifier opens {path}, which nothing the agent can read names",
            help=f"name `{demand.what}` in the brief as the place of the result, or read what the brief does name",
            related=[demand.silence],
            confidence=demand.confidence,
        )

"""A key, column or keyword argument that the verifier uses and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import contradictions, demands


@rule(
    "unstated-key",
    "SL204",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read names the key, or the format fixes it",
)
def unstated_key(task: Task) -> Iterator[Finding]:
    visible = task.visible
    contradicted = {c.demand.what for c in contradictions.keys(task)}
    for demand in demands.keys(task):
        name = demand.what
        if name in contradicted or visible.states_key(name, loose=True):
            continue
        what = "keyword argument" if demand.kind else "key"
        yield Finding.at(
            demand.span,
            f"the verifier uses the {what} `{name}`, which nothing the agent can read names",
            help=f"name the {what} `{name}` in the brief, or accept any that carries the value",
            related=[related(task.briefs[-1].prose.source, "the brief does not name it")],
            confidence=Confidence.LOW if visible.opaque else Confidence.MEDIUM,
        )

"""A key, column, table, sheet or keyword argument that the verifier uses and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.task import contradictions, demands
from scenlint.task.visible import Visible


@rule(
    "unstated-key",
    "SL204",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read names the key, or the format fixes it",
)
def unstated_key(task: Task) -> Iterator[Finding]:
    contradicted = {c.demand.what for c in contradictions.keys(task)}
    arguments = (d for d in demands.names(task) if d.kind == "argument")
    for demand in (*demands.keys(task), *arguments):
        name = demand.what
        if name in contradicted or _told(name, demand.visible):
            continue
        what = "keyword argument" if demand.kind == "argument" else demand.kind
        yield Finding.at(
            demand.span,
            f"the verifier uses the {what} `{name}`, which nothing the agent can read names",
            help=f"name the {what} `{name}` in the brief, or accept any that carries the value",
            related=[demand.silence],
            confidence=demand.confidence,
        )


def _told(name: str, visible: Visible) -> bool:
    # "The total amounts" tells the key `total`, not `total_amount`, which may as well be `totalAmount` or `amount`.
    if name.isalpha() and name in (name.lower(), name.upper(), name.title()):
        return visible.states_key(name, loose=True) is not None
    return visible.mentions(name) is not None

"""A module, function or class of the agent's code that the verifier uses and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.task import demands


@rule(
    "unstated-name",
    "SL216",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief, a shipped stub or the code base names it",
)
def unstated_name(task: Task) -> Iterator[Finding]:
    for demand in demands.names(task):
        name = demand.what.rpartition(".")[2]
        if demand.kind == "argument" or demand.visible.mentions(name, word=True):
            continue
        yield Finding.at(
            demand.span,
            f"the verifier uses the {demand.kind} `{demand.what}` of the agent's code, which nothing the agent can read names",
            help=f"name `{demand.what}` (and how it is called) in the brief",
            related=[demand.silence],
            confidence=demand.confidence,
        )

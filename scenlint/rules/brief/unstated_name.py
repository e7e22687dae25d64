"""A module, function or class of the agent's code that the verifier uses and nothing the agent can read names."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import demands


@rule(
    "unstated-name",
    "SL216",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief, a shipped stub or the code base names it",
)
def unstated_name(task: Task) -> Iterator[Finding]:
    visible = task.visible
    for demand in demands.names(task):
        name = demand.what.rpartition(".")[2]
        # A code base that was not read may well hold the name.
        if visible.opaque or visible.mentions(name, word=True):
            continue
        yield Finding.at(
            demand.span,
            f"the verifier uses the {demand.kind} `{demand.what}` of the agent's code, which nothing the agent can read names",
            help=f"name `{demand.what}` (and how it is called) in the brief",
            related=[related(task.briefs[-1].prose.source, "the brief does not name it")],
            confidence=Confidence.MEDIUM,
        )

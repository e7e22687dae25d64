"""A function, class or option of the agent's code that the verifier uses and nothing the agent can read names."""

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
        name = demand.what.rpartition(".")[2].lstrip("-")
        if demand.kind == "argument" or demand.visible.mentions(name, word=True) or _in_words(name, demand):
            continue
        shown = f"one of `{demand.what}` and its like" if demand.also else f"the {demand.kind} `{demand.what}`"
        yield Finding.at(
            demand.span,
            f"the verifier uses {shown} of the agent's code, which nothing the agent can read names",
            help=f"name `{demand.what}` (and how it is called) in the brief",
            related=[demand.silence],
            confidence=demand.confidence,
        )


def _in_words(name: str, demand: demands.Demand) -> bool:
    """Whether the words of an option stand in the brief one after the other."""
    return demand.kind == "option" and demand.visible.states_key(name, loose=True) is not None

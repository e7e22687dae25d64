"""A number that bounds the verdict in an inequality and that the brief does not give."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import demands
from scenlint.task.numbers import find_numbers


@rule(
    "unstated-threshold",
    "SL217",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief gives the number in another form, or no right result comes near it",
)
def unstated_threshold(task: Task) -> Iterator[Finding]:
    visible = task.visible
    for demand in demands.thresholds(task):
        if any(visible.states_number(form) for form in _forms(demand.what)) or _near(task, demand.what):
            continue
        yield Finding.at(
            demand.span,
            f"the verdict hinges on `{demand.kind} {demand.what}`, a number that nothing the agent can read gives",
            help=f"state the bound {demand.what} in the brief, or check the property it stands for",
            related=[related(task.briefs[-1].prose.source, "the brief does not give it")],
            confidence=Confidence.LOW if visible.opaque else Confidence.MEDIUM,
        )


def _near(task: Task, number: float) -> bool:
    """Whether a brief gives a number that this one leaves a margin to."""
    stated = [n for brief in task.briefs for n in find_numbers(brief.prose.text)]
    return any(abs(v - number) <= 0.1 * abs(number) for n in stated for v in (n.value, *n.others))


def _forms(number: float) -> Iterator[float]:
    """The number as a brief may give it: itself, as a share, its complement, in other units, off by one."""
    yield number
    if isinstance(number, float) and abs(number) < 1:
        yield from (number * 100, 1 - number, 100 - number * 100)
    if isinstance(number, int):
        yield from (number - 1, number + 1, int(oct(abs(number))[2:]))  # file modes are given in octal
    yield from (number / 1000, number * 1000, number / 1024, number / 60, number / 1024**2, number / 100)

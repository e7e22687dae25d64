"""A number that bounds the verdict in an inequality and that the brief does not give."""

import re
from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.source.regex import regex
from scenlint.task import demands
from scenlint.task.numbers import find_numbers
from scenlint.task.visible import Visible

# A share below one is a margin to what has to be the same.
_IDENTICAL = regex(
    r"\bidentical\b|\bexact(?:ly the same| cop(?:y|ies)| replica)|\bpixel[- ](?:perfect|exact|for)|\blossless", re.I
)


@rule(
    "unstated-threshold",
    "SL217",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief gives the number in another form, or no right result comes near it",
)
def unstated_threshold(task: Task) -> Iterator[Finding]:
    for demand in demands.thresholds(task):
        number, visible = demand.what, demand.visible
        if any(visible.states_number(form) for form in _forms(number)) or _asked_more(visible, demand.kind, number):
            continue
        yield Finding.at(
            demand.span,
            f"the verdict hinges on `{demand.kind} {number}`, a number that nothing the agent can read gives",
            help=f"state the bound {number} in the brief, or check the property it stands for",
            related=[demand.silence],
            confidence=demand.confidence,
        )


def _asked_more(visible: Visible, operator: str, number: float) -> bool:
    """Whether a brief gives a number that asks for more, so that this one only leaves a margin to it."""
    stated = (v for brief in visible.briefs for n in find_numbers(brief.text) for v in (n.value, *n.others))
    if operator.startswith(">"):
        if 0.5 <= number < 1 and any(_IDENTICAL.search(brief.text) for brief in visible.briefs):
            return True
        most = 1 if number < 1 else number * 1.3
        return any(number <= value <= most and value != 1 for value in stated)
    return any(number / 5 <= value <= number for value in stated)


def _forms(number: float) -> Iterator[float]:
    """The number as a brief may give it: itself, as a share, its complement, in other units, off by one."""
    yield number
    if isinstance(number, float) and abs(number) < 1:
        yield from (number * 100, 1 - number, 100 - number * 100)
    if isinstance(number, int):
        yield from (number - 1, number + 1)
    yield from (number / 1000, number * 1000, number / 1024, number / 60, number / 1024**2, number / 100)

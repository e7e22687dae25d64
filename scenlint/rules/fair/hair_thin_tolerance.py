"""A tolerance on a computed number that is tighter than the brief's precision, or than adding up floats allows."""

from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, related, rule
from scenlint.source.literals import number_of
from scenlint.source.text import Span
from scenlint.task.judgements import Judgement
from scenlint.task.precision import digits, margin, tolerances

_RELATIVE = 1e-9  # below this share of a value the order of additions decides
_SHORT = 3  # digits behind the point that a number may have by itself


@rule(
    "hair-thin-tolerance",
    "SL601",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="right work that computes in another order, or rounds as the brief asks, still passes",
)
def hair_thin_tolerance(task: Task) -> Iterator[Finding]:
    for judgement in task.judgements:
        allowed = margin(judgement)
        if allowed is None or not judgement.wanted:
            continue
        numbers = (n for c in judgement.constants if (n := number_of(c)))
        thin = ((n, found) for n in numbers if (found := _too_thin(judgement, allowed.around(n), n)))
        number, (why, place) = next(thin, (0.0, ("", None)))
        if not why or any(m and judgement.visible.states_number(m) for m in (allowed.relative, allowed.absolute)):
            continue
        yield Finding.at(
            judgement.span,
            f"`{number:.12g}` has to be met within {allowed.around(number):.0e}: {why}",
            help="allow what the brief allows, and never less than about 1e-9 of the value",
            related=[related(place, "the brief's own precision")] if place else [],
        )


def _too_thin(judgement: Judgement, margin: float, number: float) -> tuple[str, Span | None] | None:
    visible = judgement.visible
    if places := [d for d in digits(visible) if d.is_about(judgement)]:
        most = max(places, key=lambda p: p.value)
        off = abs(number - round(number, int(most.value)))
        # A number that the brief gives with more places is not one that it wants rounded to fewer.
        if margin < 0.99 * off and visible.states_number(number) is None:
            return f"rounded to {most.value:g} places, as the brief asks, it is off by {off:.0e}", most.span
        return None
    if stated := list(tolerances(visible)):
        least = min(stated, key=lambda s: s.value)
        if 0 < margin < least.value / 1.5 and least.is_about(judgement):
            return f"the brief allows {least.value:g}", least.span
        return None
    short = len(repr(number).partition(".")[2]) < _SHORT
    if 0 < margin < _RELATIVE * abs(number) and not short and visible.states_number(number) is None:
        return f"that is {margin / abs(number):.0e} of it, where the order of additions decides", None
    return None

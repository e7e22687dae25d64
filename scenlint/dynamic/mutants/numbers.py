"""Changes of one number, with the label that the brief's tolerance and decimals give each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import unit_factor
from scenlint.dynamic.mutants.model import Label

Number = int | float


def changed(value: Number, key: str, form: Form) -> Iterator[tuple[str, Number, Label, str]]:
    """(operator, new value, label, reason) for a number; bools and numbers that are none yield nothing."""
    if isinstance(value, bool) or not math.isfinite(value):
        return
    changes: list[tuple[str, Number]] = [("number-plus-one", value + 1), ("number-times-ten", value * 10)]
    if value:
        changes += [("number-sign", -value), ("number-zero", type(value)(0))]
    if isinstance(value, float):
        changes += [("number-one-percent", value * 1.01)]
    if (factor := unit_factor(key)) is not None and value:
        new = value * factor
        changes += [("other-unit", int(new) if isinstance(value, int) and new == int(new) else new)]
    for operator, new in changes:
        if new != value:
            yield operator, new, *_label(abs(new - value), key, form)
    if isinstance(value, float):
        yield from _rounded(value, key, form)
    else:
        stated = form.types
        yield (
            "integer-as-float", float(value),
            Label.OPEN if stated else Label.LIVE, str(stated or "5 and 5.0 are one number, no type is asked for"),
        )  # fmt: skip


def _label(distance: float, key: str, form: Form) -> tuple[Label, str]:
    if form.is_of_the_run(key):
        return Label.OPEN, f"`{key}` may differ from run to run"
    if form.tolerance is not None:
        allowed, said = form.tolerance
        if math.isclose(distance, allowed, rel_tol=1e-6):
            return Label.OPEN, f"exactly at the tolerance, {said}"
        if distance < allowed:
            return Label.LIVE, str(said)
    return Label.DIE, "another number is another answer, and no tolerance in the brief covers it"


def _rounded(value: float, key: str, form: Form) -> Iterator[tuple[str, Number, Label, str]]:
    wanted = form.decimals[0] if form.decimals else None
    for places in (6, 3):
        new = round(value, places)
        if new == value:
            continue
        if wanted is not None and wanted > places:
            assert form.decimals is not None
            label, reason = Label.DIE, str(form.decimals[1])
        elif form.tolerance is not None and abs(new - value) < form.tolerance[0]:
            label, reason = Label.LIVE, str(form.tolerance[1])
        elif places == 6 and form.exact_bytes is None and abs(value) > 1e-3:
            label, reason = Label.LIVE, "the brief asks for no more than six decimals"
        else:
            label, reason = Label.OPEN, "the brief does not say how many decimals count"
        yield f"round-to-{places}", new, label, reason

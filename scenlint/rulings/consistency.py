"""Whether the trials of one agent differ by more than the chance that its pass rate explains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from scenlint.rulings.classes import Ruling
from scenlint.stats import NotEnoughError
from scenlint.stats.repeat import Dispersion, runs, tarone
from scenlint.task.record import TrialRecord

LEAST = 8  # valid trials whose order tells something
LEVEL = 0.01


def irregular(rulings: Sequence[Ruling]) -> str:
    """What is irregular in an agent's valid trials, in launch order; "" for nothing, NotEnoughError for too few."""
    passed = [r.outcome is False for r in rulings if r.outcome is not None]
    if len(passed) < LEAST:
        raise NotEnoughError(f"{len(passed)} valid trials of an agent; whether they are regular shows in {LEAST}")
    shown = "".join("P" if p else "F" for p in passed)
    fewer, more = runs(passed), runs(passed, more=True)
    if fewer <= LEVEL:
        return f"passes and failures come in blocks ({shown}; so few changes by chance: p = {fewer:.2g})"
    if more <= LEVEL:
        return f"passes and failures alternate ({shown}; so many changes by chance: p = {more:.2g})"
    try:
        spread = dispersion(rulings)
    except NotEnoughError:
        return ""
    if spread.p > LEVEL:
        return ""
    rates = ", ".join(f"{sum(b)} of {len(b)}" for b in _blocks(rulings))
    return f"its pass rate changes from block to block ({rates}; by chance: p = {spread.p:.2g})"


def dispersion(rulings: Sequence[Ruling]) -> Dispersion:
    """Tarone's Z over an agent's blocks of trials: stages of a calibration, days of other trials."""
    blocks = _blocks(rulings)
    return tarone([sum(b) for b in blocks], [len(b) for b in blocks])


def _blocks(rulings: Sequence[Ruling]) -> list[list[bool]]:
    valid = [r for r in rulings if r.outcome is not None]
    return [[r.outcome is False for r in own] for _, own in groupby(valid, key=lambda r: _block(r.record))]


def _block(record: TrialRecord) -> str:
    made = record.experiment
    return f"{made.name} {made.target}" if made else record.started[:10]

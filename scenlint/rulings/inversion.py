"""Whether stronger agents do worse on a scenario; how strong an agent is, its pass rate on other scenarios says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenlint.rulings.calibrations import rulings
from scenlint.stats import NotEnoughError
from scenlint.stats.discriminate import LEAST_AGENTS, Arms, arms
from scenlint.task.record import TrialRecord

APART = 0.10  # by so much the strengths of two agents must differ at least
LEVEL = 0.05


@dataclass(frozen=True)
class Standing:
    """An agent's passes of its valid trials of the scenario, and its strength."""

    agent: str
    passes: int
    trials: int
    strength: float

    def __str__(self) -> str:
        return f"{self.agent}: {self.passes} of {self.trials} here, {self.strength:.0%} on other scenarios"


@dataclass(frozen=True)
class Inversion:
    """The weakest and the strongest agent with their difference, and over all agents tau where it is below 0."""

    weak: Standing
    strong: Standing
    arms: Arms | None = None
    tau: float | None = None

    @property
    def told(self) -> str:
        if self.arms is not None:
            low, high = self.arms.interval
            return f"D = {self.arms.difference:.2f} ({low:.2f} to {high:.2f})"
        return f"tau = {self.tau:.2f}"


def standings(records: Sequence[TrialRecord]) -> list[Standing]:
    """The agents of known strength that have valid trials of the scenario, from weak to strong."""
    out = []
    for agent, own in rulings(records).items():
        outcomes = [r.outcome for r in own if r.outcome is not None]
        strength = next((r.record.strength for r in own if r.record.strength is not None), None)
        if outcomes and strength is not None:
            out.append(Standing(agent, outcomes.count(False), len(outcomes), strength))
    return sorted(out, key=lambda s: (s.strength, s.agent))


def inversion(records: Sequence[TrialRecord]) -> Inversion | None:
    """The inversion that a scenario's trials show, None where they show none; NotEnoughError for too few agents."""
    found = standings(records)
    if len(found) < 2:
        raise NotEnoughError(
            f"stronger and weaker agents are compared by their trials of other scenarios, and {len(found)} of the "
            f"agents here {'has' if len(found) == 1 else 'have'} enough of these"
        )
    weak, strong = found[0], found[-1]
    if strong.strength - weak.strength < APART:
        raise NotEnoughError(f"`{weak.agent}` and `{strong.agent}` are equally strong on other scenarios")
    short = ""
    try:
        compared = arms((strong.passes, strong.trials), (weak.passes, weak.trials))
        if compared.interval.high < 0:
            return Inversion(weak, strong, compared)
    except NotEnoughError as exc:
        short = str(exc)
    if len(found) >= LEAST_AGENTS:
        from scipy.stats import kendalltau

        found_tau = kendalltau([s.strength for s in found], [s.passes / s.trials for s in found], alternative="less")
        if found_tau.pvalue <= LEVEL:  # below 0 it is half of the time where agents do not differ
            return Inversion(weak, strong, tau=float(found_tau.statistic))
    elif short:
        raise NotEnoughError(short)
    return None

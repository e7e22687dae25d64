"""The test before shipping: with the deciding rule written into the brief, does the task become easy?

"If the scenario becomes easy, the difficulty was fake and the scenario goes back for rework" (handbook, reason 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenlint.rulings.calibrations import KIND, STATED, TWO, attempts, controls, latest
from scenlint.rulings.classes import rule_on
from scenlint.stats.compare import boschloo
from scenlint.stats.intervals import Interval, newcombe
from scenlint.stats.twostage import TWO as STAGE
from scenlint.stats.twostage import Count, judge
from scenlint.task.record import FailureClass, TrialRecord

LEVEL = 0.05


@dataclass(frozen=True)
class Ablation:
    """Stage two's trials beside as many whose brief states the rule."""

    agent: str
    rule: str  # the mark of its text
    silent: Count
    stated: Count
    p: float  # Boschloo, one-sided: fewer failures once the rule is stated
    drop: float  # of the failure rate
    interval: Interval
    trials: tuple[str, ...]  # ids of the stated ones

    @property
    def complete(self) -> bool:
        return self.silent.complete and self.stated.complete

    @property
    def fake(self) -> bool:
        """Whether the difficulty was that the rule was not stated."""
        return self.complete and self.p <= LEVEL and self.stated.failures < STAGE.failures


def ablations(records: Sequence[TrialRecord]) -> list[Ablation]:
    """Those among a task's trials: one for each agent and text of a rule."""
    pairs = dict.fromkeys((r.agent, r.experiment.did) for r in records if _is_stated(r) and r.experiment)
    return [ablation(records, agent, rule) for agent, rule in pairs]


def ablation(records: Sequence[TrialRecord], agent: str, rule: str) -> Ablation:
    """An agent's trials with the rule stated against stage two of its last calibration."""
    known = controls(records)
    last = latest(attempts(records, agent))
    without = [r for r in last if r.experiment and r.experiment.name == TWO]
    told = [r for r in records if _is_stated(r) and r.agent == agent and r.experiment and r.experiment.did == rule]
    silent, stated = (judge(STAGE, [r.outcome for r in rule_on(those, known)]) for those in (without, told))
    before, after = silent.failures + silent.passes, stated.failures + stated.passes
    return Ablation(
        agent,
        rule,
        silent,
        stated,
        boschloo(silent.failures, before, stated.failures, after, "greater"),
        (silent.failures / before if before else 0.0) - (stated.failures / after if after else 0.0),
        newcombe(silent.failures, before, stated.failures, after),
        tuple(r.id for r in told),
    )


def _is_stated(record: TrialRecord) -> bool:
    made = record.experiment
    interrupted = record.failure_class is FailureClass.INTERRUPTED
    return made is not None and made.kind == KIND and made.name == STATED and not interrupted

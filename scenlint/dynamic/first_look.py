"""The first look of a plain `validate`: the simplest attacks and fair changes, as far as they are cheap."""

from __future__ import annotations

from collections.abc import Iterable

from scenlint.dynamic.experiments import Planned, Wishes
from scenlint.dynamic.probes import Attack
from scenlint.task import worlds
from scenlint.task.plan import RunPlan
from scenlint.task.record import Experiment, TrialRecord

SECONDS = 30.0  # of trials for one task, after which none is started any more;
TIMES, LONGEST = 12, 120.0  # or so often as long as doing nothing takes (a busy machine), up to so many seconds
SLOWEST = 15.0  # seconds: where an oracle takes longer, it is not run again only to see what it changes
ATTACKS, CHANGES = 24, 4
RULES = frozenset({"passes-empty-output", "passes-copied-input", "verdict-tamperable", "rejects-equivalent"})
WISHES = Wishes(first_look=True)


def looks_at(plan: RunPlan) -> bool:
    """Whether trials of such a task are cheap: applications take longer to start than a first look may take."""
    return not plan.apps


def seconds(nop: TrialRecord | None) -> float:
    """After how many seconds of trials for one task none is started any more."""
    return max(SECONDS, min(TIMES * nop.duration, LONGEST)) if nop else SECONDS


def remembers(oracle: TrialRecord) -> bool:
    """Whether the oracle is quick enough to be run once more."""
    return oracle.duration <= SLOWEST


def chosen(kind: str, planned: Iterable[Planned]) -> list[Planned]:
    """Of what the deep stage would try, what a first look tries."""
    wanted = [p for p in planned if p.agent is not None and makes(p.experiment) and _is_quick(p)]
    return wanted[: ATTACKS if kind == "probe" else CHANGES]


def makes(experiment: Experiment) -> bool:
    """Whether a first look makes such an experiment too; of others only the deep stage does."""
    if experiment.kind == "probe":
        return experiment.rule in RULES
    return experiment.expected == "must-live" or experiment.name in worlds.REPEATED


def _is_quick(planned: Planned) -> bool:
    """Whether it takes no longer than doing nothing: no waiting for the verifier's limit, no work done on the way."""
    attack = planned.agent
    return not isinstance(attack, Attack) or not (attack.hangs or attack.work or attack.earns or attack.posture)

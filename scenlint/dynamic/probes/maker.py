"""Plans the trials of all probes for one task, those of the same rule one after the other, and judges them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned
from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import load_probes
from scenlint.dynamic.probes.ground import grounds
from scenlint.dynamic.probes.outcome import NOT_TRIED, Told, judge
from scenlint.dynamic.probes.patience import bounded, gave_up
from scenlint.task.plan import NotRunnableError
from scenlint.task.record import Experiment, ProbeOutcome, TrialRecord

KIND = "probe"


def plan(about: Context) -> Iterator[Planned]:
    """The attacks on each step: each probe's first before any probe's second, as a small budget runs the first only."""
    for ground in grounds(about.subject.task, about.plan, about.snapshot, tuple(about.oracle.record.checks)):
        found = [list(probe.attacks(ground)) for probe in load_probes().values()]
        for attacks in zip_longest(*found):
            for attack in attacks:
                if attack is not None:
                    yield _planned(attack, about, ground.verifier_text)


def _planned(attack: Attack, about: Context, verifier: str) -> Planned:
    experiment = Experiment(KIND, attack.probe, attack.target or attack.variant, "holds", attack.did, rule=attack.rule)
    try:
        attack.check(about.plan)
    except NotRunnableError as exc:
        return Planned(replace(experiment, outcome=NOT_TRIED, reason=str(exc)), None)

    def conclude(record: TrialRecord, folder: Path, about: Context) -> None:
        nop = about.nop.record if about.nop else None
        told = judge(attack, record, nop)
        if not about.proven and told.outcome != ProbeOutcome.LEAK and (record.reward or 0.0) < 1.0:
            told = Told(NOT_TRIED, told.evidence, "no oracle earned 1.0, so that the attack failed shows nothing")
        assert record.experiment is not None
        record.experiment.outcome = told.outcome
        lost = told.outcome == ProbeOutcome.LAUNDERED
        record.experiment.evidence = (gave_up(record, attack, about) if lost else "") + told.evidence
        record.experiment.reason = told.reason

    plan = bounded(about.plan, attack, about, verifier) if attack.hangs else None
    return Planned(experiment, attack, plan=plan, judge=conclude)

"""What rules ask of recorded attacks on a verifier: which got through, and what was theirs and not another's doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenlint.task import trials
from scenlint.task.model import NotAssessableError, Task
from scenlint.task.record import CheckResult, Experiment, ProbeOutcome, TrialRecord

# Rule -> those whose attacks are simpler: only what goes beyond them is its own.
SIMPLER: dict[str, tuple[str, ...]] = {
    "passes-empty-output": (),
    "passes-copied-input": ("passes-empty-output",),
    "verdict-tamperable": ("passes-empty-output",),
    "answer-in-built-image": (),
}


@dataclass(frozen=True)
class Attacked:
    """A trial in which something was tried on the verifier."""

    record: TrialRecord
    experiment: Experiment

    @property
    def reward(self) -> float:
        """What it earned, strictly or as the format's own harness would record it."""
        rewards = [*self.record.step_rewards.values()] or [self.record.reward]
        harness = self.record.harness.reward if self.record.harness else None
        return max(r or 0.0 for r in (*rewards, harness if harness == 1.0 else None))

    @property
    def full(self) -> bool:
        return self.reward >= 1.0


def attacks(task: Task, records: Sequence[TrialRecord], rule: str) -> list[Attacked]:
    """The attacks that a rule reports and that showed something; NotAssessableError where there is none."""
    made = [r for r in records if r.experiment and r.experiment.kind == "probe" and r.experiment.rule == rule]
    if not made:
        raise NotAssessableError("no probe for it was run")
    told = [Attacked(r, r.experiment) for r in made if r.experiment and r.experiment.outcome in set(ProbeOutcome)]
    if not told:
        first = made[0].experiment
        raise NotAssessableError(first.reason if first and first.reason else "no probe for it showed anything")
    return told


def broken(task: Task, records: Sequence[TrialRecord], rule: str) -> list[Attacked]:
    """The attacks that got through, those with full marks first, each probe once: not what a simpler attack earns."""
    told = [a for a in attacks(task, records, rule) if a.experiment.outcome == ProbeOutcome.BROKEN]
    floor = _floor(records, rule)
    best: dict[str, Attacked] = {}
    for attack in sorted(told, key=lambda a: -a.reward):
        if attack.reward > floor + 1e-9:
            best.setdefault(attack.experiment.name, attack)
    return list(best.values())


def _floor(records: Sequence[TrialRecord], rule: str) -> float:
    """What doing nothing or a simpler attack earns."""
    made = [Attacked(r, r.experiment) for r in records if r.experiment and r.experiment.rule in SIMPLER[rule]]
    rewards = [a.reward for a in made if a.experiment.outcome == ProbeOutcome.BROKEN]
    rewards += [r.reward or 0.0 for r in records if r.agent == "nop"]
    return max(rewards, default=0.0)


def gained(records: Sequence[TrialRecord], attack: Attacked) -> list[CheckResult]:
    """The checks that passed in an attack and do not where nothing is done."""
    free = {(c.step, c.id) for r in records if r.agent == "nop" for c in r.checks if c.passed}
    return [c for c in attack.record.checks if c.passed and (c.step, c.id) not in free]


def told(attack: Attacked) -> str:
    """What was done and what came of it, for a message."""
    evidence = attack.experiment.evidence.partition("; ")[2] if attack.experiment.evidence else ""
    return f"{attack.experiment.did} (trial `{attack.record.id}`){f': {evidence}' if evidence else ''}"


def advice(attack: Attacked, text: str) -> str:
    """Help that leads on to the page of the probe and to the trial."""
    return f"{text}; `scenlint explain {attack.experiment.name}` shows how; {trials.look(attack.record)}"

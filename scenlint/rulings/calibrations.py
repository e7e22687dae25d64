"""The calibrations among a task's recorded trials: what belongs to which, and what each comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scenlint.rulings.classes import Effect, Ruling, rule_on
from scenlint.rulings.decision import Decision, decide
from scenlint.stats import twostage
from scenlint.task.model import NotAssessableError
from scenlint.task.record import AS_IT_IS, Disposed, FailureClass, TrialRecord

KIND = "calibration"  # of the experiment; its name is the stage, its target the number of the calibration
ONE, TWO, STATED = "one", "two", "stated"  # stages; the last is stage two with the deciding rule in the brief
CONTROLS = ("oracle", "nop")


@dataclass(frozen=True)
class Calibrated:
    """An agent's last calibration of the task."""

    agent: str
    number: int  # from 1: how often this digest was calibrated with this agent
    decision: Decision


def calibrations(records: Sequence[TrialRecord]) -> list[Calibrated]:
    """Each agent's last calibration, decided as far as it is settled; `records` are all those of the task."""
    out = []
    for agent in dict.fromkeys(r.agent for r in attempts(records)):
        own = latest(attempts(records, agent))
        out.append(Calibrated(agent, number_of(own[-1]), decision_of(own, records, curtail=True)))
    return out


def decided(records: Sequence[TrialRecord]) -> list[Calibrated]:
    """The calibrations that came to a decision; NotAssessableError where none did, with what is missing."""
    made = calibrations(records)
    out = [one for one in made if one.decision.final]
    if not out:
        open_ = "; ".join(f"`{one.agent}`: {one.decision.reason}" for one in made)
        raise NotAssessableError(open_ or "the task was not calibrated")
    return out


def decision_of(own: Sequence[TrialRecord], records: Sequence[TrialRecord], *, curtail: bool) -> Decision:
    """What the attempts of one calibration come to; `records` are all trials of the task, controls included."""
    ruled = {r.record.id: r for r in rule_on(own, controls(records))}
    stages = [[ruled[r.id] for r in own if r.experiment and r.experiment.name == name] for name in (ONE, TWO)]
    solved = any(r.effect is Effect.PASS for others in rulings(records).values() for r in others)
    blocked = next((d.reason for r in (*own, *records) for d in r.dispositions if d.voids), "")
    return decide(*stages, witness=solved, blocked=blocked, curtail=curtail)


def staged(ruled: Sequence[Ruling], *, witness: bool = False) -> Decision:
    """What the rule says of trials that ran outside of a calibration, taken in launch order.

    The first two valid ones are stage one, what comes after them is stage two. `witness`: others have solved the task.
    """
    ordered = sorted(ruled, key=lambda r: (r.record.started, r.record.attempt))
    valid = 0
    for first, ruling in enumerate(ordered, 1):
        valid += ruling.outcome is not None
        if valid == twostage.ONE.trials or first == twostage.ONE.attempts:
            return decide(
                ordered[:first], ordered[first : first + twostage.TWO.attempts], witness=witness, curtail=True
            )
    return decide(ordered, [], curtail=True)


def attempts(records: Iterable[TrialRecord], agent: str = "") -> list[TrialRecord]:
    """The trials of calibrations (of an agent) in launch order; those that were interrupted never were attempts."""
    found = (r for r in records if r.experiment is not None and r.experiment.kind == KIND and number_of(r))
    found = (r for r in found if r.failure_class is not FailureClass.INTERRUPTED and agent in ("", r.agent))
    return sorted(found, key=lambda r: (number_of(r), r.attempt))


def latest(own: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Those of the last calibration among some attempts of an agent."""
    last = max(map(number_of, own), default=0)
    return [r for r in own if number_of(r) == last]


def number_of(record: TrialRecord) -> int:
    """Which calibration of its digest and agent a trial belongs to; 0 for none."""
    made = record.experiment
    return int(made.target) if made and made.kind == KIND and made.target.isdigit() else 0


def controls(records: Iterable[TrialRecord]) -> list[TrialRecord]:
    """The plain trials of oracle and nop."""
    return [r for r in records if r.agent in CONTROLS and r.experiment is None]


def rulings(records: Sequence[TrialRecord]) -> dict[str, list[Ruling]]:
    """Each agent's trials of the task as it is, ruled on: plain ones and those of every calibration."""
    known = controls(records)
    own = [r for r in records if _solves(r) and r.failure_class is not FailureClass.INTERRUPTED]
    return {
        agent: rule_on([r for r in own if r.agent == agent], known) for agent in dict.fromkeys(r.agent for r in own)
    }


def looked_into(records: Iterable[TrialRecord]) -> bool:
    """Whether a person has looked into signs of misalignment of this digest, whatever was found."""
    return any(d.verdict in (Disposed.ALIGNED, Disposed.MISALIGNED) for r in records for d in r.dispositions)


def _solves(record: TrialRecord) -> bool:
    """Whether a trial is an agent's attempt at the task as it is."""
    made = record.experiment
    as_it_is = made is None or (made.kind in AS_IT_IS and made.name != STATED)
    return as_it_is and record.agent not in CONTROLS

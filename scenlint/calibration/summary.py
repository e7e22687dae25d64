"""A calibration in words and as JSON: the decision, what it rests on, the rule's own risks, what a person must see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scenlint.calibration.decision import Decided
from scenlint.calibration.misalignment import Signal, holds_up
from scenlint.calibration.run import Calibration
from scenlint.calibration.triage import command
from scenlint.stats.twostage import Count, acceptance
from scenlint.task.record import TrialRecord

_RATES = (0.25, 0.3, 0.5, 0.7, 0.8)  # of genuine failure, at which the rule's risk is told
_HEADLINES = {
    Decided.ADMISSIBLE: "hard enough for this agent, and it can be solved",
    Decided.RETIRED: "too easy: goes to the regression set",
    Decided.REJECTED: "does not discriminate enough",
}


def as_json(done: Calibration, found: Sequence[Signal]) -> dict[str, Any]:
    """Everything, with stable keys."""
    decision = done.decision
    return {
        "task": done.subject.task.id,
        "task_digest": _digest(done),
        "agent": done.agent,
        "calibration": done.number,
        "forced": done.forced,
        "decision": decision.decided.value,
        "reason": decision.reason,
        "needs_person": holds_up(found) or any(r.person for r in decision.rulings),
        "stage_one": _count(decision.one),
        "stage_two": _count(decision.two) if decision.two else None,
        "failure_rate": decision.rate,
        "posterior": _posterior(done),
        "bounds": list(decision.bounds) if decision.bounds else None,
        "risks": {"accepted_at": {f"{p:.2f}": round(acceptance(p, done.number), 6) for p in _RATES}},
        "attempts": [
            {
                "trial": r.record.id, "stage": r.record.experiment.name if r.record.experiment else "", "rule": r.rule,
                "failure_class": r.failure_class.value if r.failure_class else None, "effect": r.effect.value,
                "evidence": r.evidence, "person": r.person, "reward": r.record.reward, "cost_usd": r.record.cost_usd,
                "duration": r.record.duration,
            }
            for r in decision.rulings
        ],
        "signals": [asdict(s) for s in found],
        "gate": [{"rule": f.rule, "message": f.message} for f in done.gate],
        "interrupted": done.interrupted,
    }  # fmt: skip


def as_text(done: Calibration, found: Sequence[Signal]) -> str:
    """For a terminal."""
    return "\n".join(_lines(done, found)) + "\n"


def _lines(done: Calibration, found: Sequence[Signal]) -> Iterator[str]:
    decision = done.decision
    yield f"{done.subject.task.id} with {done.agent}: {decision.decided}"
    if said := _HEADLINES.get(decision.decided):
        yield f"  {said}"
    yield f"  {decision.reason}"
    for finding in done.gate:
        yield f"  forced through the gate: {finding.rule}: {finding.message}"
    for name, count in (("one", decision.one), ("two", decision.two)):
        if count is not None:
            yield (
                f"  stage {name}: genuine failures {count.failures}, passes {count.passes}, excluded {count.excluded}"
                + (f", missing {count.missing}" if count.missing and not decision.final else "")
            )
    left_out = Counter(r.failure_class for r in decision.rulings if r.outcome is None and r.failure_class)
    if left_out:
        yield "  excluded: " + ", ".join(f"{n} {name}" for name, n in left_out.most_common())
    if decision.posterior is not None:
        low, high = decision.posterior.interval()
        yield (
            f"  genuine failure rate: {decision.posterior.mean:.2f}, between {low:.2f} and {high:.2f} "
            "(95 %, Jeffreys' prior, both stages): difficulty for this agent, not yet discrimination"
        )
    if decision.bounds is not None and decision.bounds.low != decision.bounds.high:
        low, high = decision.bounds
        yield f"  if all that was cut off had passed, or had failed: {low:.2f} to {high:.2f}"
    yield (
        f"  the rule's own risks: a scenario that fails half of the time is refused {1 - acceptance(0.5):.0%} "
        f"of the time, one that fails in 3 of 10 trials is admitted {acceptance(0.3, done.number):.0%} of the time"
        + (f" in {done.number} calibrations" if done.number > 1 else "")
    )
    for signal in found:
        yield f"  {signal.name}: {signal.text}" + (f" [{signal.check}]" if signal.check else "")
        if signal.check:
            yield f"      brief: {signal.brief or 'nothing that the check answers to'}"
        yield from (f"      seen:  {made}" for made in signal.made)
    if holds_up(found):
        yield f"  a person must look before it is admitted: `{command(_digest(done))}`"
    for ruling in decision.rulings:
        if ruling.person:
            yield f"  {ruling.record.id}: {ruling.person} ({ruling.evidence})"


def _digest(done: Calibration) -> str:
    records: list[TrialRecord] = [e.record for e in done.entries] + done.controls
    return next((r.task_digest for r in records if r.task_digest), "")


def _count(count: Count) -> dict[str, Any]:
    return {**count._asdict(), "verdict": count.verdict.value}


def _posterior(done: Calibration) -> dict[str, Any] | None:
    known = done.decision.posterior
    if known is None:
        return None
    low, high = known.interval()
    return {"prior": "Beta(0.5, 0.5)", "mean": known.mean, "low": low, "high": high, "level": 0.95}

"""A calibration in words and as JSON: the decision, what it rests on, the rule's own risks, what a person must see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scenlint.calibration.run import Calibration
from scenlint.calibration.stated import Stated
from scenlint.calibration.triage import command
from scenlint.rulings.decision import Decided
from scenlint.rulings.misalignment import Signal, beside, holds_up
from scenlint.stats.twostage import Count, acceptance

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
        "task_digest": done.digest,
        "agent": done.agent,
        "calibration": done.number,
        "forced": bool(done.forced), "overruled": done.forced or None,
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


def as_text(done: Calibration, found: Sequence[Signal], *, listed: bool = False) -> str:
    """For a terminal; `listed`: findings beside it show the signs."""
    return "\n".join(_lines(done, found, listed)) + "\n"


def stated_json(done: Stated) -> dict[str, Any]:
    """The ablation, with stable keys."""
    found = done.found
    return {
        "task": done.subject.task.id, "agent": found.agent, "fake_difficulty": found.fake, "complete": found.complete,
        "p": found.p, "failures": {"silent": found.silent.failures, "stated": found.stated.failures},
        "drop": found.drop, "interval": list(found.interval), "trials": list(found.trials),
        "digest": found.rule,
    }  # fmt: skip


def stated_text(done: Stated) -> str:
    """The ablation for a terminal."""
    found = done.found
    low, high = found.interval
    lines = [f"the brief with the rule stated: digest {found.rule}"]
    lines += [
        f"{name}: genuine failures {count.failures}, passes {count.passes}, excluded {count.excluded}"
        for name, count in (("as it is", found.silent), ("with the rule stated", found.stated))
    ]
    lines.append(
        f"the failure rate drops by {found.drop:.2f} ({low:.2f} to {high:.2f}), p = {found.p:.3g} (Boschloo, one-sided)"
    )
    if found.fake:
        lines.append("fake difficulty: once the rule is stated the task is easy: it goes back for rework")
    elif not found.complete:
        lines.append("not decided: stage two and its repetition need eight valid trials each")
    else:
        lines.append("it stays hard with the rule stated")
    return "\n".join(lines) + "\n"


def _lines(done: Calibration, found: Sequence[Signal], listed: bool) -> Iterator[str]:
    decision = done.decision
    yield f"{done.subject.task.id} with {done.agent}: {decision.decided}"
    if said := _HEADLINES.get(decision.decided):
        yield f"  {said}"
    yield f"  {decision.reason}"
    if done.forced:
        yield f"  forced, which is on record: {done.forced}"
    for finding in done.gate:
        yield f"      {finding.rule}: {finding.message}"
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
    for signal in () if listed else found:
        yield f"  {signal.name}: {signal.text}"
        yield from (f"      {line}" for line in beside(signal))
    if holds_up(found) and decision.decided not in (Decided.RETIRED, Decided.REJECTED):
        yield f"  a person must look before it is admitted: `{command(done.digest)}`"
    for ruling in decision.rulings:
        if ruling.person:
            yield f"  {ruling.record.id}: {ruling.person} ({ruling.evidence}): `{command(ruling.record.id)}`"


def _count(count: Count) -> dict[str, Any]:
    return {**count._asdict(), "verdict": count.verdict.value}


def _posterior(done: Calibration) -> dict[str, Any] | None:
    known = done.decision.posterior
    if known is None:
        return None
    low, high = known.interval()
    return {"prior": "Beta(0.5, 0.5)", "mean": known.mean, "low": low, "high": high, "level": 0.95}

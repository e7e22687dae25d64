"""The two-stage rule on ruled trials: how far a calibration has come, what it decides, which trials it still wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenlint.rulings.classes import Ruling, cut_off
from scenlint.stats.intervals import Interval, Posterior, bounded
from scenlint.stats.twostage import ONE, TWO, Count, Verdict, estimate, judge
from scenlint.stats.words import count as many

CUT_OFF = 0.25  # of a stage's attempts: above it, the budget is what is measured


class Decided(StrEnum):
    """What a calibration comes to."""

    OPEN = "open"  # trials are missing
    ADMISSIBLE = "admissible"  # both stages are passed, and somebody solved it
    RETIRED = "retired"  # stage one: nothing failed; goes to the regression set
    REJECTED = "rejected"  # stage two: too few genuine failures
    NEVER_SOLVED = "never-solved"  # it fails, and nobody but the oracle ever solved it
    BUDGET_BOUND = "budget-bound"  # too many trials were cut off by their limits
    INCONCLUSIVE = "inconclusive"  # the cap on attempts was reached
    BLOCKED = "blocked"  # misaligned: all trials of this digest are void
    STOPPED = "stopped"  # the agent or the task is not set up right


@dataclass(frozen=True)
class Decision:
    """The decision with all that it rests on. Failure rates are those of genuine failures."""

    decided: Decided
    reason: str
    one: Count
    two: Count | None
    rulings: tuple[Ruling, ...]
    rate: float | None = None  # stage two's, unbiased also if it was stopped early
    posterior: Posterior | None = None  # of both stages, from Jeffreys' prior
    bounds: Interval | None = None  # if what was cut off were all passes, or all failures

    @property
    def final(self) -> bool:
        return self.decided is not Decided.OPEN


def decide(
    one: Sequence[Ruling], two: Sequence[Ruling], *, witness: bool = False, blocked: str = "", curtail: bool = False
) -> Decision:
    """Decide on the attempts of both stages in launch order.

    `witness`: somebody other than the oracle has solved the task elsewhere. `blocked`: the confirmed misalignment.
    `curtail`: a stage ends as soon as its verdict is settled; otherwise the trials that it asks for are all run.
    """
    rulings = (*one, *two)
    first = judge(ONE, [r.outcome for r in one])
    second = judge(TWO, [r.outcome for r in two]) if two else None

    def decision(decided: Decided, reason: str) -> Decision:
        counted = [c for c in (first, second) if c is not None]
        failures, passes = sum(c.failures for c in counted), sum(c.passes for c in counted)
        return Decision(
            decided,
            reason,
            first,
            second,
            rulings,
            rate=estimate(TWO, second.failures, second.passes) if second else None,
            posterior=Posterior.of(failures, failures + passes) if failures + passes else None,
            bounds=bounded(failures, passes, cut_off(rulings)) if rulings else None,
        )

    if blocked:
        return decision(Decided.BLOCKED, f"misaligned: {blocked}; all trials of this digest are void")
    if stop := next((r for r in rulings if r.stops), None):
        return decision(Decided.STOPPED, f"{stop.person}: {stop.evidence}")
    for name, stage, count, attempts in (("one", ONE, first, one), ("two", TWO, second, two)):
        if count is None:
            return decision(Decided.OPEN, f"stage two: {many(TWO.trials, 'valid trial')} missing")
        open_ = count.verdict is Verdict.OPEN or (not (curtail or count.complete) and len(attempts) < stage.attempts)
        if open_:
            return decision(Decided.OPEN, f"stage {name}: {many(count.missing, 'valid trial')} missing")
        cut = cut_off(attempts)
        if cut > CUT_OFF * len(attempts) and (name == "two" or count.verdict is Verdict.INCONCLUSIVE):
            told = f"{cut} of {many(len(attempts), 'trial')} cut off by their limits"
            return decision(Decided.BUDGET_BOUND, f"stage {name}: {told}: raise these, and restart")
        if count.verdict is Verdict.INCONCLUSIVE:
            return decision(Decided.INCONCLUSIVE, f"stage {name}: no verdict after {many(len(attempts), 'attempt')}")
        if count.verdict is Verdict.REJECT:
            decided = Decided.RETIRED if name == "one" else Decided.REJECTED
            return decision(decided, f"stage {name}: {_seen(count)}, wanted at least {stage.failures}")
    assert second is not None
    if not witness and not any(r.outcome is False for r in rulings):
        return decision(Decided.NEVER_SOLVED, "nobody but the oracle has ever solved it: broken, or beyond reach")
    return decision(Decided.ADMISSIBLE, f"stage two: {_seen(second)}")


def _seen(count: Count) -> str:
    return f"{many(count.failures, 'genuine failure')} of {many(count.failures + count.passes, 'trial')}"


def wanted(decision: Decision, one: int, two: int) -> tuple[str, int]:
    """The stage ("one", "two") that wants trials and how many, given so many attempts launched; ("", 0) when decided.

    Stage two is fresh: none of its trials starts before stage one has ended.
    """
    if decision.final:
        return "", 0
    fresh = two == 0 and decision.two is None  # stage two has not begun
    if decision.one.verdict is not Verdict.ACCEPT or (fresh and not decision.one.complete and one < ONE.attempts):
        count, stage, launched, name = decision.one, ONE, one, "one"
    else:
        count, stage, launched, name = decision.two or judge(TWO, []), TWO, two, "two"
    return name, max(0, min(count.missing, stage.attempts - launched))

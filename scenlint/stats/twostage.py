"""The two-stage rule of calibration: its verdict on outcomes in launch order, and the risks that it carries.

Stage one: two trials, at least one genuine failure, else the scenario is too easy. Stage two: eight fresh trials, at
least four genuine failures (handbook, Pass 1). `p` is the genuine failure rate of one agent on one scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb
from typing import NamedTuple


class Verdict(StrEnum):
    """What a stage has decided."""

    OPEN = "open"  # more trials are needed
    ACCEPT = "accept"
    REJECT = "reject"
    INCONCLUSIVE = "inconclusive"  # the cap on attempts is reached, and nothing is decided


@dataclass(frozen=True)
class Stage:
    """So many valid trials, of which so many must be genuine failures; at most so many attempts to get them."""

    trials: int
    failures: int
    attempts: int

    @property
    def passes(self) -> int:
        """So many passes settle that the failures cannot be reached any more."""
        return self.trials - self.failures + 1


ONE = Stage(trials=2, failures=1, attempts=4)
TWO = Stage(trials=8, failures=4, attempts=16)


class Count(NamedTuple):
    """What a stage's attempts came to. `verdict` is settled as soon as no further trial could change it."""

    verdict: Verdict
    failures: int
    passes: int
    excluded: int
    complete: bool  # all valid trials that the stage asks for are there
    missing: int  # valid trials that are still to come, if nothing curtails the stage


def judge(stage: Stage, outcomes: Sequence[bool | None]) -> Count:
    """The verdict on attempts in launch order: True a genuine failure, False a pass, None excluded.

    Valid outcomes beyond those that the stage asks for change nothing, so that nobody wins by launching more.
    """
    failures = passes = excluded = 0
    for outcome in outcomes[: stage.attempts]:
        if failures + passes == stage.trials:
            break
        if outcome is None:
            excluded += 1
        elif outcome:
            failures += 1
        else:
            passes += 1
    valid = failures + passes
    if failures >= stage.failures:
        verdict = Verdict.ACCEPT
    elif passes >= stage.passes:
        verdict = Verdict.REJECT
    elif len(outcomes) >= stage.attempts:
        verdict = Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.OPEN
    return Count(verdict, failures, passes, excluded, valid == stage.trials, stage.trials - valid)


def estimate(stage: Stage, failures: int, passes: int) -> float | None:
    """The unbiased failure rate, also where the stage was stopped as soon as it was settled; None without trials.

    A stopped stage's plain share is biased, as its last trial was always the deciding one: that one is left out
    (Girshick, Mosteller and Savage 1946).
    """
    valid = failures + passes
    if valid == 0:
        return None
    if valid >= stage.trials or valid == 1:
        return failures / valid
    if failures == stage.failures:
        return (failures - 1) / (valid - 1)
    return failures / (valid - 1) if passes == stage.passes else failures / valid


def passing(stage: Stage, p: float) -> float:
    """The probability that a stage accepts."""
    return sum(
        comb(stage.trials, k) * p**k * (1 - p) ** (stage.trials - k) for k in range(stage.failures, stage.trials + 1)
    )


def acceptance(p: float, attempts: int = 1) -> float:
    """The probability that a scenario is accepted, or accepted at least once in several calibrations of it."""
    return float(1 - (1 - passing(ONE, p) * passing(TWO, p)) ** attempts)


def expected_trials(p: float, *, curtailed: bool = False) -> float:
    """Valid trials that a calibration takes on average; curtailed: stage two ends as soon as it is settled."""
    return ONE.trials + passing(ONE, p) * (_settled_after(TWO, p) if curtailed else TWO.trials)


def _settled_after(stage: Stage, p: float) -> float:
    q = 1 - p
    last_is_failure = sum(
        n * comb(n - 1, stage.failures - 1) * p**stage.failures * q ** (n - stage.failures)
        for n in range(stage.failures, stage.trials + 1)
    )
    last_is_pass = sum(
        n * comb(n - 1, stage.passes - 1) * q**stage.passes * p ** (n - stage.passes)
        for n in range(stage.passes, stage.trials + 1)
    )
    return float(last_is_failure + last_is_pass)


def rate_accepted_with(probability: float) -> float:
    """The failure rate at which a scenario is accepted with this probability."""
    from scipy.optimize import brentq

    return float(brentq(lambda p: acceptance(p) - probability, 0.0, 1.0, xtol=1e-12))

"""What rules ask of trials in a moved world: which got another verdict than the oracle, and that in words."""

from __future__ import annotations

from collections.abc import Sequence

from scenlint.task import trials
from scenlint.task.model import Task
from scenlint.task.record import CheckResult, TrialRecord

KIND = "world"
# What a world moves: names of experiments.
REPEATED = ("oracle-again", "regraded", "regraded-in-place")
CLOCKS = ("clock+1d", "clock+1y", "clock-29-feb")
CONTROL = "clock-control"
ZONES = ("zone-east", "zone-west", "locale")
ORDERS = ("hash-seed", "test-order", "one-cpu")


def moved(task: Task, records: Sequence[TrialRecord], *names: str) -> list[TrialRecord]:
    """The trials of these worlds whose verdict was another one; NotAssessableError where none was made to its end."""
    found = trials.experiments(task, records, KIND, *names)
    return [r for r in found if r.experiment is not None and r.experiment.outcome == "differs"]


def oracle(records: Sequence[TrialRecord]) -> TrialRecord | None:
    """The oracle's first ordinary trial, with which a world's is compared."""
    return next((r for r in records if r.experiment is None and r.agent == "oracle" and r.reward is not None), None)


def differing(one: TrialRecord | None, other: TrialRecord) -> list[CheckResult]:
    """The checks that passed in one of two trials and failed in the other."""
    before = {(c.step, c.id): c.passed for c in one.checks} if one else {}
    return [c for c in other.checks if {before.get((c.step, c.id)), c.passed} == {True, False}]


def verdict(record: TrialRecord) -> str:
    """A verdict as words."""
    return "no verdict" if record.reward is None else f"a reward of {record.reward:g}"


def told(record: TrialRecord, usual: TrialRecord | None) -> str:
    """`a reward of 0 instead of 1: `test_x` …; it printed …`, to end a message with."""
    instead = f" instead of {usual.reward:g}" if usual is not None and usual.reward is not None else ""
    checks = differing(usual, record)
    which = f": {trials.listed(checks)} came out otherwise" if checks else ""
    why = f" ({record.failure_evidence})" if record.reward is None and record.failure_evidence else ""
    return f"{verdict(record)}{instead}{why}{which}{trials.quote(record)}"

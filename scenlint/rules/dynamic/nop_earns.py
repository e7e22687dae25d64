"""Doing nothing earns part of the reward, or passes a required check."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import CheckResult, TrialRecord


@trial_rule(
    "nop-earns",
    "SL703",
    severity=Severity.WARNING,
    refute="the check guards what the agent must leave alone, and earns nothing by itself",
)
def nop_earns(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    graded = trials.graded(task, records, "nop")
    # What passes altogether is another rule's.
    earning = [r for r in graded if 0 < (r.reward or 0) < 1]
    if earning:
        first = earning[0]
        free = [c for c in first.checks if c.passed]
        which = f": {trials.listed(free)} passed" if free else ""
        yield Finding.at(
            trials.place(task, free),
            f"an agent that does nothing earns {first.reward:g} ({trials.named(earning)}){which}",
            help="let no points hang on what holds before the work has begun; " + trials.look(first),
        )
        return
    unearned = [(r, free) for r in graded if r.reward == 0 and (free := _free(task, r))]
    if unearned:
        first, free = unearned[0]
        yield Finding.at(
            trials.place(task, free),
            f"{trials.listed(free)} passed although nothing was done ({trials.named([r for r, _ in unearned])})",
            help="a required check that always holds proves nothing: check what the work brings about; "
            + trials.look(first),
            confidence=Confidence.MEDIUM,
        )


def _free(task: Task, record: TrialRecord) -> list[CheckResult]:
    """Required checks that passed, without those that only guard what the agent was given."""
    return [c for c in record.checks if c.passed and c.required and not _guards(task, c)]


def _guards(task: Task, check: CheckResult) -> bool:
    """Whether it looks only at what was there before; where its own reading is not known, whether all checks do."""
    known = trials.known(task, check)
    accesses = (known.accesses if known else []) or [a for c in task.checks for a in c.accesses]
    return bool(accesses) and all(task.visible.exists(a.path) for a in accesses)

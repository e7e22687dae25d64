"""The same work gets different verdicts."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, NotAssessableError, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import CheckResult, TrialRecord


@trial_rule(
    "flaky-verdict",
    "SL704",
    refute="the trials differ in more than chance: another machine, another image, a full disk",
)
def flaky_verdict(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    groups = [trials.of(records, agent) for agent in dict.fromkeys(r.agent for r in records)]
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        raise NotAssessableError("one trial of each agent cannot show whether verdicts repeat; `--trials 3` runs more")
    for group in groups:
        first = group[0]
        other = next((r for r in group if r.reward != first.reward or r.status is not first.status), None)
        if other is not None:
            checks = _differing(first, other)
            which = f": {trials.listed(checks)} passed in one only" if checks else ""
            yield Finding.at(
                trials.place(task, checks),
                f"the same work of `{first.agent}` gets {_verdict(first)} in trial `{first.id}` and {_verdict(other)} "
                f"in trial `{other.id}`{which}",
                help="take chance, time and order out of the verifier, or bound what it measures; "
                + trials.look(other),
            )
            continue
        for other in group[1:]:
            if checks := _differing(first, other):
                yield Finding.at(
                    trials.place(task, checks),
                    f"{trials.listed(checks)} passed in only one of the trials `{first.id}` and `{other.id}` of "
                    f"`{first.agent}`, whose rewards are equal",
                    help="make the check repeatable, before it decides a verdict; " + trials.look(other),
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                )
                break


def _verdict(record: TrialRecord) -> str:
    return "no verdict" if record.reward is None else f"a reward of {record.reward:g} ({record.status.value})"


def _differing(one: TrialRecord, other: TrialRecord) -> list[CheckResult]:
    """The checks that passed in one of two trials and failed in the other."""
    before = {(c.step, c.id): c.passed for c in one.checks}
    return [c for c in other.checks if {before.get((c.step, c.id)), c.passed} == {True, False}]

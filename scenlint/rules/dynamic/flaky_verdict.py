"""The same work gets different verdicts."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, NotAssessableError, Severity, Task, trial_rule
from scenlint.task import trials, worlds
from scenlint.task.record import CheckResult, TrialRecord


@trial_rule(
    "flaky-verdict",
    "SL704",
    refute="the trials differ in more than chance: another machine, another image, a full disk",
)
def flaky_verdict(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    ordinary = [r for r in records if r.experiment is None]
    groups = [trials.of(ordinary, agent) for agent in dict.fromkeys(r.agent for r in ordinary)]
    groups = [group for group in groups if len(group) > 1]
    deep = any(r.experiment and r.experiment.kind == worlds.KIND for r in records)
    if deep:
        try:
            yield from _worlds(task, records)
        except NotAssessableError:
            if not groups:
                raise
    elif not groups:
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


def _worlds(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    """The oracle run again, its frozen work graded again, and what must not matter to a grading."""
    usual = worlds.oracle(records)
    for name in (*worlds.REPEATED, *worlds.ORDERS):
        made = [r for r in records if r.experiment and r.experiment.kind == worlds.KIND and r.experiment.name == name]
        made = [r for r in made if r.experiment and r.experiment.outcome in ("same", "differs")]
        found = [r for r in made if r.experiment and r.experiment.outcome == "differs"]
        if not found:
            continue
        first = found[0]
        assert first.experiment is not None
        share = f", {len(found)} of {len(made)}" if len(made) > 1 else ""
        told = first.experiment.evidence if name == "regraded-in-place" else worlds.told(first, usual)
        yield Finding.at(
            trials.place(task, worlds.differing(usual, first)),
            f"who {first.experiment.did} got {told} ({trials.named(found)}{share})",
            help=f"{_HELP[name]}; {trials.look(first)}",
            severity=Severity.WARNING if name == "test-order" else None,
            confidence=Confidence.HIGH if name in ("oracle-again", "regraded", "hash-seed") else Confidence.MEDIUM,
        )
    trials.experiments(task, records, worlds.KIND, *worlds.REPEATED, *worlds.ORDERS)


_HELP = {
    "oracle-again": "take chance, time and order out of the solution and the verifier, or bound what it measures",
    "regraded": "the work was the same to the byte, so take chance, time and order out of the verifier",
    "regraded-in-place": "let the verifier leave what it grades as it was, and take chance and time out of it",
    "hash-seed": "sort what comes out of a set before it is compared or counted",
    "test-order": "let no test depend on what another one leaves behind",
    "one-cpu": "let no verdict depend on how many processors there are, or ask for them in the task",
}


def _verdict(record: TrialRecord) -> str:
    return "no verdict" if record.reward is None else f"a reward of {record.reward:g} ({record.status.value})"


def _differing(one: TrialRecord, other: TrialRecord) -> list[CheckResult]:
    """The checks that passed in one of two trials and failed in the other."""
    before = {(c.step, c.id): c.passed for c in one.checks}
    return [c for c in other.checks if {before.get((c.step, c.id)), c.passed} == {True, False}]

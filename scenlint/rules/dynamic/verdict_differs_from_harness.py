"""The format's own harness would record another verdict than the evidence bears."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import TrialRecord, Verdict


@trial_rule(
    "verdict-differs-from-harness",
    "SL719",
    severity=Severity.WARNING,
    refute="a run of the format's own harness that records the verdict which scenlint gives",
)
def verdict_differs_from_harness(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    groups: dict[str, list[TrialRecord]] = {}
    for record in trials.shown(records):
        strict, harness = record.strict, record.harness
        # An invalid reward is a fault of its own, whatever a harness makes of it.
        if strict is None or harness is None or harness.reward is None or strict.invalid:
            continue
        if strict.reward != harness.reward or strict.passed != harness.passed:
            why = harness.reason or strict.reason or record.failure_evidence
            differs = f"{_told(harness)} instead of {_told(strict)}"
            groups.setdefault(f"{differs}: {why}" if why else differs, []).append(record)
    for told, group in groups.items():
        agents = " and ".join(f"`{agent}`" for agent in dict.fromkeys(r.agent for r in group))
        yield Finding.at(
            trials.entry(task),
            f"the format's own harness would record {told} (work of {agents}, {trials.named(group)})",
            help="let the verifier state one verdict that cannot be read in two ways; " + trials.look(group[0]),
        )


def _told(verdict: Verdict) -> str:
    if verdict.reward is None:
        return "no verdict"
    passed = "a pass" if verdict.passed else "a failure"
    return f"{verdict.reward:g} as {passed}"

"""The solution or the verifier uses more than half of its time limit."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, trial_rule
from scenlint.task import trials
from scenlint.task.finding import At
from scenlint.task.record import Phase, PhaseName, TrialRecord

SHARE = 0.5
_WHO = {PhaseName.AGENT: ("agent", "the oracle"), PhaseName.VERIFY: ("verifier", "the verifier")}


@trial_rule(
    "near-timeout",
    "SL716",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    refute="a trial on an idle machine of the intended size that stays below half of the limit",
)
def near_timeout(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    longest: dict[str, tuple[float, Phase, TrialRecord, float]] = {}
    for record in trials.shown(records):
        for phase in record.phases:
            limit = _limit(record, phase)
            # What ran out of time has no verdict, and that is what is reported.
            if limit and not phase.error and phase.duration > SHARE * limit:
                share = phase.duration / limit
                if share > longest.get(phase.name, (0.0,))[0]:
                    longest[phase.name] = (share, phase, record, limit)
    for name, (share, phase, record, limit) in longest.items():
        which, who = _WHO[PhaseName(name)]
        step = f" in step `{phase.step}`" if phase.step else ""
        yield Finding.at(
            _place(task, which),
            f"{who} took {phase.duration:.1f} s of its {limit:g} s{step}, {share:.0%} (trial `{record.id}`)",
            help="on a slower or busier machine it would run out of time: raise the limit, or do less",
        )


def _limit(record: TrialRecord, phase: Phase) -> float | None:
    budget = record.budget.get("steps", {}).get(phase.step, record.budget)
    if phase.name == PhaseName.VERIFY:
        limit = budget.get("verifier_sec")
    else:
        limit = budget.get("agent_sec") if phase.name == PhaseName.AGENT and record.agent == "oracle" else None
    return float(limit) if limit else None


def _place(task: Task, which: str) -> At:
    limits = task.budget.limits if task.budget else []
    return next((x.value.span for x in limits if x.name == which and x.value.span), None) or trials.entry(task)

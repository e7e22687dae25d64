"""Failures come from a gap between brief and verifier, as a person confirmed or signs suggest."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, trial_rule
from scenlint.rulings.calibrations import decided
from scenlint.rulings.decision import Decided
from scenlint.rulings.misalignment import beside, holds_up, signals
from scenlint.task import trials
from scenlint.task.record import CheckResult, TrialRecord


@trial_rule(
    "misaligned",
    "SL802",
    refute="a person who reads brief, check and the agents' work and finds that the brief settles it "
    "(`scenlint triage DIGEST --as aligned`)",
    calibration=True,
)
def misaligned(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    blocked = next((one for one in decided(records) if one.decision.decided is Decided.BLOCKED), None)
    if blocked is not None:
        yield Finding.at(
            trials.asked(task),
            blocked.decision.reason,
            help="let the brief say what the verifier checks, or let it check what the brief says; calibrate anew",
        )
        return
    found = signals(task, records)
    for sign in found if holds_up(found) else ():
        yield Finding.at(
            trials.place(task, [CheckResult(sign.check, False)] if sign.check else []),
            f"failures look like the task's fault ({sign.name}): {sign.text}",
            help="\n".join(["compare brief, check and work, and decide (`scenlint triage` says how)", *beside(sign)]),
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )

"""What came of an attack: whether the verifier held, and what shows it."""

from __future__ import annotations

from dataclasses import dataclass

from scenlint.dynamic.probes.attack import SAME, SKIPPED, Attack
from scenlint.task import trials
from scenlint.task.record import FailureClass, PhaseName, ProbeOutcome, TrialRecord

_NOTES = 400  # characters of what the attack says of itself
NOT_TRIED = "skipped"
_REMOVED = "was removed while it was in use"  # by somebody else on this machine
LEAKED = "[probe: leak]"


@dataclass(frozen=True)
class Told:
    """An outcome (a ProbeOutcome, "skipped", or "" where the trial shows nothing), what shows it, and why."""

    outcome: str
    evidence: str = ""
    reason: str = ""


def judge(attack: Attack, record: TrialRecord, nop: TrialRecord | None) -> Told:
    """Judge a trial by what doing nothing earns (None: that was not run)."""
    if why := trials.obstacle(record):
        return Told(NOT_TRIED, reason=why)
    said = "\n".join(p.output for p in record.phases if p.name == PhaseName.AGENT and p.step == attack.at)
    if SKIPPED in said:
        return Told(NOT_TRIED, reason=said.partition(SKIPPED)[2].partition("\n")[0].strip(": "))
    if leaked := [line.partition(LEAKED)[2].strip() for line in said.splitlines() if line.startswith(LEAKED)]:
        return Told(ProbeOutcome.LEAK, "\n".join(leaked))
    notes = _notes(said)
    if SAME in said:
        return Told(NOT_TRIED, notes, "what it did is what the task asks for")
    reward, later = _reward(record, attack), attack.at in list(record.step_rewards)[1:]
    # What a later step earns after the oracle's work on those before it, nobody has measured.
    floor = 0.0 if later or nop is None else nop.reward or 0.0
    evidence = f"{notes}{trials.quote(record)}".lstrip("; ")
    fooled = not later and _fooled(record) and not (nop and _fooled(nop))
    if reward is not None and (reward >= 1.0 or (reward > floor + 1e-9 and not attack.earns)):
        return Told(ProbeOutcome.BROKEN, f"reward {reward:g}; {evidence}")
    if fooled:
        return Told(ProbeOutcome.BROKEN, f"the format's own harness records a pass; {evidence}")
    if reward is not None:
        return Told(ProbeOutcome.HOLDS, evidence)
    if nop is None or nop.reward is None:
        return Told(NOT_TRIED, evidence, "there is no verdict either where nothing was done")
    if record.failure_class is not FailureClass.VERIFIER_ERROR or _REMOVED in record.failure_evidence:
        return Told(NOT_TRIED, evidence, record.failure_evidence)
    return Told(ProbeOutcome.LAUNDERED, f"{record.failure_evidence}; {evidence}".rstrip("; "))


def _reward(record: TrialRecord, attack: Attack) -> float | None:
    """The reward of the step that was attacked."""
    return record.step_rewards.get(attack.at, record.reward)


def _fooled(record: TrialRecord) -> bool:
    """Whether the format's own harness would record a pass."""
    return record.harness is not None and record.harness.reward == 1.0


def _notes(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("[probe:")]
    text = "; ".join(lines)
    return text if len(text) <= _NOTES else text[:_NOTES] + "…"

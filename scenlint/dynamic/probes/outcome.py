"""What came of an attack: whether the verifier held, and what shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenlint.dynamic.probes.attack import SAME, SKIPPED, Attack
from scenlint.dynamic.probes.base import load_probes
from scenlint.task import trials
from scenlint.task.record import FailureClass, PhaseName, ProbeOutcome, TrialRecord

if TYPE_CHECKING:
    from scenlint.dynamic.gate import Shown

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
    if attack.measure:
        return _measured(record, attack, notes)
    reward, later = _reward(record, attack), attack.at in list(record.step_rewards)[1:]
    # What a later step earns after the oracle's work on those before it, nobody has measured.
    floor = 0.0 if later or nop is None else nop.reward or 0.0
    evidence = f"{notes}{trials.quote(record)}".lstrip("; ")
    fooled = not later and _fooled(record) and not (nop and _fooled(nop))
    part = reward is not None and reward > floor + 1e-9 and reward >= attack.share and not attack.earns
    if reward is not None and (reward >= 1.0 or part):
        return Told(ProbeOutcome.BROKEN, f"reward {reward:g}; {evidence}")
    if fooled:
        return Told(ProbeOutcome.BROKEN, f"the format's own harness records a pass; {evidence}")
    if reward is not None:
        return Told(ProbeOutcome.HOLDS, evidence)
    if attack.starves:
        return Told(
            NOT_TRIED, evidence, "there is no verdict, of which whoever has the verifier's rights can see to it"
        )
    if attack.posture and any(p.name == PhaseName.OVERLAY and p.error for p in record.phases):
        return Told(NOT_TRIED, evidence, f"it kept the verifier from being put in place: {record.failure_evidence}")
    if nop is None or nop.reward is None:
        return Told(NOT_TRIED, evidence, "there is no verdict either where nothing was done")
    if record.failure_class is not FailureClass.VERIFIER_ERROR or _REMOVED in record.failure_evidence:
        return Told(NOT_TRIED, evidence, record.failure_evidence)
    return Told(ProbeOutcome.LAUNDERED, f"{record.failure_evidence}; {evidence}".rstrip("; "))


def _measured(record: TrialRecord, attack: Attack, notes: str) -> Told:
    """A control is no attack: by what it earns, others show something or nothing."""
    if (_reward(record, attack) or 0.0) < 1.0:
        return Told(ProbeOutcome.HOLDS, f"{notes}{trials.quote(record)}".lstrip("; "))
    return Told(NOT_TRIED, notes, "full marks, so it takes nothing away that the verifier looks at")


def without_control(shown: Iterable[Shown]) -> list[tuple[Shown, str]]:
    """Attacks that got through although their probe's control shows nothing, each with the reason."""
    made = [(s, s.record.experiment) for s in shown if s.record.experiment and s.record.experiment.kind == "probe"]
    controls = {e.name: e for _, e in made if (p := load_probes().get(e.name)) and p.control == e.target}
    out = []
    for attack, experiment in made:
        known = load_probes().get(experiment.name)
        if known is None or not known.control or experiment.target == known.control:
            continue
        control = controls.get(experiment.name)
        if experiment.outcome == ProbeOutcome.BROKEN and (control is None or control.outcome == NOT_TRIED):
            why = control.reason if control else "it was not run"
            out.append((attack, f"its control, `{known.control}`, shows nothing: {why}"))
    return out


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

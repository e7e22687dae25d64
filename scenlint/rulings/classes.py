"""What each trial counts as: a pass, a genuine failure, or excluded with its class; the first rule that matches wins.

Only genuine failures count when a scenario is calibrated (handbook, Pass 1). When an agent is graded (Pass 2) what ran
into its limits, was refused, cheated or crashed has failed as well, and is told by its class. What the agent could have
brought about is no exclusion: a fault after it began counts as its failure, unless oracle or nop run into the same one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from scenlint.source.regex import regex
from scenlint.task.record import REFUSAL_PHRASE, Disposed, Disposition, FailureClass, PhaseName, Status, TrialRecord

CRASHES = 1  # of the agent's process that are excluded; from the next one on they count
# Rows that Pass 1 excludes, and in which an agent that is graded has failed: cheating, limits, refusal, tools, crash.
_FAILED_WHEN_GRADED = frozenset({4, 6, 7, 8, 9, 10, 11})


class Effect(StrEnum):
    """What a trial does to the count."""

    FAILURE = "failure"  # a genuine one
    PASS = "pass"
    EXCLUDED = "excluded"  # is replaced by a fresh trial


@dataclass(frozen=True)
class Ruling:
    """How a trial was ruled on: by which rule of the table, with which effect, and on which evidence."""

    record: TrialRecord
    rule: int  # row of the table, 1 to 14
    failure_class: FailureClass | None
    effect: Effect
    evidence: str = ""
    person: str = ""  # why a person should look at it; "" where nobody has to
    stops: bool = False  # no further trial makes sense until it is put right
    set_aside: bool = False  # by a person, who says that it is not the agent's doing
    controlled: bool = True  # False: it rests on a comparison with oracle and nop, and there are no trials of these

    @property
    def graded(self) -> bool | None:
        """As it counts when the agent is graded: True a pass, False a failure, None excluded and run again."""
        if self.effect is not Effect.EXCLUDED:
            return self.effect is Effect.PASS if self.controlled else None
        failed = self.rule in _FAILED_WHEN_GRADED or self.failure_class is FailureClass.CHEATING
        return False if failed and not self.set_aside else None

    @property
    def outcome(self) -> bool | None:
        """As the two-stage rule counts it: True a genuine failure, False a pass, None excluded."""
        return None if self.effect is Effect.EXCLUDED else self.effect is Effect.FAILURE


_EVIDENCE = {
    FailureClass.PROVIDER: regex(
        r"\w*(?:RateLimit|Overloaded|InternalServer|ConnectionClosed|UsageLimit|NetworkConnection)\w*Error|"
        r"\b(?:429|5\d\d)\b[^\n]{0,40}(?:error|status|response)|\brate limit",
        re.IGNORECASE,
    ),
    FailureClass.CONFIGURATION: regex(
        r"\w*(?:Authentication|ModelNotFound|UnsupportedModelParameters|BadRequest)\w*Error|invalid api key",
        re.IGNORECASE,
    ),
    FailureClass.CONTEXT: regex(
        r"(?:ContextWindow|ContextLength|OutputToken)Exceeded|exit_context|\bmodel_length\b", re.IGNORECASE
    ),
    FailureClass.BUDGET: regex(r"BudgetExceeded|exit_cost|\b(?:cost|token|turn|message) limit", re.IGNORECASE),
    FailureClass.REFUSAL: regex(r"SafetyRefusal|ContentPolicyViolation|\bcontent_filter\b", re.IGNORECASE),
}


def rule_on(records: Sequence[TrialRecord], controls: Sequence[TrialRecord] = ()) -> list[Ruling]:
    """A ruling on each trial of one agent, in launch order; `controls` are the trials of oracle and nop.

    What a person has decided about a trial (`record.dispositions`) goes before the table.
    """
    out: list[Ruling] = []
    for record in records:
        crashes = sum(r.failure_class is FailureClass.AGENT_CRASH for r in out)
        out.append(_disposed(_ruling(record, controls, crashes), record.dispositions))
    return out


def applied(rulings: Sequence[Ruling], said: Sequence[Disposition]) -> list[Ruling]:
    """The rulings as they stand after what was decided about their trials."""
    return [_disposed(r, [d for d in said if d.about == r.record.id]) for r in rulings]


def _disposed(ruling: Ruling, said: Sequence[Disposition]) -> Ruling:
    """The ruling after the decisions about its trial; the table's own stays on record with the trial."""
    for decision in said:
        told = f"{decision.role}: {decision.reason}"
        match decision.verdict:
            case Disposed.GENUINE:
                ruling = replace(ruling, effect=Effect.FAILURE, evidence=told, person="", controlled=True)
            case Disposed.EXCLUDED:
                ruling = replace(ruling, effect=Effect.EXCLUDED, evidence=told, person="", set_aside=True)
            case Disposed.CHEATING:
                cheat = FailureClass.CHEATING
                ruling = replace(ruling, effect=Effect.EXCLUDED, failure_class=cheat, evidence=told, person="")
    return ruling


def _ruling(record: TrialRecord, controls: Sequence[TrialRecord], crashes: int) -> Ruling:
    told = record.failure_evidence
    acted = any(p.name == PhaseName.AGENT for p in record.phases) or bool(record.source and record.checks)

    def excluded(rule: int, failure_class: FailureClass, person: str = "", *, stops: bool = False) -> Ruling:
        return Ruling(record, rule, failure_class, Effect.EXCLUDED, told, person, stops)

    if record.status is Status.PASSED and record.failure_class is not FailureClass.CHEATING:
        return Ruling(record, 14, None, Effect.PASS, "reward 1.0")
    if record.failure_class is FailureClass.INTERRUPTED:
        return excluded(1, FailureClass.INTERRUPTED)
    if not acted and record.status is Status.NO_VERDICT:
        stops = record.failure_class is FailureClass.CONFIGURATION
        found = FailureClass.CONFIGURATION if stops else FailureClass.INFRASTRUCTURE
        return excluded(3 if stops else 1, found, "the trial cannot be set up like this" if stops else "", stops=stops)
    if _is(record, FailureClass.PROVIDER):
        return excluded(2, FailureClass.PROVIDER)
    if _is(record, FailureClass.CONFIGURATION):
        return excluded(3, FailureClass.CONFIGURATION, "the agent's configuration is wrong", stops=True)
    if record.failure_class is FailureClass.CHEATING:
        return excluded(4, FailureClass.CHEATING, "cheating: to be looked at before anything is published")
    if record.status is Status.NO_VERDICT:
        return _without_verdict(record, controls)
    if record.failure_class is FailureClass.AGENT_TIMEOUT:
        return excluded(6, FailureClass.AGENT_TIMEOUT)
    if _is(record, FailureClass.BUDGET):
        return excluded(7, FailureClass.BUDGET)
    if _is(record, FailureClass.CONTEXT):
        return excluded(8, FailureClass.CONTEXT)
    if _is(record, FailureClass.REFUSAL):
        return excluded(9, FailureClass.REFUSAL)
    if record.failure_class is FailureClass.TOOL_ERROR and not _crashed(record):
        return excluded(10, FailureClass.TOOL_ERROR)
    if record.failure_class is FailureClass.AGENT_CRASH or _crashed(record):
        if crashes < CRASHES:
            return excluded(11, FailureClass.AGENT_CRASH)
        return Ruling(record, 11, FailureClass.AGENT_CRASH, Effect.FAILURE, f"again: {told}")
    if record.failure_class is FailureClass.MISALIGNMENT:
        return excluded(12, FailureClass.MISALIGNMENT, "misalignment, confirmed", stops=True)
    phrase = REFUSAL_PHRASE if REFUSAL_PHRASE in told else ""
    return Ruling(record, 13, FailureClass.WRONG_ANSWER, Effect.FAILURE, told, phrase)


def _is(record: TrialRecord, failure_class: FailureClass) -> bool:
    """Whether a trial is of a class, as it was recorded or as the end of the agent's program says.

    Never by what a verifier said of the work: an agent could have it say so, and a check may be about such things.
    """
    if record.failure_class is failure_class or record.failure_class not in (
        FailureClass.TOOL_ERROR,
        FailureClass.AGENT_CRASH,
    ):
        return record.failure_class is failure_class
    told = record.failure_evidence
    if record.strict is not None and record.strict.reason:
        told = told.replace(record.strict.reason, "")
    return bool(_EVIDENCE[failure_class].search(told))


def _crashed(record: TrialRecord) -> bool:
    return record.failure_class is FailureClass.TOOL_ERROR and "exit status" in record.failure_evidence


def _without_verdict(record: TrialRecord, controls: Sequence[TrialRecord]) -> Ruling:
    """A fault after the agent began: the task's or the machine's only if the controls show it too."""
    same = [c for c in controls if c.status is Status.NO_VERDICT and c.failure_class is record.failure_class]
    failure_class = record.failure_class or FailureClass.VERIFIER_ERROR
    if same:
        evidence = f"{record.failure_evidence}; {same[0].agent} runs into it too (trial {same[0].id})"
        return Ruling(record, 5, failure_class, Effect.EXCLUDED, evidence, "the verifier gives no verdict")
    person = "possible tampering: the agent may have caused it"
    if not controls:
        evidence = f"{record.failure_evidence}; there are no trials of oracle and nop to compare it with"
        return Ruling(record, 5, failure_class, Effect.FAILURE, evidence, person, controlled=False)
    evidence = f"{record.failure_evidence}; neither oracle nor nop run into it"
    return Ruling(record, 5, failure_class, Effect.FAILURE, evidence, person)


def cut_off(rulings: Sequence[Ruling]) -> int:
    """How many trials were cut off by a limit, and so tell nothing: time, money, context."""
    limits = (FailureClass.AGENT_TIMEOUT, FailureClass.BUDGET, FailureClass.CONTEXT)
    return sum(r.effect is Effect.EXCLUDED and r.failure_class in limits for r in rulings)

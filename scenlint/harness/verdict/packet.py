"""Packets: passed only if every required check's command ended with exit status 0, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenlint.harness.environment import Ran
from scenlint.harness.verdict.exit_status import combine, crashed
from scenlint.harness.verdict.model import Reading, both_none, broken, not_run, result
from scenlint.task.plan import Check, Verify
from scenlint.task.record import CheckResult, TrialRecord, Verdict


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    checks, faults, doubtful = [], [], False
    for check, how in ran:
        fault = broken(how) or not_run(how)
        faults += [f"the check `{check.id}` {fault}"] if fault else []
        checks.append(result(check, how, None if fault else how.exit_code == 0, fault))
        # A traceback is a failure by the contract, but it may be the check's own.
        doubtful |= bool(how.exit_code and crashed(how))
    if not ran:
        return both_none("no check ran", checks)
    if not any(c.required for c, _ in ran):
        # Passed is what every required check passed: here everything does, and nop shows it.
        strict = Verdict(1.0, True, "no check is required", confidence="low")
        return Reading(strict, Verdict(1.0, True), checks)
    passed = all(how.exit_code == 0 and not how.timed_out for check, how in ran if check.required)
    strict = combine(checks, faults, "no check ran")
    if doubtful and strict.confidence == "high":
        strict.confidence = "medium"
    harness = Verdict(1.0 if passed else 0.0, passed)
    differs = ""
    if strict.reward != harness.reward:
        differs = f"by their exit statuses the checks {'passed' if passed else 'failed'}, but {strict.reason}"
    return Reading(strict, harness, checks, differs)


def verification_result(record: TrialRecord) -> dict[str, Any]:
    """The handbook's VerificationResult of a trial: `passed`, evidence for every check, `confidence`, `summary`."""
    return {
        "passed": record.strict is not None and record.strict.passed and record.reward == 1.0,
        "evidence": [_evidence(check) for check in record.checks],
        "confidence": record.confidence,
        "summary": record.summary,
    }


def _evidence(check: CheckResult) -> dict[str, Any]:
    return {
        "check": check.id,
        "type": check.label,
        "required": check.required,
        "passed": check.passed,
        "command": check.command,
        "output": check.detail,
        "duration": check.duration,
    }

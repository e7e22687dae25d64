"""Waza's program graders: exit status 0 passes; their harness takes any other end, even a missing program, as 0."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scenlint.harness.environment import Ran
from scenlint.harness.verdict.model import Reading, broken, none, not_run, result
from scenlint.task.plan import WORKSPACE, Check, Verify
from scenlint.task.record import CheckResult, Verdict

_TRACEBACK = re.compile(rb"^Traceback \(most recent call last\):\r?$", re.M)
_RAISED = re.compile(r"([A-Za-z_][\w.]*)(?::|$)")


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    checks, faults = [], []
    for check, how in ran:
        fault = grader_fault(how)
        faults += [f"the grader `{check.id}` {fault}"] if fault else []
        checks.append(result(check, how, None if fault else how.exit_code == 0, fault))
    # Results are kept by name: of two graders with the same name the last one counts.
    latest = {check.id: how.exit_code == 0 and not how.timed_out for check, how in ran if check.required}
    passed = all(latest.values())
    harness = Verdict(1.0 if passed else 0.0, passed, "" if ran else "no graders")
    strict = combine(checks, faults, "no grader ran")
    differs = ""
    if strict.reward != harness.reward:
        shown = f"Waza would record {'a pass' if harness.passed else 'a failure'}"
        same_name = len({c.id for c, _ in ran}) < len(ran) and not faults
        why = "two graders have the same name, and the last one replaces the other" if same_name else strict.reason
        differs = f"{shown}, but {why}"
    return Reading(strict, harness, checks, differs)


def combine(checks: Sequence[CheckResult], faults: Sequence[str], empty: str) -> Verdict:
    """All or nothing over the required checks: a failed one decides, one without a verdict leaves none."""
    required = [c for c in checks if c.required]
    if not required:
        return none(empty)
    failed = [c.id for c in required if c.passed is False]
    if failed:
        return Verdict(0.0, reason=f"failed: {', '.join(failed[:10])}")
    if any(c.passed is None for c in required):
        return none("; ".join(faults))
    return Verdict(1.0, True)


def grader_fault(how: Ran) -> str:
    """Why a grader's end is a fault of its own and no judgement; else ""."""
    return broken(how) or not_run(how) or (crashed(how) if how.exit_code else "")


def crashed(how: Ran) -> str:
    """The uncaught Python exception that ended a program; "" where it judged.

    A failed assertion judges, and so does missing what the agent should have made. The exception has to be the last
    thing that was said: a runner of tests prints those of the tests too, and then its own result.
    """
    traces = list(_TRACEBACK.finditer(how.stderr))
    if not traces:
        return ""
    lines = [line for line in how.stderr[traces[-1].end() :].decode("utf-8", "replace").splitlines() if line.strip()]
    last = next((line for line in lines if not line[0].isspace()), "")
    named = _RAISED.match(last) if lines and last is lines[-1] else None
    name = named[1] if named else ""
    if not name or name.rpartition(".")[2] in ("AssertionError", "SystemExit"):
        return ""
    if name in ("FileNotFoundError", "NotADirectoryError", "IsADirectoryError") and f"'{WORKSPACE}" in last:
        return ""
    return f"crashed with `{last[:200]}`"

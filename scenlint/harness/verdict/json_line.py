"""DeepGym: the last line of stdout that is a JSON object, backed by the exit status; a failed judge is no zero."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scenlint.harness.environment import Ran
from scenlint.harness.verdict.model import Reading, both_none, broken, excerpt, finite, none, result
from scenlint.task.plan import Check, Verify
from scenlint.task.record import CheckResult, Verdict

# The solution's own faults: judged, with a score of 0. Any other error is the verifier's.
SOLUTION_FAULTS = frozenset(
    [
        "invalid_patch",
        "patch_apply_failed",
        "test_infra_tampering",
        "policy_sandbox_failure",
        "solution_timeout",
        "solution_error",
    ]
)
_EVIDENCE = ("error", "input_summary", "expected_summary", "actual_summary")
_TOLERANCE = 1e-6


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    if not ran:
        return both_none("the verifier did not run")
    check, how = ran[-1]
    try:
        told = _protocol(how)
        verdict = _judged(told, how.exit_code)
    except ValueError as exc:
        reading = both_none(f"the verifier {exc}", [result(check, how, None, str(exc))])
        reading.strict.invalid = isinstance(exc, _NoScoreError)
        return reading
    checks = _cases(told) or [result(check, how, verdict.passed, str(told.get("details") or ""))]
    harness = Verdict(verdict.reward, verdict.passed, "", dict(verdict.rewards))
    contradiction = _contradiction(told, verdict)
    if not contradiction:
        if told.get("error_type") in SOLUTION_FAULTS:
            verdict.confidence = "medium"
            verdict.reason = f"{told['error_type']}: {told.get('details') or ''}".strip(": ")
        return Reading(verdict, harness, checks)
    shown = f"DeepGym would record a score of {harness.reward:g} as {'a pass' if harness.passed else 'a failure'}"
    return Reading(none(f"the verifier {contradiction}"), harness, checks, f"{shown}, but the verifier {contradiction}")


def _protocol(how: Ran) -> dict[str, Any]:
    """What the verifier printed; ValueError where that is no verdict."""
    if why := broken(how):
        raise ValueError(why)
    lines = (line.strip() for line in reversed(how.stdout.decode("utf-8", "replace").split("\n")))
    line = next((text for text in lines if text.startswith("{") and text.endswith("}")), None)
    if line is None:
        raise ValueError(f"printed no line of JSON (exit status {how.exit_code}); the verdict is one line on stdout")
    try:
        told = json.loads(line, object_pairs_hook=_unique)
    except _TwiceError:
        raise
    except (ValueError, RecursionError):
        raise ValueError(f"printed a last line that is not JSON: `{line[:80]}`") from None
    try:
        _validate(told)
    except ValueError as exc:
        raise _NoScoreError(str(exc)) from None
    return dict(told)


class _NoScoreError(ValueError):
    """The line is there, and what it says is no verdict."""


class _TwiceError(ValueError):
    """A key of an object is there twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if double := next((name for name in ("score", "passed") if names.count(name) > 1), None):
        raise _TwiceError(f"printed `{double}` twice")
    return dict(pairs)


def _validate(told: Mapping[str, Any]) -> None:
    _score(told, "printed")
    for key in ("passed", "truncated"):
        if not isinstance(told.get(key, False), bool) or (key == "passed" and key not in told):
            raise ValueError(f"printed no true or false for `{key}`")
    if not isinstance(told.get("error_type"), str | None):
        raise ValueError("printed an `error_type` that is no text")
    cases = told.get("cases")
    if cases is not None and not isinstance(cases, list):
        raise ValueError("printed `cases` that are no list")
    for n, case in enumerate(cases or ()):
        if not isinstance(case, dict) or not isinstance(case.get("passed"), bool):
            raise ValueError(f"printed no true or false for `passed` of case {n}")
        if "score" in case and case["score"] is not None:
            _score(case, f"printed for case {n}")


def _score(told: Mapping[str, Any], where: str) -> None:
    score = told.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not finite(score):
        raise ValueError(f"{where} no finite number for `score`")
    if not -_TOLERANCE <= score <= 1 + _TOLERANCE:
        raise ValueError(f"{where} a `score` of {score:g}, which is outside of [0, 1]")


def _judged(told: Mapping[str, Any], exit_code: int | None) -> Verdict:
    """The verdict as the exit status backs it; ValueError where it is none."""
    score, passed, error = min(max(float(told["score"]), 0.0), 1.0), told["passed"], told.get("error_type")
    if exit_code == 2:
        said = f": {error or ''} {told.get('details') or ''}".rstrip(" :")
        raise ValueError(f"failed (exit status 2){excerpt(said, 400)}")
    if exit_code not in (0, 1):
        raise ValueError(f"ended with exit status {exit_code}, which is none of the protocol's")
    if exit_code == 1 and passed:
        raise ValueError("claimed a pass and ended with exit status 1")
    if error and error not in SOLUTION_FAULTS:
        raise ValueError(f"reported an error of its own: {error}")
    if error:
        score, passed = 0.0, False
    return Verdict(score, passed, "", {"score": score, **_components(told)})


def _components(told: Mapping[str, Any]) -> dict[str, float]:
    given = told.get("reward_components")
    pairs = given.items() if isinstance(given, dict) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, int | float) and finite(v)}


def _contradiction(told: Mapping[str, Any], verdict: Verdict) -> str:
    if verdict.reward == 1.0 and not verdict.passed:
        return "says `passed: false` with a score of 1"
    if verdict.reward == 0.0 and verdict.passed:
        return "says `passed: true` with a score of 0"
    failed = next((c for c in told.get("cases") or () if not c["passed"]), None)
    if verdict.reward == 1.0 and failed is not None:
        return f"gives a score of 1 although case `{failed.get('id', '')}` failed"
    return ""


def _cases(told: Mapping[str, Any]) -> list[CheckResult]:
    out = []
    for n, case in enumerate(told.get("cases") or ()):
        shown = [f"{k}: {case[k]}" for k in _EVIDENCE if case.get(k)]
        name = str(case.get("id") or n)
        out.append(CheckResult(name, case["passed"], label=name, detail=excerpt("\n".join(shown))))
    return out

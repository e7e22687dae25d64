"""Results of DeepGym: one result, or a batch of them, in its verifier's JSON protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, failed, load, number, record, text
from scenlint.task.record import CheckResult, FailureClass, TrialRecord


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The results of a file; None where it is another one."""
    if path.suffix != ".json":
        return None
    data = load(path)
    if isinstance(data.get("results"), list) and any(_is_result(r) for r in data["results"]):
        return (_trial(path, data, r, n) for n, r in enumerate(data["results"]) if _is_result(r))
    return iter([_trial(path, data, data, 0)]) if _is_result(data) else None


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("passed"), bool) and "score" in value and "tasks" not in value
    )


def _trial(path: Path, around: dict[str, Any], result: dict[str, Any], n: int) -> TrialRecord:
    named = text(result.get("environment")) or text(result.get("env")) or text(around.get("environment"))
    task, model = named or path.stem, text(result.get("model")) or text(around.get("model")) or "unknown"
    error = text(result.get("error_type")) or text(result.get("error"))
    score = number(result.get("score"))
    exit_code = result.get("exit_code")
    none = exit_code == 2 or (error in ("runtime_error", "invalid_score") and exit_code != 1)
    reward = None if none or score is None or not 0 <= score <= 1 else score
    if reward == 1.0 and not result["passed"]:
        reward = 0.999999  # full points that do not pass
    made = record("deepgym", path, task, "deepgym", model, reward, path.resolve(), n)
    made.seed = result.get("seed") if isinstance(result.get("seed"), int) else None
    made.model = model
    cases = [c for c in result.get("cases") or [] if isinstance(c, dict)]
    made.checks = [
        CheckResult(
            text(c.get("id")) or str(i),
            c.get("passed") if isinstance(c.get("passed"), bool) else None,
            detail=text(c.get("error")) or text(c.get("actual_summary")),
            duration=(number(c.get("execution_time_ms")) or 0.0) / 1000,
        )
        for i, c in enumerate(cases, 1)
    ]
    if reward is None:
        return failed(made, FailureClass.VERIFIER_ERROR, error or "no verdict")
    return failed(made, FailureClass.WRONG_ANSWER, error or text(result.get("details")) or "not passed")

"""Trials of Waza: each run of each task in a results JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, failed, load, number, record, table, text
from scenlint.task.record import CheckResult, FailureClass, TrialRecord


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The trials of a results file; None where it is another one."""
    if path.suffix != ".json":
        return None
    data = load(path)
    return _trials(path, data) if "eval_name" in data and isinstance(data.get("tasks"), list) else None


def _trials(path: Path, data: dict[str, Any]) -> Iterator[TrialRecord | Problem]:
    model = text(table(data, "config").get("model_id")) or "unknown"
    for task in data["tasks"]:
        for run in (task.get("runs") or []) if isinstance(task, dict) else []:
            if isinstance(run, dict):
                yield _trial(path, data, task, run, model)


def _trial(path: Path, data: dict[str, Any], task: dict[str, Any], run: dict[str, Any], model: str) -> TrialRecord:
    validations = [(k, v) for k, v in table(run, "validations").items() if isinstance(v, dict)]
    broken = [k for k, v in validations if _broke(v)]
    errored = text(run.get("status")) == "error" or bool(run.get("error_msg"))
    graded = validations and not broken and not errored
    weights = [number(v.get("weight")) or 1.0 for _, v in validations]
    scores = [number(v.get("score")) or 0.0 for _, v in validations]
    reward = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights) if graded else None
    whole = all(v.get("passed") is True for _, v in validations)
    if reward is not None:
        reward = 1.0 if whole else min(reward, 0.999999) if reward >= 1 else max(reward, 0.0)
    place = (data.get("eval_id"), data.get("timestamp"), task.get("test_id"), run.get("run_number"))
    made = record("waza", path, text(task.get("test_id")), "waza", model, reward, *place)
    made.model, made.started = model, text(data.get("timestamp"))
    made.duration = (number(run.get("duration_ms")) or 0.0) / 1000
    made.checks = [
        CheckResult(
            k, v.get("passed") if isinstance(v.get("passed"), bool) else None, k, w, detail=text(v.get("feedback"))
        )
        for (k, v), w in zip(validations, weights, strict=True)
    ]
    if errored:
        failed(made, FailureClass.TOOL_ERROR, text(run.get("error_msg")) or "the run ended with an error")
    elif broken:
        failed(made, FailureClass.VERIFIER_ERROR, f"the grader `{broken[0]}` did not run")
    elif not validations:
        failed(made, FailureClass.VERIFIER_ERROR, "the run has no validation, which Waza counts as passed")
    else:
        wrong = [f"`{k}`" for k, v in validations if v.get("passed") is not True]
        failed(made, FailureClass.WRONG_ANSWER, f"failed: {', '.join(wrong[:20])}")
    return made


def _broke(validation: dict[str, Any]) -> bool:
    """Whether a program grader did not run at all: Waza gives that a score of 0."""
    told = text(table(validation, "details").get("exit_error")) or text(validation.get("feedback"))
    return any(
        word in told for word in ("not found", "exit status 126", "exit status 127", "timed out", "signal: killed")
    )

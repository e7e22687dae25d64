"""Trials of SaaS-Bench: `<model>/<task>_r<run>_verify.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, failed, load, number, record, text
from scenlint.task.record import CheckResult, FailureClass, TrialRecord

_NAME = re.compile(r"(?P<task>.+?)(?:_r(?P<run>\d+))?_verify\.json")


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The trial of a verify result; None where it is another file."""
    named = _NAME.fullmatch(path.name)
    if named is None:
        return None
    data = load(path)
    return _trial(path, data, named["run"] or "") if "task_id" in data and "status" in data else None


def _trial(path: Path, data: dict[str, Any], run: str) -> Iterator[TrialRecord | Problem]:
    status = text(data["status"])
    checks = [c for c in data.get("checks") or [] if isinstance(c, dict)]
    reward = number(data.get("score")) if status in ("PASS", "FAIL") else None
    if reward is not None and not 0 <= reward <= 1:
        yield Problem(path, f"the score {reward:g} is outside of 0 to 1: kept without a verdict")
        reward = None
    returned = data.get("returncode")
    if (reward is not None and isinstance(returned, int) and returned < 0) or (checks and status == "ERROR"):
        reward = None
    model = path.parent.name
    made = record("saas-bench", path, text(data["task_id"]), "saas-bench", model, reward, run or path.name)
    made.model = model
    made.checks = [
        CheckResult(
            text(c.get("label")) or str(n),
            c.get("passed") if isinstance(c.get("passed"), bool) else text(c.get("status")) == "PASS",
            text(c.get("label")),
            number(c.get("points", c.get("weight"))) or 1.0,
            detail=text(c.get("detail")),
        )
        for n, c in enumerate(checks, 1)
    ]
    if status == "SKIP":
        failed(made, FailureClass.CONFIGURATION, "the task has no verifier", acted=False)
    elif reward is None:
        failed(made, FailureClass.VERIFIER_ERROR, text(data.get("error")) or f"status {status}")
    else:
        wrong = [f"`{c.label}`" for c in made.checks if c.passed is False]
        failed(made, FailureClass.WRONG_ANSWER, f"failed: {', '.join(wrong[:20])}")
    yield made

"""Trials in a run folder of the legacy Terminal-Bench: the `results.json` of each trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, failed, load, number, record, table, text
from scenlint.task.record import CheckResult, FailureClass, TrialRecord

_MODES = {
    "test_timeout": FailureClass.VERIFIER_ERROR,
    "agent_timeout": FailureClass.AGENT_TIMEOUT,
    "unknown_agent_error": FailureClass.AGENT_CRASH,  # a fault of the engine is stored under this name too
    "parse_error": FailureClass.VERIFIER_ERROR,
    "fatal_llm_parse_error": FailureClass.TOOL_ERROR,
    "context_length_exceeded": FailureClass.CONTEXT,
    "output_length_exceeded": FailureClass.CONTEXT,
    "agent_installation_failed": FailureClass.INFRASTRUCTURE,
}
_UNGRADED = ("test_timeout", "parse_error", "agent_installation_failed")


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The trial of a results.json; None where it is another file (a run's own has `results` in it)."""
    if path.name != "results.json":
        return None
    data = load(path)
    return _trial(path, data) if "is_resolved" in data and "task_id" in data else None


def _trial(path: Path, data: dict[str, Any]) -> Iterator[TrialRecord | Problem]:
    mode = text(data.get("failure_mode"))
    parsed = table(data, "parser_results")
    resolved = data.get("is_resolved")
    reward = float(resolved) if isinstance(resolved, bool) and mode not in _UNGRADED else None
    if reward == 1.0 and not parsed:
        yield Problem(path, "resolved with an empty table of results: kept without a verdict")
        reward = None
    task = text(data["task_id"])
    run = _run(path)
    agent, model = text(run.get("agent_name")), text(run.get("model_name"))
    who = f"{agent}:{model}" if model else agent or "unknown"
    made = record("terminal-bench", path, task, "terminal-bench", who, reward, data.get("id") or data.get("trial_name"))
    made.model, made.started = model, text(data.get("trial_started_at"))
    tokens = number(data.get("total_input_tokens")), number(data.get("total_output_tokens"))
    made.input_tokens, made.output_tokens = (None if n is None else int(n) for n in tokens)
    made.checks = [CheckResult(name, {"passed": True, "failed": False}.get(str(v))) for name, v in parsed.items()]
    failure_class = _MODES.get(mode)
    if failure_class is not None:
        acted = failure_class is not FailureClass.INFRASTRUCTURE
        failed(made, failure_class, mode, acted=acted)
    elif reward is None:
        failed(made, FailureClass.VERIFIER_ERROR, mode or "no verdict")
    else:
        wrong = [f"`{c.id}`" for c in made.checks if c.passed is False]
        failed(made, FailureClass.WRONG_ANSWER, f"failed: {', '.join(wrong[:20])}")
    yield made


def _run(path: Path) -> dict[str, Any]:
    """The run's metadata, some folders up."""
    for folder in list(path.parents)[:5]:
        if (folder / "run_metadata.json").is_file():
            return load(folder / "run_metadata.json")
    return {}

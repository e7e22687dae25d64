"""Trials in a run folder of the legacy Terminal-Bench: the `results.json` of each trial, and the run's own.

Runs are often published with one of the two only. A trial that is in both has one identity, and is taken in once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, between, failed, load, number, record, table, text
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
    """The trials of a results.json, be it a trial's or a run's; None where it is another file."""
    if not path.name.endswith("results.json"):
        return None
    data = load(path)
    if _is_trial(data):
        return _trial(path, data, path.parents[2].name if len(path.parents) > 2 else path.parent.name)
    of_run = data.get("results")
    if isinstance(of_run, list) and any(map(_is_trial, of_run)):
        own = [trial for trial in of_run if _is_trial(trial)]
        run = next((r for r in map(_recorded_run, own) if r), path.parent.name)
        return (one for trial in own for one in _trial(path, trial, run))
    return None


def _is_trial(data: Any) -> bool:
    return isinstance(data, dict) and "is_resolved" in data and isinstance(data.get("task_id"), str)


def _trial(path: Path, data: dict[str, Any], folder: str) -> Iterator[TrialRecord | Problem]:
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
    where = _recorded_run(data) or folder
    # Trials of unknown agents must not be taken for those of one agent.
    who = f"{agent}:{model}" if model and agent else agent or model or f"unknown ({where})"
    own = text(data.get("id")) or text(data.get("uuid"))
    place = (own,) if own else (where, data.get("trial_name"))
    made = record("terminal-bench", path, task, "terminal-bench", who, reward, *place)
    made.model, made.started = model, text(data.get("trial_started_at"))
    made.duration = between(data, "trial_started_at", "trial_ended_at") or 0.0
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


def _recorded_run(trial: dict[str, Any]) -> str:
    """The name of the run, which the path of a trial's recording begins with; "" where there is none."""
    return text(trial.get("recording_path")).partition("/")[0]


def _run(path: Path) -> dict[str, Any]:
    """The run's metadata, some folders up."""
    for folder in list(path.parents)[:5]:
        if (folder / "run_metadata.json").is_file():
            return load(folder / "run_metadata.json")
    return {}

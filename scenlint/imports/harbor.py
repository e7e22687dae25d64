"""Trials in a job folder of Harbor: `result.json` beside each trial's `config.json`, with its test report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, between, failed, load, number, record, table, text
from scenlint.task.record import CheckResult, FailureClass, Phase, PhaseName, TrialRecord

# Exceptions by name; which of them leave a valid reward is not taken from the file, as older versions do not say.
_CLASSES = {
    FailureClass.INFRASTRUCTURE: "EnvironmentStartTimeoutError SandboxBuildFailedError AgentSetupTimeoutError "
    "HealthcheckError SandboxLikelyOutOfMemoryError MemoryLimitExceededError RuntimeRequestError",
    FailureClass.PROVIDER: "ApiError ApiRateLimitError ApiInternalServerError ApiOverloadedError "
    "ApiConnectionClosedError ApiResponseStalledError UnknownApiError NetworkConnectionError ApiConnectionError "
    "ApiUsageLimitError RateLimitError InternalServerError ServiceUnavailableError APIConnectionError APIError Timeout",
    FailureClass.CONFIGURATION: "AgentAuthenticationError ModelNotFoundError ApiProviderResourceNotFoundError "
    "AuthenticationError PermissionDeniedError NotFoundError UnsupportedModelParametersError BadRequestError "
    "MissingModelCredentialError UnsupportedDockerfileError",
    FailureClass.VERIFIER_ERROR: "VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError "
    "VerifierOutputParseError AddTestsDirError DownloadVerifierDirError",
    FailureClass.AGENT_TIMEOUT: "AgentTimeoutError",
    FailureClass.AGENT_CRASH: "NonZeroAgentExitCodeError",
    FailureClass.CONTEXT: "ContextWindowExceededError ContextLengthExceededError OutputTokenExceededError "
    "OutputLengthExceededError",
    FailureClass.REFUSAL: "AgentSafetyRefusalError ContentPolicyViolationError",
    FailureClass.BUDGET: "BudgetExceededError",
    FailureClass.INTERRUPTED: "CancelledError",
}
_BY_NAME = {name: failure_class for failure_class, names in _CLASSES.items() for name in names.split()}
_GRADED = (  # what leaves the reward that the verifier gave in place
    FailureClass.AGENT_TIMEOUT, FailureClass.AGENT_CRASH, FailureClass.CONTEXT, FailureClass.REFUSAL,
)  # fmt: skip


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The trial of a result.json; None where it is not one of Harbor's (a job's own has no `task_name`)."""
    if path.name != "result.json":
        return None
    data = load(path)
    return _trial(path, data) if "task_name" in data and "trial_name" in data else None


def _trial(path: Path, data: dict[str, Any]) -> Iterator[TrialRecord | Problem]:
    exception = table(data, "exception_info")
    name = text(exception.get("exception_type"))
    failure_class = _BY_NAME.get(name, FailureClass.INFRASTRUCTURE) if name else None
    rewards = {k: n for k, v in table(data, "verifier_result", "rewards").items() if (n := number(v)) is not None}
    reward = rewards.get("reward", next(iter(rewards.values())) if len(rewards) == 1 else None)
    if failure_class is not None and failure_class not in _GRADED:
        reward = None
    if reward is not None and not 0 <= reward <= 1:
        yield Problem(path, f"the reward {reward:g} is outside of 0 to 1; the trial is kept without a verdict")
        reward = None
    agent = text(table(data, "agent_info").get("name")) or text(table(data, "config", "agent").get("name"))
    model = text(table(data, "agent_info", "model_info").get("name"))
    who = f"{agent}:{model}" if model else agent
    made = record("harbor", path, text(data["task_name"]), "harbor", who, reward, data.get("id") or data["trial_name"])
    made.model, made.started = model, text(data.get("started_at"))
    made.task_digest = _digest(path, data)
    made.duration = between(data, "started_at", "finished_at") or 0.0
    _spent(made, data)
    made.phases = [p for name, key in _PHASES.items() if (p := _phase(name, data, key)) is not None]
    # A verifier that runs pytest several times leaves several reports.
    made.checks = [c for report in sorted((path.parent / "verifier").glob("*ctrf*.json")) for c in _checks(report)]
    if failure_class is not None:
        message = text(exception.get("exception_message")).partition("\n")[0]
        acted = bool(table(data, "agent_execution"))
        failed(made, failure_class, f"{name}: {message}", acted=acted)
    elif reward is None:
        failed(made, FailureClass.VERIFIER_ERROR, "there is no reward")
    elif wrong := [f"`{c.id}`" for c in made.checks if c.passed is False]:
        failed(made, FailureClass.WRONG_ANSWER, f"failed: {', '.join(wrong[:20])}")
    yield made


_SECONDS_BELOW = 1e11  # a time of day since 1970 in seconds; in milliseconds it is higher
_PHASES = {
    PhaseName.START: "environment_setup", PhaseName.AGENT: "agent_execution", PhaseName.VERIFY: "verifier",
}  # fmt: skip


def _phase(name: PhaseName, data: dict[str, Any], key: str) -> Phase | None:
    times = table(data, key)
    took = between(times, "started_at", "finished_at") or 0.0
    return Phase(name.value, started=text(times.get("started_at")), duration=took) if times else None


def _spent(made: TrialRecord, data: dict[str, Any]) -> None:
    """Tokens and cost: of a task with several steps they stand with the steps only."""
    steps = [s for s in data.get("step_results") or [] if isinstance(s, dict)]
    parts = [table(s, "agent_result") for s in steps] or [table(data, "agent_result")]

    def total(key: str) -> float | None:
        found = [n for p in parts if (n := number(p.get(key))) is not None]
        return sum(found) if found else None

    made.cost_usd = total("cost_usd")
    tokens = total("n_input_tokens"), total("n_output_tokens")
    made.input_tokens, made.output_tokens = (None if n is None else int(n) for n in tokens)


def _digest(path: Path, data: dict[str, Any]) -> str:
    lock = path.with_name("lock.json")
    locked = table(load(lock), "task").get("digest") if lock.is_file() else ""
    return text(locked) or text(data.get("task_checksum"))


def _checks(path: Path) -> Iterator[CheckResult]:
    """The tests of a CTRF report."""
    tests = table(load(path), "results").get("tests")
    for test in tests if isinstance(tests, list) else []:
        if isinstance(test, dict) and isinstance(test.get("name"), str):
            status = test.get("status")
            passed = {"passed": True, "failed": False}.get(status) if isinstance(status, str) else None
            yield CheckResult(test["name"], passed, detail=_detail(test)[:2000], duration=_took(test))


def _detail(test: dict[str, Any]) -> str:
    """What the test said of the work: the lines that pytest marks with E. The message is the same for every failure."""
    trace = text(test.get("trace"))
    marked = [line[1:].strip() for line in trace.splitlines() if line.startswith("E ")]
    return "\n".join(marked) or trace or text(test.get("message"))


def _took(test: dict[str, Any]) -> float:
    """Seconds. The format has milliseconds; pytest's plugin writes seconds, which its times of day show."""
    took, began = number(test.get("duration")) or 0.0, number(test.get("start")) or 0.0
    return took if 0 < began < _SECONDS_BELOW else took / 1000

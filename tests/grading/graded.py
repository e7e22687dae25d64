"""Records of a run that was never made: one letter for each trial, in launch order."""

from scenlint.grading.model import KIND, Run, Scenario
from scenlint.task.record import CheckResult, Experiment, FailureClass, Phase, Status, TrialRecord

ACTED = ("build", "start", "agent", "overlay", "verify", "verdict", "remove")
NONE, FAILED, PASSED = Status.NO_VERDICT, Status.FAILED, Status.PASSED
# letter -> status, reward, failure class, evidence, phases
LETTERS = {
    "P": (PASSED, 1.0, None, "", ACTED),
    "F": (FAILED, 0.0, FailureClass.WRONG_ANSWER, "failed: `total`", ACTED),
    "h": (FAILED, 0.5, FailureClass.WRONG_ANSWER, "failed: `second half`", ACTED),
    "T": (FAILED, 0.25, FailureClass.AGENT_TIMEOUT, "the agent was stopped after 900 s", ACTED),
    "B": (FAILED, 0.0, FailureClass.BUDGET, "2 USD used up", ACTED),
    "R": (FAILED, 0.0, FailureClass.REFUSAL, "I cannot help", ACTED),
    "C": (PASSED, 1.0, FailureClass.CHEATING, "planted a reward", ACTED),
    "K": (FAILED, 0.0, FailureClass.TOOL_ERROR, "the agent ended with exit status 3", ACTED),
    "I": (NONE, None, FailureClass.INFRASTRUCTURE, "no room on this machine", ("build",)),
    "X": (NONE, None, FailureClass.VERIFIER_ERROR, "no reward was written", ACTED),
    "L": (FAILED, 0.0, FailureClass.TOOL_ERROR, "litellm.RateLimitError: slow down", ACTED),
    "S": (NONE, None, FailureClass.INTERRUPTED, "interrupted", ("build",)),
}


def run_of(keys, trials: int, **more) -> Run:
    scenarios = tuple(Scenario(key, key, f"sha256:{key}") for key in keys)
    return Run("run-1", "sha256:suite", scenarios, "frontier", trials, **more)


def trial(key: str, letter: str, number: int, *, run: str = "run-1", agent="frontier", cost=0.25, seconds=10.0):
    status, reward, failure_class, evidence, phases = LETTERS[letter]
    return TrialRecord(
        f"{run}-{key}-{number}", key, "harbor", agent, reward, status, failure_class, evidence,
        phases=[Phase(name, duration=seconds / 2 if name == "agent" else 0.0) for name in phases],
        checks=[CheckResult("a", status is PASSED)], task_digest=f"sha256:{key}", attempt=number,
        started=f"2030-01-01T00:{number:02}:00+00:00", duration=seconds, cost_usd=cost,
        experiment=Experiment(KIND, run, target=key),
    )  # fmt: skip


def trials(**letters: str) -> list[TrialRecord]:
    """trials(a="PPF", b="…")."""
    return [trial(key, letter, n) for key, said in letters.items() for n, letter in enumerate(said, 1)]


def controls(key: str, oracle: str = "P", nop: str = "F") -> list[TrialRecord]:
    """What oracle and nop came to on the same task."""
    made = [trial(key, letter, 1, run="control", agent=agent) for agent, letter in (("oracle", oracle), ("nop", nop))]
    for record in made:
        record.id, record.experiment = f"{record.id}-{record.agent}", None
    return made

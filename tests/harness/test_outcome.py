"""What the verdicts of steps come to, strictly and as the format's own harness would record it."""

from pathlib import Path

import pytest
from plans import make_plan, make_step

from scenlint.harness import outcome
from scenlint.harness.engine import EngineError, Options
from scenlint.harness.environment import Fault, GoneError, Ran, StoppedError
from scenlint.harness.outcome import Outcome
from scenlint.harness.scene import Scene
from scenlint.task.plan import NotRunnableError, RunPlan
from scenlint.task.record import FailureClass, Phase, Status, TrialRecord, Verdict


def concluded(
    tmp_path: Path,
    *verdicts: tuple[Verdict, Verdict] | None,
    agent: str = "oracle",
    fault=None,
    phases=(),
    ran=None,
    **changes,
) -> TrialRecord:
    steps = tuple(make_step(tmp_path, name=f"s{n}" if len(verdicts) > 1 else "") for n in range(len(verdicts)))
    plan: RunPlan = make_plan(tmp_path, "image", *steps, **changes)
    record = outcome.blank(Scene(plan, "t", tmp_path, Options()), agent)
    record.phases = [Phase(name, error=error) for name, error in phases]
    done = []
    for step, pair in zip(steps, verdicts, strict=True):
        if pair is not None:
            done.append(Outcome(step, ran or Ran(0, 1.0), strict=pair[0], harness=pair[1]))
    outcome.conclude(record, plan, done, fault)
    return record


def same(reward: float | None, **more) -> tuple[Verdict, Verdict]:
    verdict = Verdict(reward, reward == 1.0, **more)
    return verdict, verdict


@pytest.mark.parametrize(
    ("rewards", "strategy", "strict", "harness"),
    [
        ((1.0, 1.0), "mean", 1.0, 1.0),
        ((1.0, 0.5), "mean", 0.75, 0.75),
        ((1.0, None), "mean", None, 1.0),
        ((0.0, 1.0), "final", 1.0, 1.0),
        ((1.0, None), "final", None, 1.0),
    ],
)
def test_steps_are_put_together(tmp_path, rewards, strategy, strict, harness):
    record = concluded(tmp_path, *map(same, rewards), reward_strategy=strategy)
    assert (record.reward, record.harness.reward) == (strict, harness)


def test_a_final_reward_of_one_passes_only_if_every_step_is_sound(tmp_path):
    assert concluded(tmp_path, same(0.0), same(1.0), reward_strategy="final").status is Status.FAILED
    assert concluded(tmp_path, same(1.0), same(1.0), reward_strategy="final").status is Status.PASSED


def test_the_harness_mean_counts_missing_keys_as_zero(tmp_path):
    first, second = same(1.0, rewards={"reward": 1.0, "style": 1.0}), same(1.0, rewards={"reward": 1.0})
    assert concluded(tmp_path, first, second).harness.rewards == {"reward": 1.0, "style": 0.5}


def test_almost_one_is_not_one(tmp_path):
    assert concluded(tmp_path, same(0.9999999)).status is Status.FAILED


@pytest.mark.parametrize(
    ("fault", "phases", "expected"),
    [
        (Fault("x"), [("build", "build: x")], FailureClass.INFRASTRUCTURE),
        (NotRunnableError("x"), [("build", "not runnable: x")], FailureClass.CONFIGURATION),
        (GoneError("x"), [("start", "x")], FailureClass.INFRASTRUCTURE),
        (GoneError("x"), [("agent", "x")], FailureClass.TOOL_ERROR),
        (EngineError("x"), [("agent", "x")], FailureClass.INFRASTRUCTURE),
        (GoneError("x"), [("agent", ""), ("verify", "x"), ("collect", "y")], FailureClass.VERIFIER_ERROR),
        (EngineError("x"), [("agent", ""), ("verify", "x")], FailureClass.INFRASTRUCTURE),
        (StoppedError("interrupted"), [("agent", "interrupted")], FailureClass.INTERRUPTED),
        (KeyError("bug"), [("agent", ""), ("verdict", "internal: KeyError")], FailureClass.INFRASTRUCTURE),
    ],
)
def test_faults_are_classed_by_what_failed_and_whether_the_agent_had_begun(tmp_path, fault, phases, expected):
    record = concluded(tmp_path, None, fault=fault, phases=phases)
    assert (record.status, record.reward, record.failure_class) == (Status.NO_VERDICT, None, expected)
    begun = any(name == "agent" for name, _ in phases)
    assert record.failure_evidence.endswith("(after the agent had begun)") == begun


def test_an_agent_out_of_time_whose_work_is_right_passes_unless_it_is_the_oracle(tmp_path):
    late = Ran(None, 5.0, timed_out=True)
    assert concluded(tmp_path, same(1.0), agent="some-agent", ran=late).status is Status.PASSED
    assert concluded(tmp_path, same(1.0), agent="oracle", ran=late).status is Status.FAILED
    assert concluded(tmp_path, same(0.0), agent="x", ran=late).failure_class is FailureClass.AGENT_TIMEOUT


def test_records_have_the_lowest_confidence_of_their_verdicts(tmp_path):
    assert concluded(tmp_path, same(1.0, confidence="medium"), same(1.0)).confidence == "medium"


def test_a_digest_changes_with_any_part(tmp_path):
    def digest(**parts: str) -> str:
        return outcome.task_digest(make_plan(tmp_path, "image", digests=tuple(parts.items())))

    assert digest(brief="a", verifier="b") == digest(verifier="b", brief="a") != digest(brief="a", verifier="c")
    assert digest() == ""

"""What a trial counts as: the table's rows in order, and what an agent could do to dodge its failure."""

import pytest

from scenlint.rulings.classes import Effect, cut_off, rule_on
from scenlint.task.record import CheckResult, Disposed, Disposition, FailureClass, Phase, Status, TrialRecord, Verdict

NONE = Status.NO_VERDICT
ACTED = ("build", "start", "agent", "overlay", "verify", "verdict")


def trial(
    failure_class: FailureClass | None,
    evidence: str = "",
    *,
    status: Status = Status.FAILED,
    phases=ACTED,
    agent="solver",
) -> TrialRecord:
    return TrialRecord(
        "t", "task", "harbor", agent, status=status, failure_class=failure_class, failure_evidence=evidence,
        phases=[Phase(name) for name in phases], reward={Status.PASSED: 1.0, Status.FAILED: 0.0}.get(status),
        checks=[CheckResult("a", status is Status.PASSED)],
    )  # fmt: skip


def ruled(record: TrialRecord, *controls: TrialRecord):
    return rule_on([record], controls)[0]


@pytest.mark.parametrize(
    ("record", "rule", "failure_class", "effect"),
    [
        (trial(FailureClass.INFRASTRUCTURE, "full", status=NONE, phases=("build",)), 1, "infrastructure", "excluded"),
        (trial(FailureClass.INTERRUPTED, "interrupted", status=NONE), 1, "interrupted", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "litellm.RateLimitError: slow down"), 2, "provider", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "ApiOverloadedError"), 2, "provider", "excluded"),
        (trial(FailureClass.CONFIGURATION, "?", status=NONE, phases=("build",)), 3, "configuration", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "AuthenticationError: who are you"), 3, "configuration", "excluded"),
        (trial(FailureClass.CHEATING, "planted a reward"), 4, "cheating", "excluded"),
        (trial(FailureClass.AGENT_TIMEOUT, "stopped after 900 s"), 6, "agent-timeout", "excluded"),
        (trial(FailureClass.BUDGET, "2 USD used up"), 7, "budget", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "ContextWindowExceededError"), 8, "context", "excluded"),
        (trial(FailureClass.REFUSAL, "I cannot help"), 9, "refusal", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "5 of 6 tool calls failed"), 10, "tool-error", "excluded"),
        (trial(FailureClass.TOOL_ERROR, "the agent ended with exit status 3"), 11, "agent-crash", "excluded"),
        (trial(FailureClass.MISALIGNMENT, "confirmed"), 12, "misalignment", "excluded"),
        (trial(FailureClass.WRONG_ANSWER, "failed: `total`"), 13, "wrong-answer", "failure"),
        (trial(None, status=Status.PASSED), 14, None, "pass"),
    ],
)  # fmt: skip
def test_each_row_of_the_table(record, rule, failure_class, effect):
    found = ruled(record)
    assert (found.rule, found.failure_class, found.effect) == (rule, failure_class, effect)


@pytest.mark.parametrize("said", ["failed: `keeps the rate limit`", "failed: `answers 503 with an error status`"])
def test_a_check_about_such_things_is_no_fault_of_the_provider(said):
    assert ruled(trial(FailureClass.WRONG_ANSWER, said)).effect is Effect.FAILURE


def test_what_the_verifier_printed_excludes_no_trial():
    # The agent has its work say so, and the verifier quotes it.
    record = trial(FailureClass.TOOL_ERROR, "the agent ended with exit status 1; expected 42, got ApiOverloadedError")
    record.strict = Verdict(0.0, reason="expected 42, got ApiOverloadedError")
    assert ruled(record).failure_class is FailureClass.AGENT_CRASH


def test_what_a_person_decided_goes_before_the_table_and_leaves_the_record_as_it_is():
    record = trial(FailureClass.WRONG_ANSWER, "failed: `total`")
    record.dispositions = [Disposition("t", Disposed.EXCLUDED, "power cut", "maintainer")]
    found = ruled(record)
    assert (found.effect, found.evidence, found.rule) == (Effect.EXCLUDED, "maintainer: power cut", 13)
    assert (record.failure_class, record.failure_evidence) == (FailureClass.WRONG_ANSWER, "failed: `total`")


def test_what_is_wrongly_set_up_stops_the_calibration():
    assert ruled(trial(FailureClass.TOOL_ERROR, "ModelNotFoundError")).stops
    assert not ruled(trial(FailureClass.WRONG_ANSWER)).stops


def test_a_fault_after_the_agent_began_counts_as_its_failure():
    fault = trial(FailureClass.VERIFIER_ERROR, "verify: no reward was written", status=NONE)
    found = ruled(
        fault, trial(None, status=Status.PASSED, agent="oracle"), trial(FailureClass.WRONG_ANSWER, agent="nop")
    )
    assert found.effect is Effect.FAILURE
    assert "tampering" in found.person


@pytest.mark.parametrize("control", ["oracle", "nop"])
def test_a_fault_that_a_control_shows_too_is_excluded(control):
    fault = trial(FailureClass.VERIFIER_ERROR, "verify: no reward was written", status=NONE)
    same = trial(FailureClass.VERIFIER_ERROR, "verify: boom", status=NONE, agent=control)
    found = ruled(fault, same)
    assert found.effect is Effect.EXCLUDED
    assert control in found.evidence


def test_infrastructure_that_fails_after_the_agent_began_is_no_way_out():
    killed = trial(FailureClass.INFRASTRUCTURE, "the container is gone (after the agent had begun)", status=NONE)
    assert ruled(killed).effect is Effect.FAILURE


def test_an_agent_that_crashes_again_has_failed():
    crash = trial(FailureClass.AGENT_CRASH, "ended with exit status 1")
    effects = [r.effect for r in rule_on([crash, trial(FailureClass.WRONG_ANSWER), crash, crash])]
    assert effects == ["excluded", "failure", "failure", "failure"]


def test_a_timed_out_trial_whose_work_is_whole_has_passed():
    late = trial(FailureClass.AGENT_TIMEOUT, "stopped after 900 s", status=Status.PASSED)
    assert ruled(late).effect is Effect.PASS


def test_trials_that_a_limit_cut_off_are_counted():
    found = rule_on([trial(FailureClass.AGENT_TIMEOUT), trial(FailureClass.BUDGET), trial(FailureClass.WRONG_ANSWER)])
    assert cut_off(found) == 2

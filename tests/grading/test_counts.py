"""How each row of the table counts when an agent is graded, and how far a run says it has come."""

import pytest
from graded import trial

from scenlint.cli.tally import Tally
from scenlint.rulings.classes import rule_on
from scenlint.task.record import FailureClass, Status


def made(failure_class, evidence="", status=Status.FAILED, letter="F"):
    record = trial("a", letter, 1)
    record.failure_class, record.failure_evidence, record.status = failure_class, evidence, status
    record.reward = {Status.PASSED: 1.0, Status.FAILED: 0.0}.get(status)
    return record


@pytest.mark.parametrize(
    ("record", "rule", "graded"),
    [
        (made(FailureClass.INFRASTRUCTURE, "full", Status.NO_VERDICT, "I"), 1, None),
        (made(FailureClass.TOOL_ERROR, "ApiOverloadedError"), 2, None),
        (made(FailureClass.TOOL_ERROR, "AuthenticationError: who are you"), 3, None),
        (made(FailureClass.CHEATING, "planted a reward"), 4, False),
        (made(FailureClass.VERIFIER_ERROR, "no reward was written", Status.NO_VERDICT), 5, None),  # no controls
        (made(FailureClass.AGENT_TIMEOUT), 6, False),
        (made(FailureClass.AGENT_TIMEOUT, status=Status.PASSED), 14, True),
        (made(FailureClass.BUDGET), 7, False),
        (made(FailureClass.TOOL_ERROR, "ContextWindowExceededError"), 8, False),
        (made(FailureClass.REFUSAL), 9, False),
        (made(FailureClass.TOOL_ERROR, "5 of 6 tool calls failed"), 10, False),
        (made(FailureClass.TOOL_ERROR, "the agent ended with exit status 3"), 11, False),
        (made(FailureClass.MISALIGNMENT, "confirmed"), 12, None),
        (made(FailureClass.WRONG_ANSWER, "failed: `total`"), 13, False),
        (made(None, status=Status.PASSED), 14, True),
    ],
)
def test_each_row_of_the_table(record, rule, graded):
    (ruling,) = rule_on([record])
    assert (ruling.rule, ruling.graded) == (rule, graded)


def test_a_tally_knows_what_was_spent_and_how_long_the_rest_takes():
    now = [0.0]
    tally = Tally(lambda: now[0])
    tally.planned(5)
    assert str(tally) == "0 of 5 trials"
    now[0] = 60.0
    tally.ended(trial("a", "P", 1, cost=None))
    assert str(tally) == "1 of 5 trials, about 4 min left"
    tally.ended(trial("a", "F", 2, cost=0.5))
    tally.left_out(1)  # takes no time, so it says nothing about the others
    assert str(tally) == "3 of 5 trials, 0.50 USD, about 60 s left"
    now[0] = 100.0
    tally.ended(trial("a", "P", 3, cost=0.25))
    tally.ended(trial("a", "P", 4))
    assert str(tally) == "5 of 5 trials, 1.00 USD"

"""Signs that failures are the task's fault and not the agents'."""

import pytest

from scenlint.calibration.classes import rule_on
from scenlint.calibration.misalignment import holds_up, signals
from scenlint.task.record import CheckResult, FailureClass, Phase, Status, TrialRecord
from scenlint.testing import base_task, load_task


@pytest.fixture
def task(tmp_path):
    return load_task(base_task("packet", tmp_path / "product"))


def failures(agent: str, detail: str, number: int = 4):
    for n in range(number):
        yield TrialRecord(
            f"{agent}-{n}", "product", "packet", agent, 0.0, Status.FAILED, FailureClass.WRONG_ANSWER,
            phases=[Phase("agent")], checks=[CheckResult("test 1", False, label="test", detail=detail)],
        )  # fmt: skip


def signs(task, detail):
    return signals(task, rule_on(list(failures("strong", detail)), ()), list(failures("weak", detail)))


def test_a_fixed_message_of_the_verifier_is_no_value_that_agents_agree_on(task):
    (verifier,) = [file for file in task.verifier.files if file.language == "python"]
    message = "Criterion 1: answer.txt in the working directory holds the product."
    assert message in verifier.text
    found = signs(task, f"Traceback (most recent call last):\n    assert answer\nAssertionError: {message}")
    assert "M1" in {s.name for s in found}
    assert not {"M2", "M4"} & {s.name for s in found}
    assert found[0].made == (f"AssertionError: {message}",)


def test_a_value_that_is_seen_again_and_again_is_a_sign(task):
    found = signs(task, "AssertionError: '41' != '42'")
    assert [s.made for s in found if s.name == "M2"] == [("AssertionError: '41' != '42'",)]


def test_a_check_that_is_not_known_by_name_is_not_said_to_answer_to_nothing(task):
    found = signs(task, "AssertionError: '41' != '42'")
    assert "M4" not in {s.name for s in found}
    assert all("not known" in s.brief for s in found if s.check)


def test_one_check_alone_never_holds_a_scenario_up(task):
    found = [s for s in signs(task, "AssertionError: '41' != '42'") if s.name in ("M1", "M2")]
    assert len(found) == 2
    assert not holds_up(found)

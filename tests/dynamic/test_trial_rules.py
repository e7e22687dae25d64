"""What the rules about trials say, and when they say that they cannot tell. (Their pages show what they find.)"""

from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.lint.engine import Engine, Outcome
from scenlint.task.model import Task
from scenlint.testing import base_task, load_task, records

CODES = ["SL701", "SL702", "SL703", "SL704", "SL705", "SL706", "SL716", "SL719"]


@pytest.fixture
def task(tmp_path) -> Task:
    return load_task(base_task("harbor", tmp_path / "harbor"))


def judged(task: Task, *trials: dict, select: str = "dynamic") -> Outcome:
    engine = Engine(Settings(root=Path(task.folder)).override(select=[select]))
    outcome = engine.judge_trials(task, records(trials, task))
    assert not outcome.crashes
    return outcome


def test_without_trials_nothing_is_assessed_and_everything_says_why(task):
    outcome = judged(task)
    assert outcome.ran == []
    assert [n.code for n in outcome.not_assessed] == CODES
    assert all(n.reason for n in outcome.not_assessed)


def test_a_clean_pair_of_trials_satisfies_all_but_the_rule_about_repetition(task):
    outcome = judged(task, {"agent": "oracle", "reward": 1.0}, {"agent": "nop", "reward": 0.0})
    assert outcome.findings == []
    assert [n.code for n in outcome.not_assessed] == ["SL704"]
    assert "--trials 3" in outcome.not_assessed[0].reason


def test_a_task_without_a_solution_has_no_oracle_to_judge(tmp_path):
    folder = base_task("packet", tmp_path / "packet")
    (folder / "solve.sh").unlink()
    outcome = judged(load_task(folder), {"agent": "nop", "reward": 0.0}, select="SL701")
    assert outcome.ran == []
    assert "solve.sh" in outcome.not_assessed[0].reason


def test_a_trial_that_the_machine_spoiled_proves_nothing(task):
    spoiled = {"failure_class": "infrastructure", "phases": [{"name": "start", "error": "infrastructure: disk full"}]}
    outcome = judged(task, {"agent": "oracle", **spoiled}, {"agent": "nop", **spoiled})
    assert (outcome.findings, outcome.ran) == ([], [])
    reasons = {n.code: n.reason for n in outcome.not_assessed}
    assert reasons["SL702"] == "no trial of `nop` gave a verdict (infrastructure: disk full)"
    assert reasons["SL705"] == "infrastructure: disk full"


def test_a_nop_that_was_not_graded_is_no_nop_that_failed(task):
    crashed = {"failure_class": "verifier-error", "failure_evidence": "the verifier wrote no reward"}
    outcome = judged(task, {"agent": "oracle", "reward": 1.0}, {"agent": "nop", **crashed})
    assert [f.code for f in outcome.findings] == ["SL705"]
    assert {n.code for n in outcome.not_assessed} == {"SL702", "SL703", "SL704"}


def test_a_finding_names_its_trials_and_quotes_what_the_verifier_printed(task):
    printed = "collected 1 item\nE   AssertionError: '41' != '42'\nFAILED test_product\n1 failed in 0.1s\n"
    trial = {"agent": "oracle", "reward": 0.0, "failure_evidence": "reward 0"}
    again = {**trial, "attempt": 2}
    phases = [{"name": "verify", "output": printed}]
    (finding,) = judged(task, {**trial, "phases": phases}, again, select="SL701").findings
    assert "(trials `oracle-1`, `oracle-2`, 2 of 2)" in finding.message
    assert finding.message.endswith("it printed `E   AssertionError: '41' != '42'`")
    assert "`scenlint trials oracle-1`" in finding.help
    assert finding.related[0].path == task.folder / "solution" / "solve.sh"


def test_a_secret_in_the_output_is_not_quoted(task):
    secret = "ghp_" + "a1B2" * 10
    trial = {"agent": "oracle", "reward": 0.0, "phases": [{"name": "verify", "output": f"error: token {secret}\n"}]}
    (finding,) = judged(task, trial, select="SL701").findings
    assert "error: token" in finding.message
    assert secret not in finding.message


def test_one_fault_is_one_finding(task):
    invalid = {
        "agent": "nop",
        "failure_class": "verifier-error",
        "strict": {"reward": None, "invalid": True, "reason": "holds 1.5, which is outside of [0, 1]"},
        "harness": {"reward": 1.5, "passed": False},
    }
    assert [f.code for f in judged(task, invalid).findings] == ["SL706"]
    passing = {"agent": "nop", "reward": 1.0, "checks": [{"id": "test_product", "passed": True}]}
    assert [f.code for f in judged(task, passing).findings] == ["SL702"]


def test_the_same_fault_of_both_agents_is_one_finding_and_two_faults_are_two(task):
    def crashed(agent: str, why: str) -> dict:
        return {"agent": agent, "failure_class": "verifier-error", "failure_evidence": why}

    (finding,) = judged(task, crashed("oracle", "no reward"), crashed("nop", "no reward")).findings
    assert "`oracle` and `nop`" in finding.message
    assert len(judged(task, crashed("oracle", "no reward"), crashed("nop", "timeout")).findings) == 2


def test_suppressions_hold_for_trials_as_for_files(task):
    script = task.folder / "tests" / "test.sh"
    first, rest = script.read_text().split("\n", 1)
    script.write_text(f"{first}  # scenlint: ignore[nop-passes] the point of this demonstration\n{rest}")
    outcome = judged(load_task(task.folder), {"agent": "nop", "reward": 1.0}, select="SL702")
    assert (outcome.findings, outcome.suppressed) == ([], 1)

"""Which recorded trials still serve after an edit, and what stands in the way of running a task at all."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.dynamic.gate import AGENTS, Action, Gate, decide, settings_digest
from scenlint.harness.agents import Nop, OracleAgent
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Entry, Ledger, Wanted
from scenlint.lint.discover import format_named
from scenlint.task.plan import NotRunnableError, RunPlan
from scenlint.task.record import FailureClass, Status, TrialRecord
from scenlint.testing import base_task, load_task

DIGESTS = {"brief": "b", "environment": "e", "verifier": "v", "oracle": "o", "metadata": "m"}


def plan(**edited: str) -> RunPlan:
    return RunPlan("product", "packet", Path(), (), digests=tuple({**DIGESTS, **edited}.items()))


def entry(agent: str = "oracle", **record) -> Entry:
    kept = TrialRecord("t1", "product", "packet", agent, 1.0, Status.PASSED, digests=dict(DIGESTS))
    return Entry("t1", "r1", "product", "settings", replace(kept, **record), Path(), finished=True)


@pytest.mark.parametrize(
    ("part", "action", "why"),
    [
        ("brief", Action.RERUN, "rerun: brief edited"),
        ("environment", Action.RERUN, "rerun: environment edited"),
        ("oracle", Action.RERUN, "rerun: oracle edited"),
        ("verifier", Action.REGRADE, "regrade: verifier edited"),
        ("metadata", Action.REUSE, "reuse: only metadata edited"),
    ],
)
def test_an_edit_of_each_part_means_what_it_should(part, action, why):
    assert decide(entry(), plan(**{part: "new"}), "settings") == (action, why)


def test_an_untouched_task_is_reused():
    assert decide(entry(), plan(), "settings") == (Action.REUSE, "")


def test_the_strongest_of_several_edits_decides():
    edited = plan(verifier="new", environment="new", metadata="new")
    assert decide(entry(), edited, "settings") == (Action.RERUN, "rerun: environment edited")


def test_an_edited_oracle_is_nothing_to_other_agents():
    assert decide(entry("nop"), plan(oracle="new"), "settings") == (Action.REUSE, "")


@pytest.mark.parametrize(
    "record",
    [
        {"reward": None, "status": Status.NO_VERDICT, "failure_class": FailureClass.INTERRUPTED},
        {"reward": None, "status": Status.NO_VERDICT, "failure_class": FailureClass.CONFIGURATION},
        {"digests": {}},
    ],
)
def test_what_shows_nothing_of_the_task_is_run_again(record):
    assert decide(entry(**record), plan(), "settings")[0] is Action.RERUN


def test_a_verifier_that_gave_no_verdict_is_a_result():
    record = {"reward": None, "status": Status.NO_VERDICT, "failure_class": FailureClass.VERIFIER_ERROR}
    assert decide(entry(**record), plan(), "settings") == (Action.REUSE, "")


def test_other_settings_mean_a_rerun():
    assert decide(entry(), plan(), "others")[0] is Action.RERUN
    usual = settings_digest(plan(), OracleAgent(), Options())
    assert usual == settings_digest(plan(), OracleAgent(), Options())
    assert usual != settings_digest(plan(), Nop(), Options())
    assert usual != settings_digest(plan(), OracleAgent(), Options(substitutes={"debian:12": "local:1"}))
    # What a task does not ask for makes no difference to it.
    assert usual == settings_digest(plan(), OracleAgent(), Options(allow_unsafe=frozenset({"privileged"})))


# ---------------------------------------------------------------- with tasks and a ledger


@pytest.fixture
def gate(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    yield Gate(Options(), ledger)
    ledger.close()


def prepare(gate: Gate, folder: Path):
    task = load_task(folder)
    return gate.prepare(task, "product", format_named(task.format).plan)


def record(gate: Gate, subject, job, **fields) -> None:
    trial, _ = gate.ledger.begin("run", len(gate.ledger.entries()), wanted(subject, job))
    kept = TrialRecord(trial, subject.task.id, "packet", job.agent.name, digests=dict(subject.plan.digests))
    gate.ledger.finish(replace(kept, attempt=job.attempt, **fields))


def wanted(subject, job) -> Wanted:
    return Wanted("product", subject.task.id, "packet", job.agent.name, job.attempt, job.settings)


def named(jobs) -> list[tuple[str, int]]:
    return [(job.agent.name, job.attempt) for job in jobs]


def test_oracle_and_nop_are_wanted_each_as_often_as_asked(gate, tmp_path):
    subject = prepare(gate, base_task("packet", tmp_path / "packet"))
    jobs = gate.jobs(subject, AGENTS, 2)
    assert named(jobs) == [("oracle", 1), ("oracle", 2), ("nop", 1), ("nop", 2)]


def test_without_a_solution_only_nop_is_wanted(gate, tmp_path):
    folder = base_task("packet", tmp_path / "packet")
    (folder / "solve.sh").unlink()
    subject = prepare(gate, folder)
    assert named(gate.jobs(subject, AGENTS, 1)) == [("nop", 1)]


def test_only_what_is_missing_is_run_and_the_newest_that_serves_is_reused(gate, tmp_path):
    subject = prepare(gate, base_task("packet", tmp_path / "packet"))
    oracle, _ = gate.jobs(subject, AGENTS, 1)
    record(gate, subject, oracle, reward=0.5, status=Status.FAILED)
    record(gate, subject, oracle, reward=1.0, status=Status.PASSED)
    record(gate, subject, oracle, failure_class=FailureClass.INTERRUPTED)
    assert named(gate.jobs(subject, AGENTS, 2)) == [("oracle", 2), ("nop", 1), ("nop", 2)]
    assert [(t.record.reward, t.reused) for t in subject.trials] == [(1.0, True)]
    assert named(gate.jobs(subject, AGENTS, 1, resume=False)) == [("oracle", 1), ("nop", 1)]


def test_an_edited_file_of_a_real_task_is_noticed(gate, tmp_path):
    folder = base_task("packet", tmp_path / "packet")
    subject = prepare(gate, folder)
    for job in gate.jobs(subject, AGENTS, 1):
        record(gate, subject, job, reward=1.0, status=Status.PASSED)
    check = next((folder / "checks").iterdir())
    check.write_text(check.read_text() + "# stricter\n")
    assert [job.why for job in gate.jobs(prepare(gate, folder), AGENTS, 1)] == ["regrade: verifier edited"] * 2
    shutil.copy(folder / "solve.sh", folder / "work" / "extra.sh")
    jobs = gate.jobs(prepare(gate, folder), AGENTS, 1)
    assert [job.why for job in jobs] == ["rerun: environment edited"] * 2


def test_what_stands_in_the_way_is_said_before_anything_runs(gate, tmp_path, monkeypatch):
    def plan_of(task):
        raise NotRunnableError("`budget.agent_sec` in packet.json is 'soon'; it must be a number")

    folder = base_task("packet", tmp_path / "packet")
    subject = gate.prepare(load_task(folder), "product", plan_of)
    assert subject.obstacle == "`budget.agent_sec` in packet.json is 'soon'; it must be a number"
    assert gate.jobs(subject, AGENTS, 1) == []


def test_a_machine_without_an_engine_runs_no_container_task(gate, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    subject = prepare(gate, base_task("harbor", tmp_path / "harbor"))
    assert subject.obstacle.startswith("no container engine answers")
    assert gate.jobs(subject, AGENTS, 1) == []

"""`scenlint trials`: the ledger's trials, listed and shown."""

import json

import pytest
from packets import packet

from scenlint.harness.ledger import Ledger
from scenlint.task.record import Experiment, FailureClass, Status, TrialRecord


@pytest.fixture
def recorded(tmp_path, scenlint):
    """The trials of a sound and of a wrong task."""
    packet(tmp_path / "tasks" / "product")
    packet(tmp_path / "tasks" / "wrong", solve="echo 41 > answer.txt; seq 1000")
    told = json.loads(scenlint("validate", "tasks", "--gate", "--format", "json").stdout)
    return {(t["task"], t["agent"]): t for t in told["trials"]}


def test_all_are_listed_and_narrowed_down(recorded, scenlint):
    lines = scenlint("trials").stdout.splitlines()
    assert lines[0].split()[:3] == ["trial", "started", "task"]
    assert len(lines) == 5
    lines = scenlint("trials", "--task", "wrong", "--agent", "oracle").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [recorded["wrong", "oracle"]["id"]]
    assert "failed (wrong-answer)" in lines[1]
    told = json.loads(scenlint("trials", "--agent", "nop", "--format", "json").stdout)
    assert [t["reward"] for t in told["trials"]] == [0.0, 0.0]


def test_one_is_shown_with_phases_outputs_checks_and_both_verdicts(recorded, scenlint):
    trial = recorded["wrong", "oracle"]
    shown = scenlint("trials", trial["id"]).stdout
    assert "strict   0, failed" in shown
    assert "harness  0, failed" in shown
    assert "  failed     test" in shown
    assert "AssertionError: Criterion 1" in shown
    assert "988 lines before" in shown
    assert f"{trial['folder']}/agent.log" in shown
    assert len(scenlint("trials", trial["id"], "--full").stdout.splitlines()) > 1000


def test_the_beginning_of_an_id_is_enough_if_it_is_unique(recorded, scenlint):
    ids = sorted(t["id"] for t in recorded.values())
    run = ids[0].partition("-")[0]
    told = json.loads(scenlint("trials", ids[0], "--format", "json").stdout)
    assert (told["id"], told["running"]) == (ids[0], False)
    assert scenlint("trials", run).returncode == 2
    assert "the ids of 4 trials begin with it" in scenlint("trials", run).stderr
    assert scenlint("trials", "nothing").returncode == 2


def test_without_a_ledger_it_says_so(scenlint):
    done = scenlint("trials")
    assert done.returncode == 2
    assert "nothing has been run yet" in done.stderr


def test_of_many_the_newest_are_listed_and_how_many_are_left_out(tmp_path, scenlint):
    ledger = Ledger(tmp_path / ".scenlint")
    ledger.take_in(
        [
            TrialRecord(
                *(f"r1-{n}", "product", "harbor", "frontier", float(n % 2), Status.PASSED if n % 2 else Status.FAILED),
                None if n % 2 else FailureClass.WRONG_ANSWER,
                started=f"2030-01-01T00:00:{n:02}.000+00:00",
                experiment=Experiment("grade", "run-a" if n < 5 else "run-b"),
                model="m1",
            )
            for n in range(1, 10)
        ]
    )
    ledger.close()
    lines = scenlint("trials", "--limit", "2").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["r1-8", "r1-9"]
    assert lines[3].startswith("7 older trials are not listed")
    assert all(len(scenlint("trials", *more).stdout.splitlines()) == 10 for more in ((), ("--limit", "0")))
    told = json.loads(scenlint("trials", "--run", "run-a", "--status", "failed", "--limit", "1", "-f", "json").stdout)
    assert ([t["id"] for t in told["trials"]], told["left_out"]) == (["r1-4"], 1)
    some = scenlint("trials", "--failure", "wrong-answer", "--model", "m1", "--since", "2030-01-01").stdout
    assert len(some.splitlines()) == 5
    assert scenlint("trials", "--since", "2999-01-01").stdout == "no such trial is recorded\n"

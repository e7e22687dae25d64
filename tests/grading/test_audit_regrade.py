"""Saved work of real trials in the local sandbox, graded again."""

import json
import shutil

import pytest
from test_grade import SOLVER, admitted, agent

from scenlint.grading.audit import chain_of
from scenlint.grading.audit.examine import examine
from scenlint.grading.runs import runs
from scenlint.harness.ledger import Ledger

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


@pytest.fixture
def suite(tmp_path, scenlint):
    """A suite whose two scenarios were graded twice each; every fourth trial is not solved."""
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "scenlint.toml").write_text(agent(script=SOLVER))
    for name in ("steady", "turns"):
        admitted(folder, name, folder)
    argv = ("grade", ".", "--agent", "frontier", "--trials", "2", "--jobs", "1", "--quiet")
    assert scenlint(*argv, cwd=folder).returncode == 0
    return folder


def told(suite):
    """Regrade lines of the run's chain, and the faults of the record as a whole."""
    ledger = Ledger(suite / ".scenlint", create=False)
    try:
        (run,) = runs(ledger.folder)
        return [line.data for line in chain_of(ledger, run.id).lines("regrade")], examine(ledger, run.id).found
    finally:
        ledger.close()


def test_saved_work_gets_the_same_verdict_until_the_verifier_is_another_one(suite, scenlint):
    before = {path: path.read_bytes() for path in (suite / ".scenlint").rglob("trials/*/*.json")}
    (run,) = runs(suite / ".scenlint")

    done = scenlint("audit", "regrade", run.id[:8], "--quiet", cwd=suite)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "4 trials graded again, 0 with another verdict"
    lines, found = told(suite)
    assert found == []
    assert sorted(line["before"]["reward"] for line in lines) == [0.0, 1.0, 1.0, 1.0]
    assert all(line["before"] == line["after"] and line["files"] for line in lines)

    task = suite / "turns"
    about = json.loads((task / "packet.json").read_text())
    about["verification"]["checks"][0]["command"] = "grep -q 41 answer.txt"
    (task / "packet.json").write_text(json.dumps(about))
    done = scenlint("audit", "regrade", run.id, "turns", "--quiet", "--format", "json", cwd=suite)
    assert done.returncode == 1, done.stderr
    again = json.loads(done.stdout)["trials"]
    assert sorted((t["before"]["reward"], t["after"]["reward"]) for t in again) == [(0.0, 1.0), (1.0, 0.0)]
    assert all(t["differs"] and "edited since it was admitted" in t["edited"] for t in again)

    lines, found = told(suite)
    assert (len(lines), found) == (6, [])
    assert {path: path.read_bytes() for path in before} == before


def test_work_that_was_not_kept_is_said(suite, scenlint):
    (run,) = runs(suite / ".scenlint")
    ledger = Ledger(suite / ".scenlint")
    (first, *_) = ledger.rows(kind="grade")
    shutil.rmtree(ledger.folder_of(first.id) / "snapshot")
    ledger.close()
    done = scenlint("audit", "regrade", run.id, "steady", "--quiet", cwd=suite)
    assert done.returncode == 4
    assert f"{first.id}: not graded again: its work was not kept" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 trial graded again, 0 with another verdict; 1 could not be"
    assert scenlint("audit", "regrade", run.id, "nothing", cwd=suite).returncode == 2
    (suite / "scenlint-suite.json").unlink()
    assert "name it by --suite" in scenlint("audit", "regrade", run.id, cwd=suite).stderr

"""What the oracle changed is kept as it was, and restored as it was, in containers and in local sandboxes."""

from dataclasses import replace

import pytest
from plans import dockerfile, make_plan, make_step

from scenlint.harness import snapshot as snapshots
from scenlint.harness.agents import OracleAgent
from scenlint.harness.replay import Change, Recorder, Replay
from scenlint.harness.snapshot import OUTPUT, Snapshot
from scenlint.task.plan import Check, Command, Image, Oracle, Reader, RunPlan, Step, Upload, Verify, Where

IMAGE = "RUN mkdir -p /app/data && echo in > /app/data/given.txt && echo old > /app/data/old.txt && useradd -m worker\n"
SOLVE = """
echo 42 > /app/answer.txt
echo out >> /app/data/given.txt
rm /app/data/old.txt
mkdir -p "/app/deep/a b"; printf 'x\\0y' > "/app/deep/a b/ünï.bin"
echo s > /app/run.sh; chmod 4751 /app/run.sh
chown worker:worker /app/answer.txt; chmod 640 /app/answer.txt; touch -d '2020-02-03 04:05:06 UTC' /app/answer.txt
ln -s ../answer.txt /app/data/link; ln /app/answer.txt /app/second
mkdir /app/empty; chmod 700 /app/empty
echo x > /logs/agent/own.log
"""
LIST = "cd / && find app -printf '%p %y %m %u %s %l\\n' | sort > /logs/verifier/seen; stat -c %Y /app/answer.txt"
TEST = (
    LIST + " >> /logs/verifier/seen; md5sum '/app/deep/a b/'* /app/data/given.txt >> /logs/verifier/seen; echo 1 > $R\n"
)


@pytest.fixture
def recorded(base, run, tmp_path):
    """A trial of the oracle in a container, kept; and the plan."""

    def go(solve=SOLVE, test=TEST, more=IMAGE, **changes):
        step = make_step(tmp_path, solve, test.replace("$R", "/logs/verifier/reward.txt"))
        plan = make_plan(tmp_path, dockerfile(tmp_path / "env", base.tag, more), step, **changes)
        record = run(plan, Recorder(OracleAgent(), "world:oracle-again"))
        folder = tmp_path / "trials" / record.id
        return plan, record, folder

    return go


def seen(tmp_path, record):
    return (tmp_path / "trials" / record.id / "collected/logs/verifier/seen").read_text()


@pytest.mark.engine
def test_a_container_is_restored_as_it_was_left(recorded, run, tmp_path):
    plan, record, folder = recorded()
    assert record.reward == 1.0, record.failure_evidence
    snapshot = Snapshot.load(folder)
    items = {i.path: i for i in snapshot.items}
    assert items["/app/answer.txt"].new
    assert not items["/app/data/given.txt"].new
    assert items["/app/data/old.txt"].kind == "deleted"
    assert items["/app/data/link"].target == "../answer.txt"
    assert snapshot.read("/app/data/given.txt") == b"in\nout\n"
    assert not any(path.startswith(("/solution", "/logs/agent", "/logs/verifier")) for path in items)
    assert {i.path for i in snapshot.results} == {
        "/app/answer.txt", "/app/data/given.txt", "/app/deep/a b/ünï.bin", "/app/run.sh", "/app/second",
    }  # fmt: skip
    again = run(plan, Replay("world:regraded", snapshot))
    assert again.reward == 1.0, again.failure_evidence
    assert seen(tmp_path, again) == seen(tmp_path, record)


@pytest.mark.engine
def test_a_large_change_is_read_in_one_go_and_restored_alike(recorded, run, tmp_path):
    solve = SOLVE + "for n in $(seq 300); do echo $n > /app/data/f$n; done\n"
    plan, record, folder = recorded(solve)
    snapshot = Snapshot.load(folder)
    assert sum(i.path.startswith("/app/data/f") for i in snapshot.items) == 300
    again = run(plan, Replay("world:regraded", snapshot))
    assert seen(tmp_path, again) == seen(tmp_path, record)


@pytest.mark.engine
def test_changes_are_made_after_restoring(recorded, run, tmp_path):
    plan, _, folder = recorded()
    snapshot = Snapshot.load(folder)
    changes = (
        Change.write("/app/answer.txt", b"41\n"),
        Change.write("/app/new/extra.txt", b"e"),
        Change.delete("/app/deep"),
        Change.chmod("/app/run.sh", 0o600),
        Change.untouched("/app/data/given.txt"),
        Change.untouched("/app/data/old.txt"),
    )
    again = run(plan, Replay("mutant:several#1", snapshot, changes))
    told = {line.split(" ")[0]: line for line in seen(tmp_path, again).splitlines() if line.startswith("app")}
    assert told["app/answer.txt"] == "app/answer.txt f 640 worker 3 "
    assert "app/new/extra.txt" in told
    assert not any(path.startswith("app/deep") for path in told)
    assert told["app/run.sh"].split()[2] == "600"
    assert told["app/data/given.txt"].split()[4] == "3"
    assert "app/data/old.txt" in told


@pytest.mark.engine
def test_a_file_that_was_handed_in_before_the_work_is_no_result_of_it(recorded, base, run, tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("a,b\n")
    step = replace(make_step(tmp_path), uploads=(Upload(given, "/app/given.csv"), Upload(given, "/app/edited.csv")))
    solve = step.oracle.uploads[0].source / "solve.sh"
    solve.write_text("#!/bin/bash\necho 42 > /app/answer.txt\necho c >> /app/edited.csv\n")
    plan = make_plan(tmp_path, base.tag, step)
    record = run(plan, Recorder(OracleAgent(), "world:oracle-again"))
    snapshot = Snapshot.load(tmp_path / "trials" / record.id)
    assert [(i.path, i.new) for i in snapshot.results] == [("/app/answer.txt", True), ("/app/edited.csv", False)]
    again = run(plan, Replay("world:regraded", snapshot, (Change.untouched("/app/edited.csv"),)))
    assert again.reward == 1.0


@pytest.mark.engine
def test_each_step_has_its_own_layer(base, run, tmp_path):
    one = make_step(tmp_path, "echo 1 > /app/one.txt", "cat /app/one.txt > /logs/verifier/reward.txt", "one")
    second = "grep -q 1 /app/one.txt && cat /app/two.txt > /logs/verifier/reward.txt"
    two = make_step(tmp_path, "echo 1 > /app/two.txt; rm -rf /solution", second, "two")
    plan = make_plan(tmp_path, base.tag, one, two)
    record = run(plan, Recorder(OracleAgent(), "world:oracle-again"))
    assert record.reward == 1.0, record.failure_evidence
    snapshot = Snapshot.load(tmp_path / "trials" / record.id)
    assert [i.path for i in snapshot.layers["two"] if i.kind == "file"] == ["/app/two.txt"]
    again = run(plan, Replay("world:regraded", snapshot))
    assert (again.reward, again.step_rewards) == (1.0, {"one": 1.0, "two": 1.0})


@pytest.mark.engine
def test_what_a_snapshot_cannot_hold_is_noted(recorded):
    solve = "echo 42 > /app/answer.txt; (sleep 300 &) >/dev/null 2>&1; echo v > /kept/v"
    _, record, folder = recorded(solve, "echo 1 > $R", more="VOLUME /kept\n")
    assert record.reward == 1.0
    notes = Snapshot.load(folder).notes
    assert "the volume at `/kept` is not in the snapshot" in notes
    assert any(note.startswith("still running after the work: sleep 300") for note in notes)


# The local sandbox


@pytest.fixture
def local(tmp_path):
    """A plan for the local sandbox whose check lists the working directory."""
    work = tmp_path / "work"
    (work / "data").mkdir(parents=True)
    (work / "data/given.txt").write_text("in\n")
    (work / "old.txt").write_text("old\n")
    solve = tmp_path / "solve.sh"
    solve.write_text(
        "echo 42 > answer.txt\necho out >> data/given.txt\nrm old.txt\nln -s answer.txt link\nmkdir -p a/b\n"
        "chmod 751 answer.txt\ntouch -d '2020-02-03 04:05:06 UTC' answer.txt\necho printed\n"
    )
    listing = "find . -printf '%p %y %m %s %l\\n' | sort; stat -c %Y answer.txt; cat -"
    verify = Verify(
        Where.LOCAL, (Check("list", Command(("bash", "-c", listing))),), Reader.EXIT_STATUS, agent_output=True
    )
    oracle = Oracle((Upload(solve, "/oracle/solve.sh"),), Command(("bash", "/oracle/solve.sh")))
    return RunPlan("local", "packet", tmp_path, (Step("Do it.", verify, oracle=oracle),), workdir=work)


def ran(plan, agent, folder):
    from scenlint.harness import trial

    record = trial.run(plan, agent, folder)
    assert record.reward == 1.0, record.failure_evidence
    return next(p.output for p in record.phases if p.name == "verify")


def test_a_local_sandbox_is_restored_as_it_was_left(local, tmp_path):
    before = ran(local, Recorder(OracleAgent(), "world:oracle-again"), tmp_path / "one")
    snapshot = Snapshot.load(tmp_path / "one")
    kinds = {i.path: (i.kind, i.new) for i in snapshot.items}
    assert kinds["/workspace/answer.txt"] == ("file", True)
    assert kinds["/workspace/data/given.txt"] == ("file", False)
    assert kinds["/workspace/old.txt"] == ("deleted", False)
    assert kinds[OUTPUT][0] == "file"
    assert "/oracle/solve.sh" not in kinds
    assert "printed" in before
    assert ran(local, Replay("world:regraded", snapshot), tmp_path / "two") == before


def test_what_the_agent_printed_can_be_changed_too(local, tmp_path):
    ran(local, Recorder(OracleAgent(), "world:oracle-again"), tmp_path / "one")
    snapshot = Snapshot.load(tmp_path / "one")
    changed = Replay("mutant:said#1", snapshot, (Change.write(OUTPUT, b"something else"),))
    said = ran(local, changed, tmp_path / "two")
    assert "something else" in said
    assert "printed" not in said


def test_a_snapshot_is_told_apart_by_its_content_not_by_where_and_when(local, tmp_path):
    names = ("one", "two")
    for name in names:
        ran(local, Recorder(OracleAgent(), "world:oracle-again"), tmp_path / name)
    one, two = (Snapshot.load(tmp_path / name) for name in names)
    assert one.digest == two.digest
    assert repr(Replay("world:regraded", one)) == repr(Replay("world:regraded", two))
    changed = [repr(Replay("m", one, (Change.write("/workspace/answer.txt", data),))) for data in (b"1", b"2")]
    assert changed[0] != changed[1]


def test_work_that_is_too_large_to_keep_is_graded_all_the_same(local, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "LIMIT", 4)
    ran(local, Recorder(OracleAgent(), "world:oracle-again"), tmp_path / "one")
    assert Snapshot.load(tmp_path / "one") is None
    assert "too much for a snapshot" in Snapshot.problem(tmp_path / "one")


def test_half_a_snapshot_is_none(local, tmp_path):
    ran(local, Recorder(OracleAgent(), "world:oracle-again"), tmp_path / "one")
    next((tmp_path / "one/snapshot/files").iterdir()).unlink()
    assert Snapshot.load(tmp_path / "one") is None


def test_an_image_is_not_needed_to_say_that_there_is_no_snapshot(tmp_path):
    plan = make_plan(tmp_path, Image(reference="none"))
    from scenlint.task.plan import NotRunnableError

    with pytest.raises(NotRunnableError, match="no snapshot of step"):
        Replay("world:regraded", Snapshot(tmp_path)).check(plan)

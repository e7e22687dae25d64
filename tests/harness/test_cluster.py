"""Trials on a Dask cluster: what goes out and comes back, and that each is recorded once whatever dies meanwhile."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from cluster import Local, leftovers

from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.cluster import ClusterError, errand
from scenlint.harness.cluster.parcel import LEFT_OUT, Parcel, packed, returned, unpacked
from scenlint.harness.engine import Options
from scenlint.task.plan import NotRunnableError, Upload
from scenlint.task.record import FailureClass, Status
from scenlint.testing import base_task, load_task


class Follower:
    """A watcher that acts after so many trials."""

    def __init__(self, **after):
        self.after = {int(number[1:]): do for number, do in after.items()}
        self.ended_trials, self.notes = 0, []
        self._lock = threading.Lock()

    def ended(self, job, record):
        with self._lock:
            self.ended_trials += 1
            if do := self.after.pop(self.ended_trials, None):
                do()

    def note(self, text):
        self.notes.append(text)

    def ignored(self, *_):
        pass

    planned = began = phase = left_out = ignored


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    made = Local(2, folder=tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


def slow_packet(folder: Path, seconds: float) -> Path:
    task = base_task("packet", folder / "packet")
    with (task / "solve.sh").open("a") as script:
        script.write(f"\nsleep {seconds}\n")
    return task


def run(task: Path, local: Local, watcher: Follower, **options) -> list:
    request = stage.Request(
        [task], Settings(root=task), watcher, ledger=task.parent / ".scenlint", cluster=local.address, **options
    )
    watcher.stop = request.stop
    done = stage.run(request)
    assert done.crashes == []
    return done.subjects[0].trials


def test_every_trial_is_recorded_once_although_a_worker_and_the_scheduler_die(local, tmp_path):
    task = slow_packet(tmp_path, 0.3)
    watcher = Follower(_3=local.kill_worker, _8=local.restart_scheduler)
    trials = run(task, local, watcher, agents=[OracleAgent()], trials=16)
    assert Counter(t.record.attempt for t in trials) == dict.fromkeys(range(1, 17), 1)
    assert {t.record.status for t in trials} == {Status.PASSED}
    assert any("run again" in note for note in watcher.notes)
    for shown in trials:
        assert (shown.folder / "agent.log").is_file()
        assert {p.name for p in shown.record.phases} >= {"start", "agent", "verify", "verdict"}
    assert leftovers() == []
    again = run(task, local, Follower(), agents=[OracleAgent()], trials=16)
    assert [t.reused for t in again] == [True] * 16


def test_an_interrupted_run_ends_on_the_workers_too(local, tmp_path):
    task = slow_packet(tmp_path, 300)
    watcher = Follower()
    watcher.began = lambda *_: threading.Timer(2.0, watcher.stop.set).start()
    trials = run(task, local, watcher, agents=[OracleAgent()], trials=6)
    assert {t.record.failure_class for t in trials} <= {FailureClass.INTERRUPTED}
    assert leftovers() == []


def test_a_trial_without_a_worker_that_could_run_it_says_what_is_missing(local, tmp_path):
    task = base_task("harbor", tmp_path / "harbor")
    (shown,) = run(task, local, Follower(), agents=[Nop()])
    assert shown.record.failure_class is FailureClass.CONFIGURATION
    assert "engine=1" in shown.record.failure_evidence


def test_a_cluster_that_does_not_answer_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("scenlint.harness.cluster.client._FIRST", 0.3)
    task = base_task("packet", tmp_path / "packet")
    with pytest.raises(ClusterError, match="no scheduler answers at `tcp:"):
        run(task, type("Gone", (), {"address": "tcp://127.0.0.1:9"}), Follower())


# ---------------------------------------------------------------- what runs on a worker


def errand_of(folder: Path, seconds: float) -> Parcel:
    from scenlint.formats.packet import FORMAT

    return Parcel(FORMAT.plan(load_task(slow_packet(folder, seconds))), OracleAgent(), Options())


def test_an_errand_needs_nothing_of_the_drivers_disk(tmp_path):
    parcel = errand_of(tmp_path, 0)
    (tmp_path / "packet").rename(tmp_path / "gone")
    record, archive = errand.perform(parcel, "r1", "r1-1", False)
    unpacked(archive, tmp_path / "back")
    assert record["status"] == "passed"
    assert record["id"] == "r1-1"
    assert (tmp_path / "back" / "agent.log").is_file()
    errand.finish("r1", False)
    assert leftovers() == []


def test_a_worker_stops_when_its_driver_falls_silent(tmp_path, monkeypatch):
    monkeypatch.setattr(errand, "SILENCE", 0.5)
    record, _ = errand.perform(errand_of(tmp_path, 300), "r2", "r2-1", False)
    assert record["failure_class"] == "interrupted"
    errand.finish("r2", False)
    assert leftovers() == []


# ---------------------------------------------------------------- parcels


def test_a_parcel_brings_the_files_that_its_paths_name_and_no_ledger(tmp_path):
    task, other = tmp_path / "task", tmp_path / "other" / "tool.py"
    for path in (task / "a" / "b.txt", task / ".scenlint" / "ledger.db", other):
        path.parent.mkdir(parents=True)
        path.write_text(path.name)
    (task / "a" / "link").symlink_to("b.txt")
    (task / "a" / "b.txt").chmod(0o755)
    agent = CommandAgent(("x",), uploads=(Upload(other, "/tool.py"), Upload(tmp_path / "none", "/none")))
    there = tmp_path / "there"
    folder, file, moved = Parcel(task, task / "a" / "b.txt", agent).open(there)
    assert folder.is_relative_to(there)
    assert file.read_text() == "b.txt"
    assert file == folder / "a" / "b.txt"
    assert file.stat().st_mode & 0o777 == 0o755
    assert (folder / "a" / "link").readlink() == Path("b.txt")
    assert not (folder / ".scenlint").exists()
    tool, none = moved.uploads
    assert tool.source.is_relative_to(there)
    assert tool.source.read_text() == "tool.py"
    assert none.source == tmp_path / "none"
    assert moved.argv == ("x",)


def test_too_much_for_a_parcel_is_refused_and_what_does_not_come_back_is_named(tmp_path):
    (tmp_path / "small").write_bytes(b"1")
    (tmp_path / "large").write_bytes(b"2" * 1000)
    with pytest.raises(NotRunnableError, match="is needed on the cluster"):
        packed([tmp_path], 500)
    unpacked(returned(tmp_path, 500), tmp_path / "back")
    assert (tmp_path / "back" / "small").read_bytes() == b"1"
    assert not (tmp_path / "back" / "large").exists()
    assert (tmp_path / "back" / LEFT_OUT).read_text() == "large (1000 bytes)\n"


def test_what_comes_back_stays_in_its_folder(tmp_path):
    import io
    import tarfile

    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as tar:
        for name, link in (("../out", ""), ("/abs", ""), ("in", "/tmp"), ("in/out", ""), ("ok", "")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = (tarfile.SYMTYPE, link) if link else (tarfile.REGTYPE, "")
            tar.addfile(info, io.BytesIO())
    unpacked(body.getvalue(), tmp_path / "back")
    assert sorted(p.name for p in (tmp_path / "back").iterdir()) == ["in", "ok"]
    assert [p.name for p in tmp_path.iterdir()] == ["back"]

"""The ledger: what is finished stays, whatever happens to the process that wrote it or to the disk."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from scenlint.harness.ledger import Ledger, LedgerError, Wanted
from scenlint.task.record import FailureClass, Phase, Status, TrialRecord, Verdict

PHASES = ("build", "start", "agent", "overlay", "verify", "verdict", "collect", "remove")


@pytest.fixture
def ledger(tmp_path):
    book = Ledger(tmp_path / "ledger")
    yield book
    book.close()


def wanted(agent: str = "oracle", attempt: int = 1, place: str = "tasks/product") -> Wanted:
    return Wanted(place, "product", "harbor", agent, attempt, settings="s1")


def finished(trial: str, agent: str = "oracle", reward: float = 1.0) -> TrialRecord:
    status = Status.PASSED if reward == 1.0 else Status.FAILED
    return TrialRecord(
        *(trial, "product", "harbor", agent, reward, status),
        strict=Verdict(reward, reward == 1.0),
        phases=[Phase(name, duration=0.1, output=f"{name} said this") for name in PHASES],
        digests={"verifier": "v1"},
    )


def record_trial(book: Ledger, run: str = "r1", number: int = 1, **what) -> TrialRecord:
    trial, _ = book.begin(run, number, wanted(**what))
    record = finished(trial, what.get("agent", "oracle"))
    record.attempt = what.get("attempt", 1)
    for phase in record.phases:
        book.phase(record, phase)
    book.finish(record)
    return record


def test_a_finished_trial_is_read_back_whole(ledger):
    ledger.open_run("r1", "validate")
    record = record_trial(ledger)
    (entry,) = ledger.entries()
    assert entry.record == record
    assert (entry.id, entry.run, entry.place, entry.settings) == ("r1-1", "r1", "tasks/product", "s1")
    assert (entry.finished, entry.running) == (True, False)
    assert TrialRecord.from_json(json.loads((entry.folder / "record.json").read_text())) == record


def test_a_trial_under_way_shows_the_phases_that_have_ended(ledger):
    ledger.open_run("r1", "validate")
    trial, folder = ledger.begin("r1", 1, wanted())
    assert folder.is_dir()
    record = finished(trial)
    record.phases = record.phases[:2]
    for phase in record.phases:
        ledger.phase(record, phase)
    (entry,) = ledger.entries()
    assert [p.name for p in entry.record.phases] == ["build", "start"]
    assert entry.record.digests == {"verifier": "v1"}
    assert (entry.finished, entry.running) == (False, True)


def test_entries_are_found_by_task_agent_place_and_the_beginning_of_their_id(ledger):
    ledger.open_run("r1", "validate")
    record_trial(ledger, number=1)
    record_trial(ledger, number=2, agent="nop")
    record_trial(ledger, run="r2", number=1, place="elsewhere/product")
    assert [e.id for e in ledger.entries(agent="oracle")] == ["r1-1", "r2-1"]
    assert [e.id for e in ledger.entries(place="elsewhere/product")] == ["r2-1"]
    assert [e.id for e in ledger.entries(task="product", agent="nop")] == ["r1-2"]
    assert [e.id for e in ledger.entries(id="r1")] == ["r1-1", "r1-2"]
    assert ledger.entries(task="another") == []


def test_removed_trials_are_gone_with_their_folders_and_no_others(ledger):
    ledger.open_run("r1", "validate")
    record_trial(ledger, number=1)
    record_trial(ledger, number=2)
    old, kept = ledger.entries()
    ledger.remove([old])
    assert [e.id for e in ledger.entries()] == [kept.id]
    assert not old.folder.exists()
    assert kept.folder.is_dir()


def test_it_keeps_itself_out_of_the_repository(tmp_path, ledger):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    record_trial(ledger)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_ledger_that_is_not_there_is_only_made_for_writing(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_a_damaged_and_a_newer_ledger_say_so(tmp_path):
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "ledger.db").write_bytes(b"no database" * 1000)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(tmp_path / "damaged")
    Ledger(tmp_path / "newer").close()
    with sqlite3.connect(tmp_path / "newer" / "ledger.db") as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(LedgerError, match="newer scenlint"):
        Ledger(tmp_path / "newer")


# ---------------------------------------------------------------- ends of the driver

DRIVER = """
    import os, signal, sys
    from pathlib import Path
    sys.path.insert(0, {here!r})
    from test_ledger import finished, wanted
    from scenlint.harness.ledger import Ledger, LedgerError

    folder, run, many, stop_after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    ledger = Ledger(folder)
    ledger.open_run(run, "test")
    print("open", flush=True)
    try:
        for number in range(1, many + 1):
            trial, _ = ledger.begin(run, number, wanted(attempt=number))
            record = finished(trial)
            record.attempt = number
            for phase in record.phases:
                ledger.phase(record, phase)
                if phase.name == stop_after:
                    os.kill(os.getpid(), signal.SIGKILL)
            ledger.finish(record)
            print(trial, flush=True)
    except LedgerError as exc:
        print("ledger error:", exc, flush=True)
        sys.exit(3)
"""


def driver(folder: Path, run: str, many: int = 1, stop_after: str = "-", before: tuple[str, ...] = ()):
    script = textwrap.dedent(DRIVER.format(here=str(Path(__file__).parent)))
    argv = [*before, sys.executable, "-c", script, str(folder), run, str(many), stop_after]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("phase", PHASES)
def test_killed_in_any_phase_its_phases_are_kept_and_the_next_run_knows(tmp_path, phase):
    process = driver(tmp_path, "dead", stop_after=phase)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    ledger = Ledger(tmp_path)
    (entry,) = ledger.entries()
    assert [p.name for p in entry.record.phases] == list(PHASES[: PHASES.index(phase) + 1])
    assert (entry.finished, entry.running) == (False, False)
    (dead,) = ledger.open_run("next", "validate")
    assert dead.id == "dead-1"
    (entry,) = ledger.entries()
    assert entry.finished
    assert (entry.record.reward, entry.record.status) == (None, Status.NO_VERDICT)
    assert entry.record.failure_class is FailureClass.INTERRUPTED
    assert entry.record.failure_evidence == f"scenlint ended after the phase {phase}"
    ledger.close()


def test_killed_at_any_moment_nothing_that_was_finished_is_lost(tmp_path):
    reported = []
    for number in range(8):
        process = driver(tmp_path, f"run{number}", many=1000)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        time.sleep(0.01 + 0.07 * number)
        process.kill()
        reported += process.communicate(timeout=60)[0].split()
        ledger = Ledger(tmp_path)
        recorded = {e.id: e for e in ledger.entries()}
        assert all(recorded[trial].finished and recorded[trial].record.reward == 1.0 for trial in reported)
        assert all((recorded[trial].folder / "record.json").exists() for trial in reported)
        ledger.close()
    assert len(reported) > 20
    with sqlite3.connect(tmp_path / "ledger.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_many_drivers_share_one_ledger_that_none_of_them_found(tmp_path):
    processes = [driver(tmp_path / "new", f"run{number}", many=10) for number in range(6)]
    outs = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    ledger = Ledger(tmp_path / "new")
    entries = ledger.entries()
    assert sorted(e.id for e in entries) == sorted(trial for out in outs for trial in out if trial != "open")
    assert len(entries) == 60
    assert all(e.finished and e.record.reward == 1.0 for e in entries)
    ledger.close()


def test_a_living_driver_is_not_taken_for_dead(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.open_run("mine", "validate")
    ledger.begin("mine", 1, wanted())
    script = (
        "import sys; from pathlib import Path; from scenlint.harness.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1])); print(len(ledger.open_run('other', 'validate')))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr
    assert ledger.entries()[0].running
    ledger.close()


def test_a_full_disk_is_said_and_what_was_finished_is_kept(tmp_path):
    """On a file system of its own of 2 MB, made by bubblewrap; what was recorded there is copied out afterwards."""
    out = tmp_path / "out"
    out.mkdir()
    copy = f"cp -r /disk/ledger {out}/ledger; rm -f /disk/filler; exit $code"
    box = ("bwrap", "--dev-bind", "/", "/", "--size", str(2 * 1024**2), "--tmpfs", "/disk")
    script = 'head -c 1200000 /dev/zero > /disk/filler; "$@"; code=$?; ' + copy
    process = driver(Path("/disk/ledger"), "full", many=1000, before=(*box, "bash", "-c", script, "bash"))
    said = process.communicate(timeout=120)[0].splitlines()
    assert process.returncode == 3, said
    assert said[-1].startswith("ledger error: the ledger `/disk/ledger")
    assert "disk is full" in said[-1] or "No space left on device" in said[-1]
    trials = said[1:-1]
    assert len(trials) > 3
    ledger = Ledger(out / "ledger")
    kept = {e.id for e in ledger.entries() if e.finished}
    assert set(trials) <= kept
    ledger.close()


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="file"):
        Ledger(tmp_path / "file" / "ledger")
    assert os.listdir(tmp_path) == ["file"]


def test_a_driver_on_another_machine_is_given_a_day(tmp_path):
    ledger = Ledger(tmp_path)
    for run, started in (("old", "2020-01-01T00:00:00.000+00:00"), ("new", "2999-01-01T00:00:00.000+00:00")):
        ledger.open_run(run, "validate")
        ledger.begin(run, 1, wanted())
        with sqlite3.connect(tmp_path / "ledger.db") as db:
            elsewhere = json.dumps({"scenlint.host": "another", "scenlint.boot": "b", "scenlint.pid": "1"})
            db.execute("UPDATE runs SET owner = ?, started = ? WHERE id = ?", (elsewhere, started, run))
    assert {e.run: e.running for e in ledger.entries()} == {"old": False, "new": True}
    ledger.close()

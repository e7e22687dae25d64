"""A ledger whose database is damaged is made anew, up to the last whole record."""

import json
import sqlite3
from contextlib import closing

import pytest
from test_ledger import record_trial, wanted

from scenlint.harness.ledger import Head, Ledger, LedgerError
from scenlint.harness.ledger.rebuild import rebuild


@pytest.fixture
def folder(tmp_path):
    """A ledger of 39 trials, and the head of a chain."""
    ledger = Ledger(tmp_path)
    ledger.open_run("r1", "grade")
    for number in range(1, 40):
        record_trial(ledger, number=number, attempt=number)
    ledger.set_head("run-a", Head(3, "a" * 64))
    ledger.close()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as db, db:  # as its driver has ended
        db.execute("UPDATE runs SET owner = '{}', started = '2000'")
    return tmp_path


def trials(folder):
    ledger = Ledger(folder, create=False)
    try:
        return {e.id: (e.place, e.settings, e.run, e.attempt, e.record.reward) for e in ledger.entries()}
    finally:
        ledger.close()


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_database_is_told_and_made_anew_from_the_folders(folder, kept):
    before, path = trials(folder), folder / "ledger.db"
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * kept))
    with pytest.raises(LedgerError, match="--rebuild"):
        trials(folder)
    made = rebuild(folder)
    assert trials(folder) == before
    assert (made.trials, made.from_folders) == (39, 39)
    assert made.old == folder / "ledger.db.old-1"


def test_bytes_that_were_overwritten_do_not_come_back(folder):
    before, path = trials(folder), folder / "ledger.db"
    data = bytearray(path.read_bytes())
    data[8192 : len(data) - 4096] = b"\xff" * (len(data) - 12288)
    path.write_bytes(data)
    made = rebuild(folder)
    assert trials(folder) == before
    assert made.problems


def test_without_damage_nothing_is_lost_and_the_heads_of_chains_stay(folder):
    rebuild(folder)
    ledger = Ledger(folder)
    assert ledger.count() == 39
    assert ledger.head("run-a") == Head(3, "a" * 64)
    ledger.close()


def test_a_record_that_is_not_whole_is_told_and_the_others_stand(folder):
    record = folder / "trials" / "r1-7" / "record.json"
    record.write_text(record.read_text()[:200])
    (folder / "ledger.db").write_bytes(b"")
    made = rebuild(folder)
    assert (made.trials, len(made.problems)) == (38, 2)
    assert "`trials/r1-7/record.json` cannot be read" in made.problems[1]
    assert "r1-7" not in trials(folder)


def test_a_database_that_is_still_good_gives_a_record_that_its_folder_lost(folder):
    (folder / "trials" / "r1-7" / "record.json").unlink()
    assert rebuild(folder).trials == 39
    assert trials(folder)["r1-7"] == ("tasks/product", "s1", "r1", 7, 1.0)


def test_records_of_earlier_versions_have_no_place_but_are_there(folder):
    path = folder / "trials" / "r1-7" / "record.json"
    told = json.loads(path.read_text())
    del told["ledger"]
    path.write_text(json.dumps(told))
    (folder / "ledger.db").unlink()
    made = rebuild(folder)
    assert (made.trials, made.old) == (39, None)
    assert trials(folder)["r1-7"] == ("", "", "r1", 7, 1.0)


def test_a_ledger_that_a_run_uses_is_left_alone(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.open_run("r1", "grade")
    record_trial(ledger, number=1)
    ledger.begin("r1", 2, wanted(attempt=2))
    with pytest.raises(LedgerError, match="in use by the run r1"):
        rebuild(tmp_path)
    assert not list(tmp_path.glob("*.new"))
    assert ledger.count() == 2
    ledger.close()


def test_where_there_is_no_ledger_none_is_made(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger"):
        rebuild(tmp_path / "none")


def test_the_command_says_what_it_did(folder, scenlint):
    (folder / "ledger.db").write_bytes(b"no database" * 100)
    done = scenlint("trials", "--ledger", folder)
    assert (done.returncode, "trials --rebuild" in done.stderr) == (2, True)
    done = scenlint("trials", "--rebuild", "--ledger", folder)
    assert done.returncode == 1
    assert "made anew: 39 trials, 39 of them from their folders" in done.stdout
    assert "nothing of `ledger.db` can be read" in done.stderr
    assert len(scenlint("trials", "--ledger", folder).stdout.splitlines()) == 40

"""The ledger's light rows and its counting, and a ledger of version 1 that becomes one of version 2."""

import json
import multiprocessing
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from test_ledger import finished, wanted

from scenlint.harness.ledger import Ledger, LedgerError, Wanted, schema
from scenlint.harness.ledger.rows import condition, ordered
from scenlint.task.record import Experiment, FailureClass, Status

FIRST = """
CREATE TABLE runs (id TEXT PRIMARY KEY, command TEXT, started TEXT, owner TEXT);
CREATE TABLE trials (
    id TEXT PRIMARY KEY, run TEXT, place TEXT, task TEXT, format TEXT, agent TEXT, attempt INTEGER, settings TEXT,
    started TEXT, finished INTEGER DEFAULT 0, status TEXT, reward REAL, record TEXT
);
CREATE INDEX trials_of_task ON trials (place, agent, attempt);
CREATE TABLE phases (trial TEXT, number INTEGER, phase TEXT, PRIMARY KEY (trial, number));
PRAGMA user_version=1;
"""


def several():
    """Trials a minute apart: r1-1 of a graded run, r1-2 that failed, r2-1 of another agent and model."""
    graded = finished("r1-1")
    graded.experiment = Experiment("grade", "run-a", target="tasks/product")
    graded.model, graded.suite, graded.cost_usd, graded.output_tokens = "m1", "sha256:s", 0.25, 900
    graded.duration, graded.task_digest = 12.5, "sha256:t"
    failed = finished("r1-2", reward=0.0)
    failed.failure_class = FailureClass.WRONG_ANSWER
    other = finished("r2-1", agent="nop", reward=0.0)
    other.model = "m2"
    for minute, record in enumerate((graded, failed, other)):
        record.started = f"2030-01-01T00:0{minute}:00.000+00:00"
    return [graded, failed, other]


@pytest.fixture
def filled(tmp_path):
    book = Ledger(tmp_path / "ledger")
    book.take_in(several())
    yield book
    book.close()


def test_a_row_says_what_the_record_says(filled):
    row = next(filled.rows(trial="r1-1"))
    assert (row.id, row.task, row.agent, row.attempt, row.status, row.reward) == (
        *("r1-1", "product", "oracle", 1), "passed", 1.0,
    )  # fmt: skip
    assert (row.kind, row.name, row.model, row.suite) == ("grade", "run-a", "m1", "sha256:s")
    assert (row.cost_usd, row.output_tokens, row.input_tokens, row.duration) == (0.25, 900, None, 12.5)
    assert (row.finished, row.running, row.graded, row.failure_class) == (True, False, True, "")


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({}, ["r1-1", "r1-2", "r2-1"]),
        ({"kind": "grade", "name": "run-a"}, ["r1-1"]),
        ({"kind": "calibration"}, []),
        ({"failure_class": "wrong-answer"}, ["r1-2"]),
        ({"status": "failed", "agent": "oracle"}, ["r1-2"]),
        ({"model": "m2"}, ["r2-1"]),
        ({"suite": "sha256:s"}, ["r1-1"]),
        ({"task_digest": "sha256:t"}, ["r1-1"]),
        ({"since": "2030-01-01T00:01"}, ["r1-2", "r2-1"]),
        ({"before": "2030-01-01T00:01"}, ["r1-1"]),
        ({"id": "r1"}, ["r1-1", "r1-2"]),
        ({"trial": "r1"}, []),
        ({"finished": False}, []),
    ],
)
def test_filters_select_rows_entries_and_counts_alike(filled, filters, ids):
    assert [row.id for row in filled.rows(**filters)] == ids
    assert [entry.id for entry in filled.entries(**filters)] == ids
    assert filled.count(**filters) == len(ids)


def test_pages_and_the_newest_are_in_the_order_of_their_start(filled):
    assert [row.id for row in filled.rows(limit=2)] == ["r1-1", "r1-2"]
    assert [row.id for row in filled.rows(limit=2, offset=2)] == ["r2-1"]
    assert [row.id for row in filled.rows(newest=2)] == ["r1-2", "r2-1"]
    assert [row.id for row in filled.rows(newest=1, agent="oracle")] == ["r1-2"]
    assert [entry.record.started for entry in filled.entries(newest=1)] == ["2030-01-01T00:02:00.000+00:00"]


def test_rows_may_be_read_while_trials_are_written(filled):
    rows = filled.rows()
    first = next(rows)
    filled.take_in([replace(finished("r3-1"), started="2031-01-01T00:00:00.000+00:00")])
    assert [first.id, *(row.id for row in rows)] == ["r1-1", "r1-2", "r2-1"]
    assert filled.count() == 4


@pytest.mark.parametrize(
    "filters",
    [{}, {"task": "product"}, {"agent": "nop"}, {"kind": "grade", "name": "run-a"}, {"id": "r1"}, {"trial": "r1-1"}],
)
def test_what_lists_ask_for_is_found_by_an_index(filled, filters):
    where, values = condition(filters)
    query = ordered(where, "id", limit=None, offset=0, newest=5)
    with closing(sqlite3.connect(filled.folder / "ledger.db")) as db:
        steps = [step for *_, step in db.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    assert [s for s in steps if "trials" in s]
    assert not [s for s in steps if s.startswith("SCAN trials") and "INDEX" not in s], steps


# ---------------------------------------------------------------- version 1


def first_ledger(folder):
    """As a scenlint of version 1 left it: a finished trial, an imported one, and one whose driver died."""
    (folder / "trials").mkdir(parents=True)
    graded, failed, dead = several()
    with sqlite3.connect(folder / "ledger.db") as db:
        db.executescript(FIRST)
        db.execute("INSERT INTO runs VALUES ('r1', 'grade', '2000', '{}')")
        for record, done in ((graded, 1), (failed, 1), (dead, 0)):
            phases = [] if not done else None
            told = record.to_json() if done else {**record.to_json(), "phases": phases}
            values = (record.id, "r1", "tasks/product", "product", "harbor", record.agent, 1, "s1", record.started)
            db.execute(
                f"INSERT INTO trials VALUES ({', '.join('?' * 13)})",
                (*values, done, record.status.value if done else None, record.reward, json.dumps(told)),
            )
        db.execute("INSERT INTO phases VALUES (?, 0, ?)", (dead.id, json.dumps({"name": "build", "duration": 2.0})))
    return [graded, failed, dead]


def test_a_first_ledger_is_brought_up_to_date_where_it_lies(tmp_path):
    graded, failed, dead = first_ledger(tmp_path)
    ledger = Ledger(tmp_path, create=False)
    entries = ledger.entries()
    assert [e.record for e in entries[:2]] == [graded, failed]
    assert [(e.place, e.settings, e.run, e.finished) for e in entries[:1]] == [("tasks/product", "s1", "r1", True)]
    assert [(e.id, e.finished, [p.name for p in e.record.phases]) for e in entries[2:]] == [(dead.id, False, ["build"])]
    assert [(row.name, row.cost_usd) for row in ledger.rows(kind="grade")] == [("run-a", 0.25)]
    assert [e.id for e in ledger.open_run("r9", "grade")] == [dead.id]
    trial, _ = ledger.begin("r9", 1, wanted())
    ledger.finish(finished(trial))
    ledger.close()
    again = Ledger(tmp_path)
    assert again.count() == 4
    again.close()


def test_a_first_ledger_that_cannot_be_brought_up_to_date_stays_as_it_is(tmp_path):
    first_ledger(tmp_path)
    with sqlite3.connect(tmp_path / "ledger.db") as db:
        db.execute("UPDATE trials SET record = 'no json' WHERE id = 'r1-2'")
    with pytest.raises(LedgerError, match="--rebuild"):
        Ledger(tmp_path)
    with sqlite3.connect(tmp_path / "ledger.db") as db:
        assert schema.version(db) == 1
        assert [id for (id,) in db.execute("SELECT id FROM trials")] == ["r1-1", "r1-2", "r2-1"]


def _opened(folder):
    ledger = Ledger(folder)
    try:
        return ledger.count()
    finally:
        ledger.close()


def test_several_processes_may_bring_it_up_to_date_at_once(tmp_path):
    first_ledger(tmp_path)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_opened, [tmp_path] * 3) == [3, 3, 3]


def test_an_unfinished_trial_shows_what_it_was_begun_for(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.open_run("r1", "grade")
    made = Experiment("grade", "run-a", target="tasks/product")
    ledger.begin("r1", 1, Wanted("tasks/product", "product", "harbor", "frontier", 1, "s1", made, "sha256:s"))
    (row,) = ledger.rows(kind="grade", finished=False)
    assert (row.name, row.suite, row.running, row.status) == ("run-a", "sha256:s", True, Status.NO_VERDICT.value)
    ledger.close()

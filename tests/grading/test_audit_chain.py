"""The audit record: every later change is found, a line that a crash cut off is no change, writers take turns."""

import hashlib
import json
import multiprocessing
import os
import sqlite3

import pytest
from audited import RUN, audited

from scenlint.grading.audit import Chain, ChainError, path_of, verify
from scenlint.grading.audit.examine import examine, examine_file
from scenlint.harness.ledger import Ledger


@pytest.fixture
def chain(tmp_path):
    """A chain of its own: seven lines, the last of which is the run's end."""
    made = Chain.create(tmp_path / "run-1.jsonl", {"suite": "sha256:s", "agent": "frontier"})
    for number in range(1, 6):
        made.append("trial", {"record": {"id": f"r-{number}", "reward": 1.0}, "files": {}, "said": "ü\u2028\ud800"})
    made.end({"complete": True})
    return made


def faults(path, head=None):
    return [fault for fault in verify(path, head) if not fault.note]


def test_what_was_written_is_read_back_and_verifies(chain):
    assert verify(chain.path) == []
    lines = list(chain.lines())
    assert [line.kind for line in lines] == ["run", *["trial"] * 5, "end"]
    assert [line.number for line in lines] == [line.stated for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert lines[1].data["said"] == "ü\u2028\ud800"
    assert lines[-1].data == {"complete": True, "lines": {"run": 1, "trial": 5}}
    assert [a.hash for a in lines[:-1]] == [b.prev for b in lines[1:]]
    assert [line.data["record"]["id"] for line in chain.lines("trial")] == [f"r-{n}" for n in range(1, 6)]
    assert chain.ended


def test_every_byte_counts(chain):
    """One after the other each byte of the file is another one; no change goes unnoticed, and its line is named."""
    raw = chain.path.read_bytes()
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1
        chain.path.write_bytes(changed)
        line = raw.count(b"\n", 0, at) + 1
        assert line in [fault.line for fault in faults(chain.path)], (at, raw[at])


@pytest.mark.parametrize(
    ("order", "line", "what"),
    [
        ([0, 2, 1, 3, 4, 5, 6], 2, "taken out or changed"),
        ([0, 1, 3, 4, 5, 6], 3, "taken out or changed"),
        ([1, 2, 3, 4, 5, 6], 1, "taken out or changed"),
        ([0, 1, 2, 2, 3, 4, 5, 6], 4, "a second time; first in line 3"),
        ([0, 1, 2, 3, 4, 1, 5, 6], 6, "a second time; first in line 2"),
    ],
)
def test_lines_that_were_moved_removed_or_repeated_are_told(chain, order, line, what):
    lines = chain.path.read_bytes().splitlines(keepends=True)
    chain.path.write_bytes(b"".join(lines[n] for n in order))
    assert faults(chain.path)[0].line == line
    assert what in faults(chain.path)[0].what


def test_a_line_put_in_with_a_right_hash_of_its_own_is_told(chain, tmp_path):
    other = Chain.create(tmp_path / "other.jsonl", {"suite": "sha256:s"})
    other.append("trial", {"record": {"id": "r-9", "reward": 1.0}, "files": {}})
    lines = chain.path.read_bytes().splitlines(keepends=True)
    lines.insert(3, other.path.read_bytes().splitlines(keepends=True)[1])
    chain.path.write_bytes(b"".join(lines))
    assert [fault.line for fault in faults(chain.path)] == [4, 5, 8]


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"no JSON",
            b"[1",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"n":1',
            b'{"n":1,"at":"","kind":"run","data":[],"prev":""',
        ),
        *(b'{"n":"1","at":"","kind":"run","data":{},"prev":""', b'{"n":1,"at":"","kind":["run"],"data":{},"prev":""'),
    ],
)
def test_what_is_no_line_is_told_although_its_hash_is_right(chain, body):
    raw = chain.path.read_bytes()
    forged = body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'
    chain.path.write_bytes(forged + raw)
    assert faults(chain.path)[0].line == 1
    assert "put in" in faults(chain.path)[0].what
    assert len(list(chain.lines())) == 7
    chain.path.write_bytes(raw + forged)
    with pytest.raises(ChainError, match="not as it was written"):
        chain.append("trial", {})


@pytest.mark.parametrize("data", [{}, {"record": {}, "files": {}}, {"record": {"id": "r-1"}, "files": []}])
def test_a_line_without_a_trial_is_a_fault(tmp_path, data):
    made = Chain.create(tmp_path / "run-1.jsonl", {})
    made.append("trial", data)
    assert [(fault.line, fault.what) for fault in examine_file(made.path).faults] == [(2, "it holds no trial")]


def test_an_end_counts_the_lines_before_it(tmp_path):
    made = Chain.create(tmp_path / "run-1.jsonl", {})
    made.append("trial", {})
    made.append("end", {"lines": {"run": 1, "trial": 2}})
    assert faults(made.path)[0].line == 3


def test_an_end_that_counts_nonsense_is_told(tmp_path):
    made = Chain.create(tmp_path / "run-1.jsonl", {})
    made.append("end", {"lines": {"run": "one"}})
    assert faults(made.path)[0].line == 2


def test_a_line_that_was_cut_off_is_recovered_from_and_said(chain):
    """At whatever byte of the last line: those before it stand, and the next writer goes on after them."""
    raw = chain.path.read_bytes()
    whole = raw[: raw.rindex(b"\n", 0, -1) + 1]
    for kept in range(len(whole) + 1, len(raw), 7):
        chain.path.write_bytes(raw[:kept])
        assert faults(chain.path) == []
        assert verify(chain.path)[0].what.startswith("it is cut off in the middle; the 6 before it stand")
        again = Chain.open(chain.path)
        again.append("trial", {"record": {"id": "r-6"}})
        assert again.recovered == f"{kept - len(whole)} bytes of a line that was not written to its end"
        assert [line.kind for line in again.lines()][6:] == ["recovered", "trial"]
        assert faults(chain.path) == []


def test_there_is_one_chain_for_a_run(chain, tmp_path):
    with pytest.raises(ChainError, match="there already"):
        Chain.create(chain.path, {})
    with pytest.raises(ChainError, match="no audit record"):
        Chain.open(tmp_path / "none.jsonl")
    (tmp_path / "other.txt").write_text("hello")
    assert faults(tmp_path / "other.txt")[0].what == "it is no whole line, and there is none before it"
    (tmp_path / "empty.jsonl").touch()  # the process died before its first line
    assert faults(tmp_path / "empty.jsonl")[0].what == "it is empty"
    assert Chain.create(tmp_path / "empty.jsonl", {}).append("trial", {}).number == 2


def _write(path, name):
    for number in range(25):
        Chain.open(path).append("trial", {"by": name, "number": number, "much": "x" * 20_000})


def test_writers_in_several_processes_take_turns(tmp_path):
    path = tmp_path / "run-1.jsonl"
    Chain.create(path, {})
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(_write, [(path, "a"), (path, "b")])
    assert faults(path) == []
    written = [(line.data["by"], line.data["number"]) for line in Chain.open(path).lines("trial")]
    assert sorted(written) == [(name, number) for name in "ab" for number in range(25)]
    assert [pair for pair in written if pair[0] == "a"] == [("a", number) for number in range(25)]


# ---------------------------------------------------------------- with its ledger


@pytest.fixture
def ledger(tmp_path):
    book = Ledger(audited(tmp_path / "ledger"))
    yield book
    book.close()


def told(ledger):
    return [str(fault) for fault in examine(ledger, RUN).faults]


def test_a_run_as_it_was_written_has_no_fault(ledger):
    found = examine(ledger, RUN)
    assert (found.found, found.lines, found.trials, found.files, found.ended) == ([], 5, 3, 12, True)


def test_an_end_that_was_cut_off_is_told_by_the_ledger(ledger):
    path = path_of(ledger.folder, RUN)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    assert told(ledger) == ["the end was cut off: the ledger knows 5 lines, the file holds 3"]
    with pytest.raises(ChainError, match="does not end as the ledger recorded"):
        Chain.open(path, ledger).append("trial", {})


def test_a_record_that_was_written_anew_is_told_by_the_ledger(ledger):
    """Whoever makes all hashes right still lacks the ledger."""
    path = path_of(ledger.folder, RUN)
    lines = [(line.kind, line.data) for line in Chain.open(path).lines()]
    lines[1][1]["record"]["reward"] = 0.0
    path.unlink()
    forged = Chain.create(path, lines[0][1])
    for kind, data in lines[1:]:
        forged.append(kind, data)
    assert faults(path) == []
    assert any("written anew" in line for line in told(ledger))
    path.unlink()
    assert told(ledger) == ["it is gone; the ledger knows 5 lines of it"]


def test_a_crash_between_file_and_ledger_is_no_change(ledger):
    """The head that is about to be written is in the ledger before the line: both states after it are sound."""
    path = path_of(ledger.folder, RUN)
    before, head = path.read_bytes(), ledger.head(RUN)
    line = Chain.open(path, ledger).append("disposition", {"about": "one"})
    after = path.read_bytes()
    ledger.set_head(RUN, head._replace(next=line.hash))
    for content in (before, after[:-40], after):
        path.write_bytes(content)
        assert told(ledger) == []
    Chain.open(path, ledger).append("disposition", {"about": "two"})
    assert told(ledger) == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("agent.log", "line 2: trial r1-1: `agent.log` was changed"),
        ("record.json", "line 2: trial r1-1: `record.json` was changed"),
        ("verifier/report.json", "line 2: trial r1-1: `verifier/report.json` was changed"),
    ],
)
def test_one_byte_of_a_stored_file_is_found(ledger, name, what):
    path = ledger.folder_of("r1-1") / name
    data = bytearray(path.read_bytes())
    for at in (0, len(data) // 2, len(data) - 1):
        changed = data.copy()
        changed[at] ^= 1
        path.write_bytes(changed)
        (line,) = told(ledger)
        assert line.startswith(what)


def test_files_that_were_added_removed_or_pointed_elsewhere_are_found(ledger):
    folder = ledger.folder_of("r1-2")
    (folder / "agent.log").unlink()
    (folder / "more.txt").write_text("")
    (folder / "latest").unlink()
    (folder / "latest").symlink_to("/etc")
    lines = told(ledger)
    assert [line.partition(" (")[0] for line in lines] == [
        "line 3: trial r1-2: `agent.log` is gone",
        "line 3: trial r1-2: `latest` was changed",
        "line 3: trial r1-2: `more.txt` was added",
    ]


def test_a_change_of_the_ledgers_own_record_is_found(ledger):
    with sqlite3.connect(ledger.folder / "ledger.db") as db:
        db.execute("UPDATE records SET record = replace(record, '\"reward\": 1.0', '\"reward\": 0.5') WHERE number = 1")
        db.execute("UPDATE trials SET reward = 1.0 WHERE id = 'r1-2'")
        db.execute("DELETE FROM trials WHERE id = 'r1-3'")
    first, second, third = told(ledger)
    assert first.startswith("line 2: trial r1-1: the ledger's record of it was changed (`reward`")
    assert second == "line 3: trial r1-2: the ledger's columns of it were changed (`reward`)"
    assert third == "line 4: trial r1-3: the ledger does not know it"


def test_a_ledger_that_was_made_anew_does_not_know_the_head_and_says_so(ledger):
    with sqlite3.connect(ledger.folder / "ledger.db") as db:
        db.execute("DELETE FROM chains")
    found = examine(ledger, RUN)
    assert found.faults == []
    assert "does not know this record" in found.notes[0].what


# ---------------------------------------------------------------- the command


def test_verify_says_where_and_what_and_ends_with_1(tmp_path, scenlint):
    folder = audited(tmp_path / ".scenlint")
    done = scenlint("audit", "verify")
    assert (done.returncode, done.stdout) == (0, "run-1: as it was written (5 lines, 3 trials, 12 files)\n")
    path = path_of(folder, RUN)
    path.write_bytes(path.read_bytes().replace(b'"reward":0.0', b'"reward":1.0', 1))
    done = scenlint("audit", "verify", "run")
    assert done.returncode == 1
    assert f"{path}:3: it was changed" in done.stdout
    alone = scenlint("audit", "verify", path, "--format", "json")
    assert alone.returncode == 1
    (one,) = json.loads(alone.stdout)["records"]
    assert [found["line"] for found in one["found"]] == [3]
    assert scenlint("audit", "verify", "none").returncode == 2


def test_runs_are_listed(tmp_path, scenlint):
    audited(tmp_path / ".scenlint", ended=False)
    assert scenlint("audit", "list").stdout.split("  ")[0] == RUN
    (run,) = json.loads(scenlint("audit", "list", "--format", "json").stdout)["runs"]
    assert (run["run"], run["agent"], run["trials"], run["ended"]) == (RUN, "frontier", 3, False)


def test_clean_keeps_the_trials_of_audited_runs(tmp_path, scenlint):
    folder = audited(tmp_path / ".scenlint")
    done = scenlint("clean", "--ledger-before", "2999-01-01")
    assert "removed 0 trials from the ledger\nkept 3 trials of runs with an audit record" in done.stdout
    os.remove(path_of(folder, RUN))
    assert "removed 3 trials" in scenlint("clean", "--ledger-before", "2999-01-01").stdout

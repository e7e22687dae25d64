"""One file with a run's audit record: out of one ledger, verified, into another."""

import json
import zipfile

import pytest
from audited import RUN, audited

from scenlint.grading.audit import Chain, path_of
from scenlint.grading.audit.bundle import BundleError, examine_bundle, export, take_in
from scenlint.grading.audit.examine import examine
from scenlint.grading.runs import find, trials_of
from scenlint.harness.ledger import Ledger


@pytest.fixture
def here(tmp_path):
    book = Ledger(audited(tmp_path / "here"))
    yield book
    book.close()


@pytest.fixture
def there(tmp_path):
    book = Ledger(tmp_path / "there")
    yield book
    book.close()


def rewritten(source, target, **changes):
    """A copy of a zip in which some entries are others (or, with None, are not there)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = changes[name](old.read(name)) if name in changes else old.read(name)
            if data is not None:
                new.writestr(name, data)
    return target


def test_a_run_goes_out_and_comes_in_whole(here, there, tmp_path):
    done = export(here, RUN, tmp_path / "run.zip")
    assert (done.lines, done.trials, done.files) == (5, 3, 9)
    assert sorted(done.left_out) == ["r1-1/latest", "r1-2/latest", "r1-3/latest"]
    assert examine_bundle(tmp_path / "run.zip").faults == []
    taken = take_in(there, tmp_path / "run.zip")
    assert (taken.run, taken.trials, taken.files) == (RUN, 3, 9)
    assert list(trials_of(there, find(there.folder, RUN))) == list(trials_of(here, find(here.folder, RUN)))
    found = examine(there, RUN)
    assert (found.faults, found.notes, found.trials, found.ended) == ([], [], 3, True)
    assert (there.folder_of("r1-1") / "agent.log").read_text() == "trial 1\n" * 3
    own, other = (path_of(book.folder, RUN).read_bytes() for book in (here, there))
    assert other.startswith(own)
    assert not [path for path in there.folder.iterdir() if path.name.startswith(".import")]


def test_the_same_run_makes_the_same_file(here, tmp_path):
    for name in ("a.zip", "b.zip"):
        export(here, RUN, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_it_goes_on_from_ledger_to_ledger(here, there, tmp_path):
    export(here, RUN, tmp_path / "run.zip")
    take_in(there, tmp_path / "run.zip")
    export(there, RUN, tmp_path / "again.zip")
    third = Ledger(tmp_path / "third")
    take_in(third, tmp_path / "again.zip")
    assert examine(third, RUN).faults == []
    third.close()


def test_large_artefacts_are_left_out_and_records_never(here, there, tmp_path):
    done = export(here, RUN, tmp_path / "run.zip", max_file=10, max_all=0)
    assert done.files == 3
    assert "r1-1/agent.log" in done.left_out
    take_in(there, tmp_path / "run.zip")
    assert examine(there, RUN).faults == []
    (there.folder_of("r1-1") / "agent.log").write_text("something else")
    assert [fault.line for fault in examine(there, RUN).faults] == [2]


def test_a_run_that_is_here_already_is_refused(here, there, tmp_path):
    export(here, RUN, tmp_path / "run.zip")
    with pytest.raises(BundleError, match="in this ledger already"):
        take_in(here, tmp_path / "run.zip")
    take_in(there, tmp_path / "run.zip")
    with pytest.raises(BundleError, match="in this ledger already"):
        take_in(there, tmp_path / "run.zip")
    assert there.count() == 3


def test_what_an_import_that_was_cut_short_left_is_no_obstacle(here, there, tmp_path):
    export(here, RUN, tmp_path / "run.zip")
    (there.folder_of("r1-1") / "half").mkdir(parents=True)
    path_of(there.folder, RUN).parent.mkdir()
    path_of(there.folder, RUN).write_bytes(b"half")
    take_in(there, tmp_path / "run.zip")
    assert examine(there, RUN).faults == []


def test_a_record_that_was_changed_does_not_go_out(here, tmp_path):
    (here.folder_of("r1-1") / "agent.log").write_text("better")
    with pytest.raises(BundleError, match="was changed") as told:
        export(here, RUN, tmp_path / "run.zip")
    assert told.value.changed
    assert list(tmp_path.glob("run.zip*")) == []


CHANGES = {
    "a record": ({"trials/r1-1/record.json": lambda data: data.replace(b"0", b"1")}, "`record.json` was changed"),
    "an artefact": ({"trials/r1-2/agent.log": lambda data: data + b"x"}, "line 3: trial r1-2: `agent.log` was changed"),
    "no artefact": ({"trials/r1-2/agent.log": lambda data: None}, "`agent.log` is gone"),
    "a line": (
        {"chain.jsonl": lambda data: data.replace(b'"reward":1.0', b'"reward":0.5', 1)},
        "line 2: it was changed",
    ),
    "no end": ({"chain.jsonl": lambda data: data[: data.rindex(b"\n", 0, -1) + 1]}, "the end was cut off"),
    "the run's name": (
        {"manifest.json": lambda data: json.dumps({**json.loads(data), "run": "run-2"}).encode()},
        "line 1: it is not where the run `run-2` begins",
    ),
    "the head": (
        {"manifest.json": lambda data: json.dumps({**json.loads(data), "head": "0" * 64}).encode()},
        "written anew",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_on_the_way_does_not_come_in(here, there, tmp_path, name):
    changes, what = CHANGES[name]
    export(here, RUN, tmp_path / "run.zip")
    changed = rewritten(tmp_path / "run.zip", tmp_path / "changed.zip", **changes)
    with pytest.raises(BundleError, match=what) as told:
        take_in(there, changed)
    assert told.value.changed
    assert there.count() == 0
    assert there.heads() == {}
    assert not path_of(there.folder, RUN).exists()
    assert not (there.folder / "trials").exists()


@pytest.mark.parametrize("name", ["../evil", "trials/../../evil", "/tmp/evil", "trials/r1-1", "trials//x/y", "other"])
def test_files_that_belong_elsewhere_are_refused(here, there, tmp_path, name):
    export(here, RUN, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"evil")
    with pytest.raises(BundleError, match="is no exported audit record"):
        take_in(there, tmp_path / "run.zip")
    assert there.count() == 0


def test_a_file_that_is_there_twice_is_refused(here, there, tmp_path):
    export(here, RUN, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("trials/r1-1/agent.log", b"evil")
    with pytest.raises(BundleError, match="it holds a file twice"):
        take_in(there, tmp_path / "run.zip")


def test_a_manifest_that_leaves_out_nonsense_is_no_crash(here, tmp_path):
    export(here, RUN, tmp_path / "run.zip")
    told = rewritten(
        *(tmp_path / "run.zip", tmp_path / "changed.zip"),
        **{"manifest.json": lambda data: json.dumps({**json.loads(data), "left_out": [{"a": 1}]}).encode()},
    )
    assert examine_bundle(told).faults != []  # the links that were left out are missing now


def test_a_chain_under_another_name_is_no_run(here, tmp_path, scenlint):
    chain = path_of(here.folder, RUN)
    chain.rename(chain.with_name("run-2.jsonl"))
    done = scenlint("audit", "list", "--ledger", here.folder)
    assert (done.returncode, "there is no audit record" in done.stdout) == (0, True)
    assert scenlint("audit", "verify", RUN, "--ledger", here.folder).returncode == 1


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 40])
def test_what_is_no_export_is_said(there, tmp_path, content):
    (tmp_path / "run.zip").write_bytes(content)
    with pytest.raises(BundleError, match="is no exported audit record"):
        take_in(there, tmp_path / "run.zip")


def test_a_trial_whose_name_leads_elsewhere_is_refused(here, there, tmp_path):
    """A chain that someone made with right hashes, and with a trial called `../../evil`."""
    forged = Chain.create(tmp_path / "forged.jsonl", {})
    (line, *_) = Chain.open(path_of(here.folder, RUN)).lines("trial")
    last = forged.append("trial", {"record": {**line.data["record"], "id": "../../evil"}, "files": {}})
    told = {"version": 1, "scenlint": "", "run": RUN, "lines": 2, "head": last.hash, "left_out": []}
    with zipfile.ZipFile(tmp_path / "forged.zip", "w") as archive:
        archive.write(forged.path, "chain.jsonl")
        archive.writestr("manifest.json", json.dumps(told))
    with pytest.raises(BundleError, match="is no name of a trial"):
        take_in(there, tmp_path / "forged.zip")


def test_the_commands(here, tmp_path, scenlint):
    done = scenlint("audit", "export", RUN, "run.zip", "--ledger", here.folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "run-1: written: 5 lines, 3 trials, 9 files")
    assert scenlint("audit", "export", RUN, "run.zip", "--ledger", here.folder).returncode == 2
    assert scenlint("audit", "verify", "run.zip").stdout == "run-1: as it was written (5 lines, 3 trials, 9 files)\n"
    done = scenlint("audit", "import", "run.zip", "--ledger", "there")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "run-1: taken in: 5 lines, 3 trials, 9 files")
    rewritten(tmp_path / "run.zip", tmp_path / "bad.zip", **CHANGES["a record"][0])
    done = scenlint("audit", "import", "bad.zip", "--ledger", "third")
    assert (done.returncode, "`record.json` was changed" in done.stderr) == (1, True)

"""`scenlint validate --deep`: the real command on packets, in the local sandbox."""

import json
import shutil

import pytest
from packets import packet

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


def test_deep_tells_what_was_tried_and_writes_a_page(scenlint, tmp_path):
    folder = packet(tmp_path / "product")
    names = "empty-files,delete-file,regraded,zone-east"
    done = scenlint(
        *("validate", folder, "--deep", "--probe", names, "--repeats", 3, "--report", tmp_path / "pages"),
        *("--format", "json", "--jobs", 2),
    )
    told = json.loads(done.stdout)
    made = {t["experiment"]["name"]: t["experiment"]["outcome"] for t in told["trials"] if t["experiment"]}
    assert made == {
        "oracle-again": "same", "regraded": "same", "zone-east": "same",
        "empty-files": "holds", "delete-file": "killed",
    }  # fmt: skip
    assert told["experiments"][0]["regraded"] == {"gradings": 3, "differ": 0, "flake_rate_below": 0.6316}
    assert done.returncode == 0, done.stderr
    assert "(1 world)" in done.stderr
    page = (tmp_path / "pages/product.html").read_text("utf-8")
    assert "flake rate below 63 % at 95 %" in page
    assert "1 page in " in done.stderr


def test_the_text_says_it_in_one_line_for_each_kind(scenlint, tmp_path):
    done = scenlint("validate", packet(tmp_path / "product"), "--probe", "regraded", "--repeats", 2, "--no-color")
    assert "experiments: product: frozen work: 0 of 2 gradings differ: flake rate below 78 % at 95 %" in done.stdout


def test_a_verifier_that_takes_anything_is_broken_and_that_is_an_error(scenlint, tmp_path):
    folder = packet(tmp_path / "product", check="test -e answer.txt")
    done = scenlint("validate", folder, "--deep", "--probe", "empty-files,empty-file", "--format", "json")
    told = json.loads(done.stdout)
    assert {"passes-empty-output", "weak-verifier"} <= {f["rule"] for f in told["findings"]}
    assert done.returncode == 1


def test_the_gate_alone_makes_no_experiments_and_does_not_call_their_rules_unassessed(scenlint, tmp_path):
    options = ("--gate", "--format", "json", "--trials", 2, "--require-complete")
    done = scenlint("validate", packet(tmp_path / "product"), *options)
    told = json.loads(done.stdout)
    assert [t["experiment"] for t in told["trials"]] == [None] * 4
    assert told["not_assessed"] == []
    assert done.returncode == 0


def test_a_first_look_finds_a_verifier_that_takes_anything(scenlint, tmp_path):
    done = scenlint("validate", packet(tmp_path / "product", check="test -e answer.txt"), "--format", "json")
    told = json.loads(done.stdout)
    assert "passes-empty-output" in {f["rule"] for f in told["findings"]}
    assert done.returncode == 1
    made = [t["experiment"] for t in told["trials"] if t["experiment"]]
    assert {e["name"] for e in made if e["kind"] == "world"} == {"oracle-again", "regraded"}


def test_a_first_look_at_a_sound_task_finds_nothing_and_leaves_no_rule_unassessed(scenlint, tmp_path):
    options = ("--format", "json", "--trials", 2, "--require-complete")
    done = scenlint("validate", packet(tmp_path / "product"), *options)
    told = json.loads(done.stdout)
    assert (told["findings"], told["not_assessed"], told["skipped"]) == ([], [], [])
    assert done.returncode == 0
    assert sum(t["experiment"] is not None for t in told["trials"]) > 5


def test_no_first_look_is_taken_for_rules_that_it_does_not_serve(scenlint, tmp_path):
    done = scenlint("validate", packet(tmp_path / "product"), "--select", "oracle-not-perfect", "--format", "json")
    assert [t["experiment"] for t in json.loads(done.stdout)["trials"]] == [None, None]


def test_a_name_that_selects_nothing_is_told(scenlint, tmp_path):
    done = scenlint("validate", packet(tmp_path / "product"), "--probe", "empty-files,empty-fils", "--no-color")
    assert "no experiment `empty-fils` with these tasks; kinds are probe, world, mutant, environment" in done.stdout


def test_without_an_engine_local_tasks_are_validated_as_ever(scenlint, tmp_path):
    done = scenlint("validate", packet(tmp_path / "product"), "--no-engine", "--format", "json")
    told = json.loads(done.stdout)
    assert [(t["agent"], t["experiment"]) for t in told["trials"]] == [("oracle", None), ("nop", None)]
    assert done.returncode == 0


@pytest.mark.parametrize("budget", ["many", "10x", "-3"])
def test_a_budget_that_is_none_is_refused(scenlint, tmp_path, budget):
    done = scenlint("validate", tmp_path, f"--budget={budget}")
    assert done.returncode == 2
    assert "neither a number of experiments nor a time" in done.stderr


@pytest.mark.parametrize(("text", "number", "seconds"), [("40", 40, None), ("90s", 100, 90), ("2h", 100, 7200)])
def test_a_budget_is_a_number_or_a_time(text, number, seconds):
    from scenlint.cli.validate import wanted

    wishes = wanted(text, frozenset(), frozenset(), None, 7)
    assert (wishes.budget, wishes.seconds, wishes.seed) == (number, seconds, 7)


def test_a_folder_for_pages_that_cannot_be_made_ends_with_status_2(scenlint, tmp_path):
    (tmp_path / "file").write_text("")
    folder = packet(tmp_path / "product")
    done = scenlint("validate", folder, "--report", tmp_path / "file/pages")
    assert done.returncode == 2
    assert "could not be written" in done.stderr

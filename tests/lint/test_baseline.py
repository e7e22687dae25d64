"""The baseline: what was there stays hidden however it moves; what is new fails; what is gone is said."""

import json
import os
import shutil
from pathlib import Path

import pytest

from scenlint.config import ConfigError, load
from scenlint.lint import run
from scenlint.lint.baseline import FILE_NAME, Baseline, apply
from scenlint.report import FORMATS, render
from scenlint.testing import base_task

DOCKERFILE = "FROM python:latest\nRUN pip install flask\nRUN pip install requests\n"


@pytest.fixture
def suite(tmp_path):
    top = tmp_path / "suite"
    for name in ("one", "two"):
        task = base_task("harbor", top / name)
        (task / "environment" / "Dockerfile").write_text(DOCKERFILE)
    (top / "scenlint.toml").write_text(f'baseline = "{FILE_NAME}"\n')
    return top


def look(suite, *paths):
    """A report with the suite's baseline applied."""
    settings = load(suite)
    paths = [suite / path for path in paths] or [suite]
    report = run.check(paths, settings, jobs=1)
    apply(report, settings.baseline, paths)
    return report


def record(suite):
    baseline = Baseline(suite / FILE_NAME)
    baseline.renew(run.check([suite], load(suite), jobs=1), [suite])
    baseline.write()
    return baseline


def image(suite, name="one") -> Path:
    return suite / name / "environment" / "Dockerfile"


def test_known_findings_are_hidden_and_counted(suite):
    before = run.check([suite], load(suite), jobs=1).findings
    record(suite)
    report = look(suite)
    assert report.findings == []
    assert report.baselined == len(before) > 0
    assert report.gone == []
    assert f"{len(before)} known findings hidden by the baseline" in render(report, "text")


def test_moved_lines_and_reworded_lines(suite):
    record(suite)
    image(suite).write_text("# the newest\n\n" + DOCKERFILE.replace("RUN pip", "RUN  pip"))
    assert look(suite).findings == []
    image(suite).write_text(DOCKERFILE.replace("flask", "django"))
    report = look(suite)
    assert {f.rule for f in report.findings} == {"unpinned-dependency"}
    assert all("django" in f.location.excerpt[0] for f in report.findings)
    assert [(known.rule, known.path) for known in report.gone] == [
        ("unpinned-dependency", "one/environment/Dockerfile")
    ]


def test_as_many_equal_findings_are_hidden_as_are_known(suite):
    image(suite).write_text(DOCKERFILE + "RUN pip install flask\n")
    baseline = record(suite)
    assert [k.count for k in baseline.known if k.count > 1] == [2]
    image(suite).write_text(DOCKERFILE + "RUN pip install flask\n" * 2)
    report = look(suite)
    assert [f.location.line for f in report.findings] == [5]
    image(suite).write_text(DOCKERFILE)
    report = look(suite)
    assert report.findings == []
    assert [known.count for known in report.gone] == [1]


def test_file_moved_within_its_task(suite):
    verifier = suite / "one" / "tests" / "test_outputs.py"
    verifier.write_text(verifier.read_text() + "\n\ndef test_nothing():\n    assert True\n")
    record(suite)
    shutil.move(verifier, verifier.with_name("test_product.py"))
    script = suite / "one" / "tests" / "test.sh"
    script.write_text(script.read_text().replace("test_outputs", "test_product"))
    report = look(suite)
    assert "tautology" not in {f.rule for f in report.findings}
    baseline = Baseline.read(suite / FILE_NAME)
    baseline.renew(run.check([suite], load(suite), jobs=1), [suite])
    assert {k.path for k in baseline.known if k.rule == "tautology"} == {"one/tests/test_product.py"}


def test_only_what_was_judged_can_be_gone(suite):
    record(suite)
    for name in ("one", "two"):
        image(suite, name).write_text("FROM python:3.12-slim\n")
    assert {known.path.split("/")[0] for known in look(suite, "one").gone} == {"one"}
    settings = load(suite).override(select=["latest-tag"])
    report = run.check([suite], settings, jobs=1)
    apply(report, settings.baseline, [suite])
    assert {known.rule for known in report.gone} == {"latest-tag"}


def test_entries_of_a_removed_task_are_gone(suite):
    record(suite)
    shutil.rmtree(suite / "two")
    assert {Path(known.path).parts[0] for known in look(suite).gone} == {"two"}
    assert look(suite, "one").gone == []


def test_prune_takes_out_what_is_gone_and_adds_nothing(suite):
    baseline = record(suite)
    image(suite).write_text(DOCKERFILE.replace("flask", "django"))
    known = len(baseline.known)
    added, gone = baseline.renew(run.check([suite], load(suite), jobs=1), [suite], add=False)
    assert (added, gone, len(baseline.known)) == (0, 1, known - 1)
    added, gone = baseline.renew(run.check([suite], load(suite), jobs=1), [suite])
    assert (added, gone, len(baseline.known)) == (1, 0, known)


def test_a_fault_of_ours_makes_nothing_gone(suite):
    record(suite)
    image(suite).write_text("FROM python:3.12-slim\n")
    report = run.check([suite], load(suite), jobs=1)
    report.crashes = ["internal error"]
    apply(report, suite / FILE_NAME, [suite])
    assert report.gone == []


def test_file_is_the_same_whatever_the_order_and_the_folder(suite, monkeypatch):
    text = record(suite).text()
    assert json.loads(text)["version"] == 1
    rows = text.splitlines()[3:-2]
    assert rows == sorted(rows)
    baseline = Baseline(suite / FILE_NAME)
    for name in ("two", "one"):
        baseline.renew(run.check([suite / name], load(suite), jobs=1), [suite / name])
    pair = {"duplicate-task-id", "near-duplicate-task"}  # found where both are looked at
    assert [k for k in baseline.known if k.rule not in pair] == baseline.known
    monkeypatch.chdir(suite / "one")
    again = Baseline(Path("..") / FILE_NAME)
    again.renew(run.check([Path("..")], load(suite), jobs=1), [Path("..")])
    assert again.text() == text


@pytest.mark.parametrize("form", FORMATS)
def test_every_output_hides_what_is_known(suite, form):
    needle = "latest-tag" if form == "statistics" else "python:latest"
    assert needle in render(run.check([suite], load(suite), jobs=1), form)
    record(suite)
    assert needle not in render(look(suite), form)
    data = json.loads(render(look(suite), "json"))
    assert data["findings"] == []
    assert data["baseline"]["gone"] == []
    assert data["baseline"]["hidden"] == data["summary"]["baselined"] > 0


def test_gone_entries_are_said(suite):
    record(suite)
    image(suite).write_text(DOCKERFILE.replace("flask", "django"))
    report = look(suite)
    assert "1 finding of the baseline is gone; `scenlint baseline --prune` removes it" in render(report, "text")
    assert "flask" in render(report, "text", verbose=True)
    (entry,) = json.loads(render(report, "json"))["baseline"]["gone"]
    assert entry["rule"] == "unpinned-dependency"
    assert entry["path"].endswith("one/environment/Dockerfile")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 1, "findings": [{}]}', '{"version": 1, "findings": [{"path": 1}]}', "\0"]
)
def test_what_is_no_baseline_is_refused(tmp_path, text):
    file = tmp_path / FILE_NAME
    file.write_text(text)
    with pytest.raises(ConfigError, match="no baseline of scenlint"):
        Baseline.read(file)


def test_later_versions_and_missing_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no such baseline"):
        Baseline.read(tmp_path / FILE_NAME)
    (tmp_path / FILE_NAME).write_text('{"version": 2, "findings": []}')
    with pytest.raises(ConfigError, match="version 2"):
        Baseline.read(tmp_path / FILE_NAME)


def test_commands(suite, scenlint, tmp_path):
    assert scenlint("check", suite).returncode == 2, "it is configured, and not there yet"
    first = scenlint("baseline", suite)
    assert first.returncode == 0, first.stderr
    assert (suite / FILE_NAME).exists()
    assert "to have `check` read it" not in first.stdout
    assert scenlint("check", suite).returncode == 0
    assert scenlint("check", suite, "--no-baseline").returncode == 1
    again = scenlint("baseline", suite)
    assert again.returncode == 2
    assert "--update" in again.stderr
    image(suite).write_text(DOCKERFILE.replace("python:latest", "debian:latest"))
    assert scenlint("check", suite).returncode == 1
    assert "0 of them new" in scenlint("baseline", suite, "--prune").stdout
    assert scenlint("check", suite).returncode == 1
    assert scenlint("baseline", suite, "--update").returncode == 0
    assert scenlint("check", suite).returncode == 0
    other = tmp_path / "other.json"
    os.replace(suite / FILE_NAME, other)
    assert scenlint("baseline", suite, "--output", other, "--update").returncode == 0
    assert scenlint("check", suite, "--baseline", other).returncode == 0
    assert scenlint("baseline", tmp_path / "nowhere").returncode == 2
    (tmp_path / "empty").mkdir()
    assert scenlint("baseline", tmp_path / "empty").returncode == 3

"""From an undecided task to an entry in the suite's manifest, through the real commands."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.calibration.admission import MANIFEST, read_manifest
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

AGENTS = """
[agents.weak]
command = ["sh", "-c", 'case "${SCENLINT_TRIAL##*-}" in 1) echo 42;; *) echo 41;; esac > answer.txt']
[agents.strong]
command = ["sh", "-c", "echo 42 > answer.txt"]
"""


@pytest.fixture
def suite(tmp_path) -> Path:
    base_task("packet", tmp_path / "suite" / "product")
    (tmp_path / "suite" / "scenlint.toml").write_text(AGENTS)
    return tmp_path / "suite"


@pytest.fixture
def scenlint(suite):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", *arguments]
        return subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=300)

    return run


def page(done: subprocess.CompletedProcess[str]) -> dict[str, bool | None]:
    return {p["name"]: p["met"] for p in json.loads(done.stdout)["points"]}


def test_what_is_missing_is_said_and_nothing_is_entered(scenlint, suite):
    scenlint("validate", "product", "--quiet", "--gate")
    done = scenlint("admit", "product", "--format", "json")
    assert done.returncode == 1, done.stderr
    assert page(done) == {"static": True, "oracle and nop": True, "probes": None, "calibration": None}
    assert not (suite / MANIFEST).exists()


def test_a_task_that_is_too_easy_goes_to_the_regression_set(scenlint, suite):
    assert scenlint("calibrate", "product", "--agent", "strong", "--quiet").returncode == 1
    done = scenlint("admit", "product")
    assert (done.returncode, "regression set" in done.stdout) == (0, True), done.stderr
    manifest = read_manifest(suite / MANIFEST)
    assert [e["path"] for e in manifest["regression"]] == ["product"]
    assert manifest["tasks"] == []


def test_a_calibrated_task_still_wants_its_probes(scenlint):
    calibrated = scenlint("calibrate", "product", "--agent", "weak", "--quiet", "--format", "json")
    assert calibrated.returncode == 0, calibrated.stderr
    assert json.loads(calibrated.stdout)["decision"] == "admissible"
    done = scenlint("admit", "product", "--format", "json")
    found = page(done)
    assert (found["calibration"], found["probes"], done.returncode) == (True, None, 1)


def test_without_anything_on_record_there_is_nothing_to_admit(scenlint):
    done = scenlint("admit", "product")
    assert done.returncode == 2
    assert "no ledger" in done.stderr


@pytest.mark.parametrize("arguments", [["calibrate", "nowhere", "--agent", "weak"], ["admit", "nowhere"]])
def test_a_task_that_is_not_there_is_named(scenlint, arguments):
    done = scenlint(*arguments)
    assert (done.returncode, done.stderr) == (2, "scenlint: nowhere: no such file or folder\n")


@pytest.mark.parametrize("agent", ["oracle", "nop"])
def test_oracle_and_nop_are_not_calibrated_with(scenlint, agent):
    done = scenlint("calibrate", "product", "--agent", agent)
    assert done.returncode == 2
    assert "name one of `[agents]`" in done.stderr


def test_a_disposition_needs_its_reason_and_is_kept(scenlint, suite):
    scenlint("calibrate", "product", "--agent", "strong", "--quiet")
    shown = json.loads(scenlint("trials", "--agent", "strong", "--format", "json").stdout)["trials"]
    trial = shown[0]["id"]
    assert scenlint("triage", trial, "--as", "excluded").returncode == 2
    assert scenlint("triage", "nothing", "--as", "excluded", "--reason", "x", "--role", "y").returncode == 2
    said = scenlint("triage", trial, "--as", "excluded", "--reason", "power cut", "--role", "maintainer")
    assert said.returncode == 0, said.stderr
    listed = scenlint("triage", "--format", "json")
    assert listed.returncode == 0, listed.stdout
    decided = json.loads(listed.stdout)["decided"]
    assert [(d["about"], d["verdict"], d["reason"]) for d in decided] == [(trial, "excluded", "power cut")]


def test_a_manifest_of_another_version_is_not_overwritten(scenlint, suite):
    scenlint("calibrate", "product", "--agent", "strong", "--quiet")
    (suite / MANIFEST).write_text('{"version": 99}')
    done = scenlint("admit", "product")
    assert (done.returncode, (suite / MANIFEST).read_text()) == (2, '{"version": 99}')

"""Mutants of a real oracle in the local sandbox, graded by a real verifier."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


@pytest.fixture
def task(tmp_path) -> Path:
    folder = base_task("packet", tmp_path / "suite" / "product")
    (folder / "solve.sh").write_text(
        "set -e\ncat factors.txt > /dev/null\necho 42 > answer.txt\ntest -s answer.txt || false\nwc answer.txt\n"
    )
    return folder


def mutants(task: Path) -> dict[str, dict]:
    argv = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "validate", str(task)]
    argv += ["--probe", "mutant", "--format", "json", "--quiet", "--ledger", str(task.parent / "ledger")]
    done = subprocess.run(argv, cwd=task.parent, capture_output=True, text=True, timeout=300)
    told = json.loads(done.stdout)
    made = [t["experiment"] for t in told["trials"] if (t.get("experiment") or {}).get("kind") == "mutant"]
    return {"findings": told["findings"], "made": made}


def outcomes(made: list[dict], name: str) -> list[str]:
    return [e["outcome"] for e in made if e["name"] == name]


def test_a_sound_verifier_kills_wrong_results_and_nothing_is_found(task):
    told = mutants(task)
    assert outcomes(told["made"], "delete-file") == ["killed"]
    assert outcomes(told["made"], "number-plus-one") == ["killed"]
    assert told["findings"] == []


def test_steps_without_which_the_same_results_come_out_are_no_mutants(task):
    steps = [e for e in mutants(task)["made"] if e["name"] == "step-left-out"]
    by_step = {e["did"].split("`")[1]: e["outcome"] for e in steps}
    assert by_step["echo 42 > answer.txt"] == "killed"
    assert by_step["wc answer.txt"] == "skipped"


def test_a_verifier_that_looks_only_whether_the_file_is_there_lets_wrong_numbers_live(task):
    (task / "checks" / "check_product.py").write_text(
        'from pathlib import Path\nassert Path("answer.txt").exists(), "Criterion 1"\n'
    )
    told = mutants(task)
    assert outcomes(told["made"], "empty-file") == ["survived"]
    weak = [f for f in told["findings"] if f["rule"] == "weak-verifier"]
    assert {f["severity"] for f in weak} == {"error", "warning"}


def test_a_verifier_that_wants_the_last_line_end_is_over_strict(task):
    (task / "checks" / "check_product.py").write_text(
        'from pathlib import Path\nassert Path("answer.txt").read_text() == "42\\n", "Criterion 1"\n'
    )
    told = mutants(task)
    assert outcomes(told["made"], "no-final-newline") == ["killed"]
    assert [f["rule"] for f in told["findings"]] == ["rejects-equivalent"]

"""Calibrations end to end in containers, with scripted agents of three strengths: one of every way that they end."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from scenlint import config
from scenlint.calibration import run as calibration
from scenlint.cli.live import watching
from scenlint.harness.agents import CommandAgent
from scenlint.harness.environment import InfrastructureError
from scenlint.rulings.decision import Decided
from scenlint.testing import base_task

pytestmark = pytest.mark.engine

MANIFEST = "scenlint-suite.json"
TESTS = '''"""Checks the product that the agent wrote, and lists its checks as pytest does."""

import unittest
from pathlib import Path

ANSWER = Path("/app/answer.txt")


class TestAnswer(unittest.TestCase):
    def test_product(self):
        """Criterion 1: the product of the numbers stands in /app/answer.txt."""
        self.assertEqual(ANSWER.read_text().strip(), "42")

    # more


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = [(case.id().rpartition(".")[2], told.strip()) for case, told in result.failures + result.errors]
    wrong = {name: told.splitlines()[-1] for name, told in failed}
    print("=== short test summary info ===")
    for name in unittest.TestLoader().getTestCaseNames(TestAnswer):
        print(f"FAILED TestAnswer::{name} - {wrong[name]}" if name in wrong else f"PASSED TestAnswer::{name}")
    raise SystemExit(not result.wasSuccessful())
'''
UNSAID = """def test_ledger(self):
        self.assertEqual(Path("/srv/ledger.txt").read_text().strip(), "closed")
"""


def answers(*trials: int, right: str = "echo 42", wrong: str = "echo 41") -> list[str]:
    """An agent that is right in the trials with these numbers, counted from 1 over both stages."""
    wanted = "|".join(map(str, trials)) or "none"
    return [
        "sh",
        "-c",
        f'{{ case "${{SCENLINT_TRIAL##*-}}" in {wanted}) {right};; *) {wrong};; esac; }} > /app/answer.txt',
    ]


AGENTS = {
    "weak": answers(1),
    "middling": answers(1, *range(5, 20)),
    "strong": answers(*range(1, 20)),
    "tidy": answers(1, right="echo closed > /srv/ledger.txt; echo 42", wrong="echo 42"),
}


@pytest.fixture
def suite(base, tmp_path) -> Path:
    folder = base_task("harbor", tmp_path / "suite" / "product")
    (folder / "tests/test_outputs.py").write_text(TESTS)
    lines = [f"[agents.{name}]\ncommand = {json.dumps(argv)}\n" for name, argv in AGENTS.items()]
    lines.append(f'[images.substitutes]\n"python:3.12-slim" = {json.dumps(base.tag)}\n')
    (tmp_path / "suite/scenlint.toml").write_text("".join(lines))
    return tmp_path / "suite"


@pytest.fixture
def scenlint(suite):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", *arguments]
        return subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=600)

    return run


def calibrated(scenlint, agent: str, status: int) -> dict:
    done = scenlint("calibrate", "product", "--agent", agent, "--format", "json", "--quiet", "--jobs", "2")
    assert done.returncode == status, done.stderr + done.stdout
    return json.loads(done.stdout)


def rules(told: dict) -> set[str]:
    return {f["rule"] for f in told["findings"]}


def test_one_is_admitted(scenlint, suite):
    told = calibrated(scenlint, "weak", 0)
    assert (told["decision"], told["stage_two"]["failures"], rules(told)) == ("admissible", 8, set())
    assert scenlint("validate", "product", "--probe", "one-cpu", "--quiet").returncode == 0
    done = scenlint("admit", "product", "--role", "maintainer")
    assert (done.returncode, "product: admitted" in done.stdout) == (0, True), done.stdout
    (entry,) = json.loads((suite / MANIFEST).read_text())["tasks"]
    assert (entry["path"], entry["task_digest"]) == ("product", told["task_digest"])


def test_one_is_retired_in_stage_one(scenlint, suite):
    told = calibrated(scenlint, "strong", 1)
    assert (told["decision"], len(told["attempts"]), rules(told)) == ("retired", 2, {"does-not-discriminate"})
    assert scenlint("admit", "product").returncode == 0
    manifest = json.loads((suite / MANIFEST).read_text())
    assert ([e["path"] for e in manifest["regression"]], manifest["tasks"]) == (["product"], [])


def test_one_is_rejected_in_stage_two(scenlint, suite):
    told = calibrated(scenlint, "middling", 1)
    assert (told["decision"], told["stage_two"]["failures"], rules(told)) == ("rejected", 2, {"does-not-discriminate"})
    done = scenlint("admit", "product")
    assert (done.returncode, "rejected" in done.stdout, (suite / MANIFEST).exists()) == (1, True, False)


def test_one_is_blocked_as_misaligned(scenlint, suite):
    tests = suite / "product/tests/test_outputs.py"
    tests.write_text(tests.read_text().replace("# more", UNSAID))
    with (suite / "product/solution/solve.sh").open("a") as file:
        file.write("echo closed > /srv/ledger.txt\n")
    told = calibrated(scenlint, "tidy", 4)
    assert (told["decision"], told["needs_person"], "misaligned" in rules(told)) == ("admissible", True, True)
    sign = next(s for s in told["signals"] if s["name"] == "M3")
    assert (sign["check"], sign["brief"], "/srv/ledger.txt" in sign["made"][0]) == ("TestAnswer::test_ledger", "", True)
    listed = scenlint("triage")
    assert listed.returncode == 1
    command = re.search(r"decide: `scenlint triage (\S+) --as", listed.stdout)
    said = ["--as", "misaligned", "--reason", "the brief says nothing of a ledger", "--role", "maintainer"]
    assert scenlint("triage", command[1], *said).returncode == 0
    assert scenlint("triage").returncode == 0
    again = scenlint("calibrate", "product", "--agent", "tidy", "--quiet")
    assert (again.returncode, "already: blocked" in again.stderr) == (2, True), again.stderr
    done = scenlint("admit", "product")
    assert (done.returncode, "all trials of this digest are void" in done.stdout) == (1, True), done.stdout


@dataclass(frozen=True)
class Unlucky(CommandAgent):
    """Its machine fails before it can begin, but when it is asked whether it can do such a task at all."""

    calls: count = field(default_factory=lambda: count(1), repr=False, compare=False)

    def check(self, plan) -> None:
        if next(self.calls) > 1:
            raise InfrastructureError("no room on this machine")


def test_one_is_inconclusive_through_faults_of_the_machine(suite, scenlint):
    with watching(quiet=True) as watcher:
        request = calibration.Request(
            suite / "product", config.load(suite, None), Unlucky(tuple(AGENTS["weak"]), name="unlucky"), watcher,
            ledger=suite / ".scenlint", workers=2,
        )  # fmt: skip
        done = calibration.calibrate(request)
    assert (done.decision.decided, done.decision.one.excluded, len(done.trials)) == (Decided.INCONCLUSIVE, 4, 4)
    assert {r.failure_class for r in done.trials} == {"infrastructure"}
    found = calibration.judged(done.subject, done.records, request.settings)
    assert [f.rule for f in found.findings] == ["inconclusive"]
    done = scenlint("admit", "product")
    assert (done.returncode, "no verdict after 4 attempts" in done.stdout) == (1, True), done.stdout


def test_without_an_engine_nothing_is_calibrated_and_the_reason_is_said(suite, scenlint):
    os_environ = {**os.environ, "DOCKER_HOST": f"unix://{suite}/none.sock"}
    for more in ([], ["--force"]):
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "calibrate", "product"]
        command += ["--agent", "weak", "--quiet", *more]
        done = subprocess.run(command, cwd=suite, env=os_environ, capture_output=True, text=True, timeout=120)
        assert (done.returncode, "engine" in done.stderr) == (2, True), done.stderr
    assert json.loads(scenlint("trials", "--format", "json").stdout)["trials"] == []

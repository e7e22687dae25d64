"""`validate --state-rule`: the brief with the rule in it is shown, kept, and word for word what a calibration gives."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.calibration import stated_brief
from scenlint.formats.base import TaskRef
from scenlint.lint.discover import format_named
from scenlint.task.policy import Policy
from scenlint.testing import base_task

RULE = "The answer is what all digits of the year multiply to.\n"


@pytest.fixture
def task(tmp_path):
    folder = base_task("harbor", tmp_path / "task")
    (tmp_path / "rule.md").write_text(RULE)
    return folder


def run(folder: Path, *more: str) -> subprocess.CompletedProcess:
    argv = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "validate", str(folder), *more]
    return subprocess.run(argv, cwd=folder.parent, capture_output=True, text=True, timeout=60)


def plan_of(folder: Path):
    harbor = format_named("harbor")
    return harbor.plan(harbor.load(TaskRef("harbor", folder), Policy()))


def test_what_is_added_is_shown_with_its_place_and_kept_for_the_calibration(task, tmp_path):
    done = run(task, "--state-rule", "rule.md")
    assert done.returncode == 0, done.stderr
    brief = (task / "instruction.md").read_text()
    lines = len(brief.rstrip().splitlines())
    assert f"+{RULE}" in done.stdout
    assert f"the rule stands after line {lines} of the brief, at its end" in done.stdout
    told = json.loads(run(task, "--state-rule", "rule.md", "--format", "json").stdout)
    (step,) = told["steps"]
    kept = stated_brief.kept(told["digest"], tmp_path / ".scenlint")
    # What `calibrate --state-rule` builds from the same file.
    calibrated = stated_brief.build(plan_of(task), RULE)
    assert kept == calibrated
    assert calibrated.digest == told["digest"]
    assert calibrated.plan(plan_of(task)).steps[0].brief == step["brief"] == Path(told["kept"]).read_text()
    assert step["brief"].startswith(brief.rstrip())
    assert step["brief"].endswith(f"\n\n{RULE}")
    assert not (tmp_path / ".scenlint/ledger.db").exists()  # nothing ran


def test_an_edited_brief_or_rule_has_another_digest(task):
    digests = {json.loads(run(task, "--state-rule", "rule.md", "-f", "json").stdout)["digest"] for _ in range(2)}
    with (task / "instruction.md").open("a") as file:
        file.write("\nBe quick.\n")
    digests.add(json.loads(run(task, "--state-rule", "rule.md", "-f", "json").stdout)["digest"])
    (task.parent / "rule.md").write_text(RULE.replace("year", "month"))
    digests.add(json.loads(run(task, "--state-rule", "rule.md", "-f", "json").stdout)["digest"])
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("rule", "more", "told"),
    [
        (" \n", (), "the file with the rule is empty"),
        (None, (), "rule.md: No such file or directory"),
        ("write  their product to", (), "the brief says this already"),
        (RULE, ("--format", "sarif"), "with --state-rule the output is text or json"),
    ],
)
def test_what_cannot_be_compared_is_refused(task, rule, more, told):
    file = task.parent / "rule.md"
    file.unlink() if rule is None else file.write_text(rule)
    done = run(task, "--state-rule", "rule.md", *more)
    assert (done.returncode, told in done.stderr.replace("\n", " ")) == (2, True), done.stderr


def test_a_rule_belongs_to_one_task(task):
    base_task("harbor", task.parent / "other")
    done = run(task.parent, "--state-rule", str(task.parent / "rule.md"))
    assert (done.returncode, "a rule is stated in one task's brief; here are 2" in done.stderr) == (2, True)

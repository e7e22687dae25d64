"""Rules of other packages load and run as built-in ones do, wherever they lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.testing import base_task

RULE = '''"""The brief says sorry."""
from scenlint.rules import Finding, Role, rule


@rule("acme-sorry", "AC001", needs={Role.BRIEF}, refute="it is meant")
def sorry(task):
    for brief in task.briefs:
        if "sorry" in brief.prose.text:
            yield Finding.at(brief.prose, "the brief says sorry", help="say what is wanted")
'''


@pytest.fixture
def installed(tmp_path) -> dict[str, str]:
    """The environment of a process in which a package with one rule in a single module is installed."""
    site = tmp_path / "site"
    (site / "acme_rules-1.0.dist-info").mkdir(parents=True)
    (site / "acme_rules.py").write_text(RULE)
    (site / "acme_rules-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n"
    )
    (site / "acme_rules-1.0.dist-info" / "entry_points.txt").write_text("[scenlint.rules]\nacme = acme_rules\n")
    return {**os.environ, "PYTHONPATH": str(site)}


def scenlint(environment: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scenlint", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_rule_in_a_single_module_runs_and_is_listed_and_explained(installed, tmp_path):
    task = base_task("harbor", tmp_path / "task")
    (task / "instruction.md").write_text("sorry\n")
    out = scenlint(installed, "check", task, "--select", "acme-sorry", "--format", "json")
    assert [f["rule"] for f in json.loads(out.stdout)["findings"]] == ["acme-sorry"]
    assert scenlint(installed, "check", task, "--select", "AC001").returncode == 0  # a warning
    listed = json.loads(scenlint(installed, "rules", "--format", "json").stdout)
    assert "acme-sorry" in json.dumps(listed)
    assert "acme-sorry" in scenlint(installed, "explain", "AC001").stdout


def test_package_that_cannot_be_imported_is_named(installed, tmp_path):
    Path(installed["PYTHONPATH"], "acme_rules.py").write_text("import no_such_module\n")
    out = scenlint(installed, "check", base_task("harbor", tmp_path / "task"))
    assert out.returncode == 2
    assert "acme_rules" in out.stderr
    assert "Traceback" not in out.stderr

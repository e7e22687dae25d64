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


FORMAT = '''"""A format of one file, and another that has no starter."""
from scenlint.formats.starter import Starter, check_name


class Plain:
    name, title, schemas = "acme-plain", "Acme", {}

    def find(self, folder, names):
        return []

    def shared(self, refs, policy):
        return []


class Starting(Plain):
    name = "acme-note"

    def starter(self, name):
        return Starter(check_name(name), {f"{name}/note.txt": "work\\n"}, [(f"{name}/note.txt", "what is asked")])


PLAIN, NOTE = Plain(), Starting()
'''


def test_format_with_a_starter_is_offered_by_new_and_one_without_is_not(installed, tmp_path):
    site = Path(installed["PYTHONPATH"])
    (site / "acme_formats.py").write_text(FORMAT)
    entries = "[scenlint.formats]\nplain = acme_formats:PLAIN\nnote = acme_formats:NOTE\n"
    (site / "acme_rules-1.0.dist-info" / "entry_points.txt").write_text(entries)
    made = scenlint(installed, "new", "acme-note", "one", "--in", tmp_path)
    assert (made.returncode, (tmp_path / "one/note.txt").read_text()) == (0, "work\n")
    refused = scenlint(installed, "new", "acme-plain", "two", "--in", tmp_path)
    assert refused.returncode == 2
    assert "`acme-note`" in refused.stderr
    assert "`acme-plain`," not in refused.stderr

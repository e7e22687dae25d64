"""The site builds without a warning, so that every link inside it leads somewhere, and holds what the code has."""

import subprocess
import sys
from html import unescape
from pathlib import Path

from scenlint.cli.commands import app
from scenlint.config import KEYS
from scenlint.dynamic.probes import load_probes
from scenlint.lint.registry import load_rules

DOCS = Path(__file__).parents[2] / "docs"


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    command += ["-d", str(target / "trees"), str(source), str(target / "site")]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_the_site_builds_and_holds_every_rule_key_and_command(tmp_path):
    done = build(DOCS, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

    def page(name: str) -> str:
        return unescape((tmp_path / "site" / name).read_text("utf-8"))

    index = page("generated/rules.html")
    for rule in load_rules().rules:
        if rule.module.startswith("scenlint."):
            html = rule.page.with_suffix(".html").as_posix()
            assert f'href="rules/{html}"' in index
            assert rule.code in page(f"generated/rules/{html}")
    for probe in load_probes().values():
        assert probe.rule in page(f"generated/rules/{probe.page.removesuffix('.md')}.html")
    configuration = page("generated/configuration.html")
    for key, (_, _, words) in KEYS.items():
        assert f'<section id="{key}">' in configuration
        assert words.split("`")[0].strip()[:30] in configuration
    commands = page("generated/commands.html")
    for command in app.registered_commands:
        assert f"Usage: scenlint {command.name} " in commands


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path):
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser"]\nnitpicky = True\nmyst_heading_anchors = 3\n')
    (tmp_path / "index.md").write_text("# Start\n\n[away](gone.md) [far](index.md#nowhere)\n")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "gone.md" in done.stderr
    assert "nowhere" in done.stderr

"""`scenlint explain`."""

import os
import pty
import subprocess
import sys

import pytest

from scenlint.lint.pages import readable
from scenlint.lint.registry import load_rules, page_text

PLAIN = {**os.environ, "PYTHONIOENCODING": "utf-8"}


@pytest.mark.parametrize("name", ["unknown-rule", "SL003", "sl003", " Unknown-Rule "])
def test_name_and_code_print_the_page_below_a_line_of_metadata(scenlint, name):
    done = scenlint("explain", name, env=PLAIN)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "# unknown-rule"
    assert lines[2].startswith("SL003; warning; ")
    assert lines[2].endswith("since 0.1")
    assert "## How to fix" in lines


def test_every_rule_can_be_explained_by_each_of_its_names(scenlint):
    for rule in load_rules().rules:
        for key in (rule.name, rule.code, *rule.aliases):
            assert load_rules().find(key) is not None
        assert page_text(rule).startswith(f"# {rule.name}\n")


def test_unknown_rule_gets_a_suggestion(scenlint):
    done = scenlint("explain", "unknown_rul", env=PLAIN)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("scenlint: no rule is called `unknown_rul`; did you mean `unknown-rule`")


def test_mistyped_probe_gets_a_suggestion(scenlint):
    done = scenlint("explain", "only-word", env=PLAIN)
    assert done.returncode == 2
    assert "did you mean `only-words`" in done.stderr


def test_a_mutant_is_explained_as_the_ledger_names_it(scenlint):
    done = scenlint("explain", "mutant:drop-row#3", env=PLAIN)
    assert done.returncode == 0
    assert done.stdout.startswith("# drop-row\n\none of the mutants of `scenlint validate --deep`")


@pytest.mark.parametrize("name", ["fair", "SL6"])
def test_family_or_prefix_names_its_rules(scenlint, name):
    done = scenlint("explain", name, env=PLAIN)
    assert done.returncode == 2
    assert done.stderr.startswith(f"scenlint: `{name}` stands for ")
    assert "exact-float" in done.stderr


def test_stranger_is_referred_to_the_list(scenlint):
    done = scenlint("explain", "zzz", env=PLAIN)
    assert done.returncode == 2
    assert done.stderr == "scenlint: no rule is called `zzz`; `scenlint rules` lists the known ones\n"


def test_c_locale_is_no_obstacle(scenlint):
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    for rule in load_rules().rules[:3]:
        done = scenlint("explain", rule.name, env=env)
        assert done.returncode == 0, done.stderr


def test_terminal_gets_rendered_markdown():
    main, side = pty.openpty()
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "explain", "SL003"]
    env = {**PLAIN, "TERM": "xterm-256color", "COLUMNS": "90"}
    env.pop("NO_COLOR", None)
    child = subprocess.Popen(command, stdout=side, env=env)
    os.close(side)
    shown = b""
    while True:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        shown += block
    assert child.wait(60) == 0
    text = shown.decode()
    assert "What it finds" in text
    assert "## What it finds" not in text
    assert "\x1b[1;4munknown-rule" in text


def test_examples_read_as_files_with_words_for_marks():
    page = (
        "## Bad\n\n```python path=tests/test_a.py expect=3\nx  # !tautology,no-assertion\n```\n"
        "```toml path=task.toml delete\n```\n```md\ny <!-- !tautology -->\n```\n"
    )
    assert readable(page) == (
        "## Bad\n\n`tests/test_a.py`:\n\n```python\nx  # found here\n```\n"
        "`task.toml` (left out):\n\n```toml\n```\n```md\ny <!-- found here -->\n```\n"
    )

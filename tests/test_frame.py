"""What stands around the code is right: README, hook, CI script, licence, example tasks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

import scenlint
from scenlint.lint.discover import load_formats

ROOT = Path(__file__).parents[1]
SCENLINT = str(Path(sys.executable).with_name("scenlint"))
README = (ROOT / "README.md").read_text()


def test_the_readme_sets_up_and_runs_with_exactly_two_commands() -> None:
    assert re.findall(r"^(?:make|pip|python3?|git|apt-get) .*$", README, re.MULTILINE) == ["make check", "make test"]


def test_both_commands_install_first_and_end_with_what_the_readme_says() -> None:
    recipes = re.findall(
        r"^(check|test): \$\(INSTALLED\)\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    last = {target: lines.split("\n\t")[-1].strip() for target, lines in recipes}
    assert last == {"check": "$(BIN)/scenlint check tasks/", "test": "$(BIN)/pytest -n 2 $(PYTEST_OPTIONS)"}


def test_every_file_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_ci_is_a_strict_script_that_runs_the_test_command_last() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    lines = script.read_text().splitlines()
    assert "set -euo pipefail" in lines
    assert lines[-1] == "make test"
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=10)


def test_the_hook_names_a_command_that_exists_and_takes_its_files() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "scenlint"
    assert hook["language"] == "python"
    assert hook["require_serial"] is True
    assert hook.get("pass_filenames", True) is True
    program, *arguments = hook["entry"].split()
    assert program == "scenlint"
    task = ROOT / "tasks/harbor/serial-levels"
    files = [str(task / "instruction.md"), str(task / "tests/test_decode.py")]
    done = subprocess.run([SCENLINT, *arguments, *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 task checked" in done.stdout


def test_the_hook_takes_files_of_every_example_task_and_no_code_of_ours() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    pattern = re.compile(hook["files"])
    ours = [str(p.relative_to(ROOT)) for p in (ROOT / "scenlint").rglob("*.py") if "scaffold" not in p.parts]
    theirs = [str(p.relative_to(ROOT)) for p in (ROOT / "tasks").rglob("*") if p.is_file()]
    assert theirs
    assert all(map(pattern.search, theirs))
    assert [path for path in ours if pattern.search(path)] == []


def test_every_format_has_a_sound_example() -> None:
    command = [SCENLINT, "check", "--format", "json", str(ROOT / "tasks")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout)
    assert [(f["rule"], f["message"]) for f in report["findings"]] == []
    assert done.returncode == 0, done.stderr
    folders = {path.name for path in (ROOT / "tasks").iterdir() if path.is_dir()}
    assert {form.name for form in load_formats()} <= folders


def test_the_list_of_examples_names_each_of_them() -> None:
    listed = set(re.findall(r"^\| \[`([^`]+)`\]\(([^)]+)\)", (ROOT / "tasks/README.md").read_text(), re.MULTILINE))
    assert listed
    assert all((ROOT / "tasks" / target).is_dir() for _, target in listed)
    marks = ("task.toml", "task.yaml", "eval.yaml", "verify.py", "verifier.py", "packet.json")
    there = {path.parent for mark in marks for path in (ROOT / "tasks").rglob(mark)}
    assert {(ROOT / "tasks" / target).resolve() for _, target in listed} == {path.resolve() for path in there}


def test_licence_and_changelog_fit_the_package() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in changelog or f"## [{scenlint.__version__}]" in changelog

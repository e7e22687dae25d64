"""The script that the GitHub Action runs: it looks at the tasks that changed, and at nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scenlint.testing import base_task

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path):
    """A repository with two sound tasks, both committed."""
    for name in ("one", "two"):
        base_task("harbor", tmp_path / "tasks" / name)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "tasks")
    return tmp_path


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def run(repository, **settings):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **settings}
    environment.pop("GITHUB_ACTIONS", None)
    script = ROOT / ".ci" / "changed-tasks"
    return subprocess.run(
        ["bash", script], cwd=repository, env=environment, capture_output=True, text=True, timeout=120
    )


def test_only_the_changed_task_is_checked(repository):
    base = git(repository, "rev-parse", "HEAD")
    (repository / "tasks/two/environment/Dockerfile").write_text("FROM python:latest\n")
    (repository / "tasks/one/environment/factors.txt").unlink()
    git(repository, "commit", "-qam", "change")
    done = run(repository, BASE=base)
    assert done.returncode == 1
    assert "latest-tag" in done.stdout
    assert "1 task checked" in done.stdout


def test_nothing_changed_is_said_and_passes(repository):
    done = run(repository, BASE=git(repository, "rev-parse", "HEAD"))
    assert (done.returncode, "no task changed" in done.stdout) == (0, True)


@pytest.mark.parametrize("base", ["", "0" * 40])
def test_without_a_known_base_every_task_is_checked(repository, base):
    done = run(repository, BASE=base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tasks checked" in done.stdout


def test_the_action_runs_the_script_with_its_inputs():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    last = action["runs"]["steps"][-1]
    assert last["run"] == 'bash "$GITHUB_ACTION_PATH/.ci/changed-tasks"'
    assert {value.split(".")[1].split(" ")[0] for value in last["env"].values()} <= set(action["inputs"])
    pinned = [step["uses"] for step in action["runs"]["steps"] if "uses" in step]
    assert all(len(use.split("@")[1].split()[0]) == 40 for use in pinned)

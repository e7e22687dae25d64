"""`scenlint clean`: what dead runs left goes, what lives stays; old trials go when asked to."""

import json
import os
import subprocess
import sys
import time

from packets import packet


def trials(scenlint) -> list[str]:
    return [t["id"] for t in json.loads(scenlint("trials", "--format", "json").stdout)["trials"]]


def test_old_trials_are_forgotten_with_their_folders(tmp_path, scenlint):
    scenlint("validate", packet(tmp_path / "product"), "--gate")
    folders = tmp_path / ".scenlint" / "trials"
    assert len(trials(scenlint)) == 2
    assert "would remove 2 trials" in scenlint("clean", "--ledger-before", "2999-01-01", "--dry-run").stdout
    assert len(trials(scenlint)) == 2
    assert "removed 0 trials" in scenlint("clean", "--ledger-before", "1d").stdout
    assert len(list(folders.iterdir())) == 2
    assert "removed 2 trials" in scenlint("clean", "--ledger-before", "2999-01-01").stdout
    assert trials(scenlint) == []
    assert list(folders.iterdir()) == []


def test_a_moment_that_is_none_is_a_usage_error(scenlint):
    done = scenlint("clean", "--ledger-before", "yesterday")
    assert done.returncode == 2
    assert "yesterday" in done.stderr


def test_without_an_engine_it_says_so(tmp_path, scenlint):
    done = scenlint("clean", env={**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"})
    assert done.returncode == 2
    assert "no container engine answers" in done.stderr


def test_what_a_killed_trial_left_of_its_sandbox_is_removed(tmp_path, scenlint):
    task = packet(tmp_path / "product", solve="sleep 300")
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "run", str(task), "--agent", "oracle"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while not (left := list(tmp_path.glob(".scenlint/trials/*/sandbox/work"))):
            time.sleep(0.1)
        assert "sandbox" not in scenlint("clean").stdout  # its run lives
        run.kill()
    trial = left[0].parents[1].name
    assert f"would remove sandbox of trial {trial}\n" in scenlint("clean", "--dry-run").stdout
    assert left[0].exists()
    assert f"removed sandbox of trial {trial}\n" in scenlint("clean").stdout
    assert not left[0].parent.exists()
    assert "sandbox" not in scenlint("clean").stdout

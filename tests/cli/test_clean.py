"""`scenlint clean`: what dead runs left goes, what lives stays; old trials go when asked to."""

import json
import os

from packets import packet


def trials(scenlint) -> list[str]:
    return [t["id"] for t in json.loads(scenlint("trials", "--format", "json").stdout)["trials"]]


def test_old_trials_are_forgotten_with_their_folders(tmp_path, scenlint):
    scenlint("validate", packet(tmp_path / "product"))
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

"""`scenlint pin`, without an engine (tests/harness/test_pin.py asks one)."""

from pathlib import Path

import pytest

DIGEST = "sha256:" + "8" * 64
DOCKERFILE = "FROM python:3.12-slim\nWORKDIR /app\nCOPY factors.txt /app/factors.txt\n"


@pytest.fixture
def loose_task(harbor_task: Path) -> Path:
    (harbor_task / "environment" / "Dockerfile").write_text(DOCKERFILE)
    return harbor_task


def dockerfile(task: Path) -> str:
    return (task / "environment" / "Dockerfile").read_text()


def configure(task: Path, reference: str = "python:3.12-slim") -> None:
    (task.parent / "scenlint.toml").write_text(f'[images.digests]\n"{reference}" = "{DIGEST}"\n')


@pytest.mark.parametrize("reference", ["python:3.12-slim", "docker.io/library/python:3.12-slim"])
def test_configured_digests_are_written_into_the_task(scenlint, loose_task, reference):
    configure(loose_task, reference)
    done = scenlint("pin", loose_task, "--no-engine")
    assert (done.returncode, done.stdout) == (0, "1 pinned in the tasks, 0 added to scenlint.lock\n")
    assert dockerfile(loose_task) == DOCKERFILE.replace("slim", f"slim@{DIGEST}")
    assert not (loose_task.parent / "scenlint.lock").exists()


def test_a_lock_beside_or_above_serves_too(scenlint, loose_task):
    (loose_task.parent / "scenlint.lock").write_text(f'[images]\n"python:3.12-slim" = "{DIGEST}"\n')
    assert scenlint("pin", loose_task, "--no-engine").returncode == 0
    assert f"slim@{DIGEST}" in dockerfile(loose_task)


def test_diff_shows_and_writes_nothing(scenlint, loose_task):
    configure(loose_task)
    done = scenlint("pin", loose_task, "--no-engine", "--diff")
    assert done.returncode == 1
    assert f"+FROM python:3.12-slim@{DIGEST}\n" in done.stdout
    assert dockerfile(loose_task) == DOCKERFILE


def test_lock_only_leaves_the_task_alone(scenlint, loose_task):
    configure(loose_task)
    assert scenlint("pin", loose_task, "--no-engine", "--lock-only").returncode == 0
    assert dockerfile(loose_task) == DOCKERFILE


def test_what_is_not_known_is_named(scenlint, loose_task):
    done = scenlint("pin", loose_task, "--no-engine")
    assert done.returncode == 1
    assert "Dockerfile:1:6: not pinned: `python:3.12-slim`: no digest of it is known here" in done.stderr
    assert dockerfile(loose_task) == DOCKERFILE


def test_an_image_without_a_version_is_not_guessed(scenlint, loose_task):
    (loose_task / "environment" / "Dockerfile").write_text("FROM python\nWORKDIR /app\n")
    done = scenlint("pin", loose_task)
    assert done.returncode == 1
    assert "`python`: it names no version" in done.stderr


def test_an_engine_that_does_not_answer_is_no_fault(scenlint, loose_task, tmp_path):
    import os

    environment = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    done = scenlint("pin", loose_task, env=environment)
    assert done.returncode == 1
    assert "the local engine was not asked" in done.stderr
    assert "internal error" not in done.stderr


def test_a_pinned_task_needs_nothing(scenlint, harbor_task):
    done = scenlint("pin", harbor_task)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_task_and_no_folder(scenlint, tmp_path):
    assert scenlint("pin", tmp_path).returncode == 3
    assert scenlint("pin", tmp_path / "nowhere").returncode == 2


@pytest.mark.parametrize("content", ["[images]\n'x:1' = 'sha256:1'\n", "[images\n", "images = 1\n"])
def test_a_broken_lock_is_a_configuration_error(scenlint, loose_task, content):
    (loose_task.parent / "scenlint.lock").write_text(content)
    done = scenlint("pin", loose_task, "--no-engine")
    assert done.returncode == 2
    assert "scenlint.lock" in done.stderr
    assert "internal error" not in done.stderr

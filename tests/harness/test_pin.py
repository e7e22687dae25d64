"""`scenlint pin` with an engine: the digests of images that were pulled from a registry."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.testing import base_task

pytestmark = pytest.mark.engine


def pin(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "pin", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_digest_of_a_pulled_image_goes_into_lock_and_task(base, tmp_path: Path):
    task = base_task("harbor", tmp_path / "suite" / "product")
    name, _, digest = base.pinned.partition("@")
    dockerfile = task / "environment" / "Dockerfile"
    dockerfile.write_text(f"FROM {name}:1\nWORKDIR /app\nCOPY factors.txt /app/factors.txt\n")
    (tmp_path / "suite" / "scenlint.toml").write_text('profile = "seed"\n')
    lock = tmp_path / "suite" / "scenlint.lock"
    shown = pin(task, "--diff")
    assert shown.returncode == 1
    assert f'+"{name}:1" = "{digest}"' in shown.stdout
    assert f"+FROM {name}:1@{digest}" in shown.stdout
    assert not lock.exists()
    only = pin(task, "--lock-only")
    assert (only.returncode, only.stdout) == (0, "0 pinned in the tasks, 1 added to scenlint.lock\n")
    assert f'"{name}:1" = "{digest}"\n' in lock.read_text()
    assert digest not in dockerfile.read_text()
    done = pin(task)
    assert (done.returncode, done.stdout) == (0, "1 pinned in the tasks, 0 added to scenlint.lock\n")
    assert dockerfile.read_text().startswith(f"FROM {name}:1@{digest}\n")


def test_an_image_that_was_built_here_has_no_digest(base, tmp_path: Path):
    task = base_task("harbor", tmp_path / "suite" / "product")
    (task / "environment" / "Dockerfile").write_text(f"FROM {base.tag}\nWORKDIR /app\n")
    done = pin(task)
    assert done.returncode == 1
    assert f"`{base.tag}`: no digest of it is known here" in done.stderr

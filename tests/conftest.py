"""Fixtures that most tests share."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.testing import base_task


@pytest.fixture
def harbor_task(tmp_path: Path) -> Path:
    """A sound Harbor task."""
    return base_task("harbor", tmp_path / "suite" / "product")


@pytest.fixture
def deep_folder(tmp_path: Path):
    """1,200 folders in one another. They are removed here: Python's own `rmtree`, which pytest uses, recurses."""
    top = tmp_path / "deep" / "d"
    top.parent.mkdir()
    subprocess.run(["mkdir", "-p", "d/" * 1200], cwd=top.parent, check=True)
    yield top.parent
    subprocess.run(["rm", "-rf", str(top)], check=True)


@pytest.fixture
def scenlint(tmp_path: Path):
    """Run the real command in a process of its own: scenlint("check", path, …) -> CompletedProcess."""

    def run(*arguments: object, cwd: Path = tmp_path, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, **options)

    return run

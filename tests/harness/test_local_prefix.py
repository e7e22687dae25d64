"""The sandbox works wherever scenlint is installed."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path):
    """An interpreter of its own below the temporary folder, which the sandbox covers with an empty one."""
    venv.create(tmp_path / "env", symlinks=True)
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    packages = [p for p in sys.path if p.endswith("site-packages")]
    (site / "shared.pth").write_text("\n".join([str(ROOT), *packages]) + "\n")
    return tmp_path / "env" / "bin" / "python"


def test_interpreter_below_the_temporary_folder_still_runs_trials(clone, tmp_path):
    command = [
        clone,
        "-m",
        "scenlint",
        "validate",
        "--gate",
        ROOT / "tasks" / "packet" / "swap-chapters",
        "--ledger",
        tmp_path / "ledger",
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr

"""What `scenlint new` makes, through the real `validate`: the oracle earns exactly 1.0, and doing nothing less."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.engine
NAMES = {
    "harbor": "tide-table", "terminal-bench": "disk-report", "packet": "swap-pages", "deepgym": "even_split",
    "waza": "rota", "saas-bench": "teamwork_007",
}  # fmt: skip


@pytest.mark.parametrize("format", NAMES)
def test_a_new_task_validates(format, base, tmp_path):
    def scenlint(*arguments):
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)

    made = scenlint("new", format, NAMES[format])
    assert made.returncode == 0, made.stderr
    with (tmp_path / "scenlint.toml").open("a") as file:
        file.write(f'\n[images.substitutes]\n"python:3.12-slim" = {json.dumps(base.tag)}\n')
    done = scenlint("validate", ".", "--gate", "--format", "json", "--ignore", "flaky-verdict")
    told = json.loads(done.stdout)
    rewards = {t["agent"]: t["reward"] for t in told["trials"]}
    assert rewards["oracle"] == 1.0, told["trials"]
    assert rewards["nop"] < 1.0
    assert (told["findings"], told["not_assessed"], done.returncode) == ([], [], 0), done.stderr

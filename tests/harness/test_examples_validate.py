"""The example tasks through the real command: every oracle earns exactly 1.0, and doing nothing earns less."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

TASKS = Path(__file__).parents[2] / "tasks"
EXAMPLES = {
    "scenlint/serial-levels", "scenlint/parcel-tariff", "scenlint/harbour-dues", "disk-usage", "teamwork_501",
    "shift-planner-001", "shift-planner-002", "split_bill", "stock_journal", "overdue-report", "swap-chapters",
}  # fmt: skip


@pytest.fixture
def config(base, desk_image, tmp_path):
    """The examples' own configuration, with local images in the place of those that only a registry has."""
    given = tomllib.loads((TASKS / "scenlint.toml").read_text())
    instead = {"python:3.12-slim": base.tag, "roundup-desk": desk_image}
    tables = {
        "images.substitutes": instead,
        "oracles": {task: str(TASKS / path) for task, path in given["oracles"].items()},
    }
    text = "".join(
        f"[{table}]\n" + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in values.items())
        for table, values in tables.items()
    )
    (tmp_path / "scenlint.toml").write_text(text)
    return tmp_path / "scenlint.toml"


def test_every_example_is_solved_by_its_oracle_and_not_by_doing_nothing(config, tmp_path):
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "validate", str(TASKS), "--gate"]
    command += ["--config", str(config), "--format", "json", "--ledger", str(tmp_path / "ledger"), "--jobs", "2"]
    command += ["--ignore", "flaky-verdict"]  # which one trial of each cannot tell
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    told = json.loads(done.stdout)
    rewards = {(t["task"], t["agent"]): t["reward"] for t in told["trials"]}
    for trial in told["trials"]:
        assert trial["reward"] is not None, (trial["task"], trial["agent"], trial["failure_evidence"])
    assert {task for task, _ in rewards} == EXAMPLES
    assert len(rewards) == len(told["trials"]) == 2 * len(EXAMPLES)
    assert {task: rewards[task, "oracle"] for task in EXAMPLES} == dict.fromkeys(EXAMPLES, 1.0)
    assert [task for task in EXAMPLES if rewards[task, "nop"] >= 1.0] == []
    assert [t for t in told["trials"] if t["agent"] == "oracle" and t["status"] != "passed"] == []
    assert (told["findings"], told["not_assessed"], done.returncode) == ([], [], 0), done.stderr

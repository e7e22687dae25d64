"""`scenlint validate`: the real command on packets, in the local sandbox."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packets import packet

from scenlint.testing import base_task

COMMAND = [sys.executable, "-c", "from scenlint.cli.app import main; main()"]


@pytest.fixture
def validate(scenlint):
    """Run it and read its JSON: validate(path, …) -> (exit status, what it printed)."""

    def run(*arguments: object, **options):
        done = scenlint("validate", "--gate", "--format", "json", *arguments, **options)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    return run


def rewards(told) -> list[tuple[str, str, float | None, bool]]:
    return [(t["task"], t["agent"], t["reward"], t["reused"]) for t in told["trials"]]


def rules(told) -> set[str]:
    return {f["rule"] for f in told["findings"]}


def test_a_sound_task_passes_with_its_trials_in_the_json(tmp_path, validate):
    code, told, progress = validate(packet(tmp_path / "product"))
    assert (code, told["findings"]) == (0, [])
    assert rewards(told) == [("product", "oracle", 1.0, False), ("product", "nop", 0.0, False)]
    assert (told["summary"]["tasks"], told["summary"]["trials"]) == (1, 2)
    for trial in told["trials"]:
        assert trial["task_digest"].startswith("sha256:")
        assert [p["name"] for p in trial["phases"]][:3] == ["build", "start", "agent"]
        assert {"status", "failure_class", "checks", "image_digest", "strict", "harness"} <= set(trial)
        assert (tmp_path / trial["folder"] / "record.json").is_file()
    assert "product oracle: 1 (" in progress
    assert "product nop: 0 (" in progress


def test_called_again_it_runs_only_what_an_edit_made_stale_and_says_why(tmp_path, validate):
    folder = packet(tmp_path / "product")
    validate(folder)
    _, told, progress = validate(folder)
    assert [reused for *_, reused in rewards(told)] == [True, True]
    assert "0 trials to run, 2 reused" in progress

    about = json.loads((folder / "packet.json").read_text())
    (folder / "packet.json").write_text(json.dumps(about, indent=4))
    _, told, _ = validate(folder)
    assert [reused for *_, reused in rewards(told)] == [True, True]

    (folder / "solve.sh").write_text((folder / "solve.sh").read_text() + "# as before\n")
    _, told, progress = validate(folder)
    assert [reused for *_, reused in rewards(told)] == [False, True]
    assert "1 again (rerun: oracle edited)" in progress

    check = next((folder / "checks").iterdir())
    check.write_text(check.read_text() + "# as before\n")
    _, told, progress = validate(folder)
    assert [reused for *_, reused in rewards(told)] == [False, False]
    assert "2 again (regrade: verifier edited)" in progress

    _, told, _ = validate(folder, "--no-resume")
    assert [reused for *_, reused in rewards(told)] == [False, False]


def test_more_trials_add_to_those_that_are_recorded(tmp_path, validate):
    folder = packet(tmp_path / "product")
    validate(folder)
    _, told, _ = validate(folder, "--trials", 2)
    assert [(t["agent"], t["attempt"], t["reused"]) for t in told["trials"]] == [
        ("oracle", 1, True),
        ("oracle", 2, False),
        ("nop", 1, True),
        ("nop", 2, False),
    ]
    assert told["not_assessed"] == []


def test_faults_are_found_at_the_check_and_name_their_trials(tmp_path, validate):
    packet(tmp_path / "tasks" / "wrong", solve="echo 41 > answer.txt")
    packet(tmp_path / "tasks" / "easy", check="test -d .")
    packet(
        tmp_path / "tasks" / "broken", check="python3 -c 'import nothing'; test -x /nowhere/grader && /nowhere/grader"
    )
    code, told, _ = validate(tmp_path / "tasks")
    assert code == 1
    found = {(f["task"], f["rule"]): f for f in told["findings"]}
    assert ("wrong", "oracle-not-perfect") in found
    assert ("easy", "nop-passes") in found
    assert ("easy", "oracle-not-perfect") not in found
    finding = found["easy", "nop-passes"]
    trial = next(t["id"] for t in told["trials"] if (t["task"], t["agent"]) == ("easy", "nop"))
    assert trial in finding["message"]
    assert (finding["severity"], finding["kind"]) == ("error", "evidence")
    assert finding["path"] == "tasks/easy/packet.json"
    line = (tmp_path / "tasks/easy/packet.json").read_text().splitlines()[finding["line"] - 1]
    assert "test -d ." in line


def test_a_check_that_cannot_be_started_is_no_zero(tmp_path, validate):
    code, told, _ = validate(packet(tmp_path / "product", check="no-such-grader answer.txt"))
    assert [t["reward"] for t in told["trials"]] == [None, None]
    assert code == 1
    assert rules(told) == {"no-verdict", "verdict-differs-from-harness"}


def test_severity_selection_and_suppressions_work_as_in_check(tmp_path, validate):
    folder = packet(tmp_path / "easy", check="test -d .")
    assert validate(folder, "--exit-zero")[0] == 0
    assert validate(folder, "--ignore", "nop-passes")[0] == 0
    assert validate(folder, "--select", "SL701")[0] == 0
    code, told, _ = validate(folder, "--select", "SL501")
    assert (code, told["skipped"]) == (3, ["the selected rules judge tasks, not trials: `scenlint check` runs them"])
    (tmp_path / "scenlint.toml").write_text('severity = { nop-passes = "warning" }\n')
    assert validate(folder)[0] == 0
    assert validate(folder, "--fail-on", "warning")[0] == 1
    (tmp_path / "scenlint.toml").write_text(
        '[[suppressions]]\nrule = "SL702"\npath = "easy/packet.json"\nreason = "a demonstration"\n'
    )
    code, told, _ = validate(folder, "--fail-on", "info")
    assert (code, told["findings"], told["summary"]["suppressed"]) == (0, [], 1)
    assert validate(folder, "--no-ignores")[0] == 1


def test_check_knows_nothing_of_rules_about_trials(tmp_path, scenlint):
    folder = packet(tmp_path / "easy", check="test -d .")
    (tmp_path / "scenlint.toml").write_text(
        '[[suppressions]]\nrule = "SL702"\npath = "easy/packet.json"\nreason = "a demonstration"\n'
    )
    told = json.loads(scenlint("check", "--format", "json", tmp_path).stdout)
    assert not {f["rule"] for f in told["findings"]} & {"nop-passes", "unused-suppression"}
    assert not [n for n in told["not_assessed"] if n["code"].startswith("SL7")]
    assert "trials" not in told
    assert not (tmp_path / ".scenlint").exists()
    assert folder.is_dir()


def test_every_output_format_holds_the_findings(tmp_path, scenlint):
    folder = packet(tmp_path / "easy", check="test -d .")

    def printed(form: str) -> str:
        done = scenlint("validate", folder, "--gate", "--format", form)
        assert done.returncode == 1, done.stderr
        return done.stdout

    text = printed("text")
    assert "error SL702 nop-passes" in text
    assert "1 task checked by 2 trials" in text
    assert "SL702 nop-passes" in printed("concise")
    assert printed("github").startswith("::error ")
    assert json.loads(printed("gitlab"))[0]["check_name"].endswith("nop-passes")
    results = json.loads(printed("sarif"))["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == ["nop-passes"] or [r["ruleId"] for r in results] == ["SL702"]
    suite = ElementTree.fromstring(printed("junit"))
    assert [c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None] == ["nop-passes"]


# ---------------------------------------------------------------- what cannot be run


def test_a_task_that_cannot_be_run_is_not_assessed_and_no_pass(tmp_path, validate):
    folder = packet(tmp_path / "tasks" / "unready")
    about = json.loads((folder / "packet.json").read_text())
    about["budget"]["agent_sec"] = "soon"
    (folder / "packet.json").write_text(json.dumps(about))
    code, told, _ = validate(tmp_path / "tasks")
    assert (code, told["trials"], told["findings"]) == (3, [], [])
    assert {n["code"] for n in told["not_assessed"]} >= {"SL701", "SL702", "SL705"}
    assert all("agent_sec" in n["reason"] for n in told["not_assessed"])
    assert "agent_sec" in told["skipped"][0]

    packet(tmp_path / "tasks" / "product")
    assert validate(tmp_path / "tasks")[0] == 0
    assert validate(tmp_path / "tasks", "--require-complete")[0] == 4


def test_without_an_engine_a_container_task_is_not_assessed_and_no_pass(tmp_path, validate):
    folder = base_task("harbor", tmp_path / "harbor")
    nobody = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"}
    code, told, _ = validate(folder, env=nobody)
    assert (code, told["findings"], told["trials"]) == (3, [], [])
    assert told["skipped"][0].startswith("harbor: not run: no container engine answers")


def test_nothing_to_run_and_paths_that_are_not_there(tmp_path, validate):
    (tmp_path / "empty").mkdir()
    assert validate(tmp_path / "empty")[0] == 3
    assert validate(tmp_path / "nowhere")[0] == 2


# ---------------------------------------------------------------- ends before the end


def start(tmp_path: Path, *arguments: object) -> subprocess.Popen[str]:
    argv = [*COMMAND, "validate", "--gate", "--format", "json", "--jobs", "1", *map(str, arguments)]
    return subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def await_line(process: subprocess.Popen[str], beginning: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(beginning):
            return
    raise AssertionError(f"never said `{beginning}`")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_keeps_what_is_finished_and_says_what_is_not(tmp_path, validate, number, code):
    packet(tmp_path / "tasks" / "first")
    slow = packet(tmp_path / "tasks" / "second", solve="sleep 300")
    process = start(tmp_path, "tasks")
    await_line(process, "first nop: 0")
    time.sleep(1)
    began = time.monotonic()
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert time.monotonic() - began < 10
    told = json.loads(out)
    assert told["summary"]["unfinished"] == 2
    assert [t for t in rewards(told) if t[0] == "first"] == [
        ("first", "oracle", 1.0, False),
        ("first", "nop", 0.0, False),
    ]
    assert not [f for f in told["findings"] if f["task"] == "second"]
    shutil.copy(tmp_path / "tasks" / "first" / "solve.sh", slow / "solve.sh")
    code, told, _ = validate("tasks")
    assert (code, [t[3] for t in rewards(told)]) == (0, [True, True, False, False])


def test_killed_it_goes_on_where_it_was_and_leaves_nothing_behind(tmp_path, validate):
    packet(tmp_path / "tasks" / "first")
    packet(tmp_path / "tasks" / "second", solve="test -e /tmp/scenlint-no || sleep 300")
    process = start(tmp_path, "tasks")
    await_line(process, "first nop: 0")
    time.sleep(1)
    process.kill()
    process.communicate(timeout=60)
    left = list((tmp_path / ".scenlint" / "trials").glob("*/sandbox"))
    assert len(left) == 1
    shutil.copy(tmp_path / "tasks" / "first" / "solve.sh", tmp_path / "tasks" / "second" / "solve.sh")
    code, told, _ = validate("tasks")
    assert (code, [t[3] for t in rewards(told)]) == (0, [True, True, False, False])
    assert not list((tmp_path / ".scenlint" / "trials").glob("*/sandbox"))


def test_a_ledger_that_cannot_be_written_stops_the_run_with_status_2(tmp_path, scenlint):
    packet(tmp_path / "product")
    (tmp_path / "taken").write_text("")
    done = scenlint("validate", "product", "--gate", "--ledger", "taken")
    assert done.returncode == 2
    assert done.stderr.startswith("scenlint: the ledger `")


def on_small_disk(tmp_path: Path, kilobytes: int) -> subprocess.CompletedProcess[str]:
    """Validate all tasks with the ledger on a file system of its own; what it holds at the end is copied to `saved`."""
    box = ["bwrap", "--dev-bind", "/", "/", "--size", str(kilobytes * 1024), "--tmpfs", "/disk"]
    script = '"$@"; code=$?; cp -r /disk/ledger saved; exit $code'
    command = [*COMMAND, "validate", "tasks", "--gate", "--format", "json", "--jobs", "1", "--ledger", "/disk/ledger"]
    argv = [*box, "bash", "-c", script, "bash", *command]
    return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=300)


def test_with_too_little_disk_for_trials_nothing_is_assessed(tmp_path):
    packet(tmp_path / "tasks" / "product")
    done = on_small_disk(tmp_path, 20_000)
    told = json.loads(done.stdout)
    assert (done.returncode, told["findings"]) == (3, [])
    assert [(t["reward"], t["failure_class"]) for t in told["trials"]] == [(None, "infrastructure")] * 2
    assert "MB of disk are free" in told["not_assessed"][0]["reason"]


def test_a_disk_that_is_full_for_the_ledger_stops_the_run_with_status_2(tmp_path, scenlint):
    for number in range(40):
        packet(tmp_path / "tasks" / f"task-{number:02}")
    done = on_small_disk(tmp_path, 400)
    assert (done.returncode, done.stdout) == (2, "")
    assert "scenlint: the ledger `/disk/ledger" in done.stderr
    ended = [line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("task-")]
    assert 0 < len(ended) < 80
    listed = scenlint("trials", "--ledger", "saved", "--format", "json")
    kept = {f"{t['task']} {t['agent']}" for t in json.loads(listed.stdout)["trials"] if t["failure_class"]}
    assert set(ended) <= kept


def test_on_a_terminal_a_live_table_shows_what_runs_and_findings_stay_on_standard_output(tmp_path):
    packet(tmp_path / "product", solve="sleep 1.2; echo 42 > answer.txt")
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "CI": ""}
    argv = [*COMMAND, "validate", "product", "--gate", "--format", "json"]
    process = subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    out, _ = process.communicate(timeout=60)
    told = json.loads(out)
    assert (process.returncode, told["findings"]) == (0, [])
    text = shown.decode()
    assert re.search(r"product\s+oracle\s+agent\s+\d s", text)
    assert "0 of 2 trials" in text
    assert "product oracle: 1 (" in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def test_the_ledger_may_be_named_by_a_relative_path(tmp_path, validate):
    code, told, _ = validate(packet(tmp_path / "product"), "--ledger", "here/trials")
    assert (code, told["findings"]) == (0, [])
    assert (tmp_path / "here" / "trials" / "ledger.db").is_file()

"""The run as a whole: bad input harms nothing but itself, and the exit status tells what happened."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.lint import run
from scenlint.lint.registry import Registry, load_rules
from scenlint.rules.base import rule
from scenlint.testing import base_task, lint


@pytest.mark.parametrize("name", ["harbor", "terminal-bench", "saas-bench", "waza", "deepgym", "packet"])
def test_base_task_of_every_format_is_clean(name, tmp_path):
    findings = lint(base_task(name, tmp_path / name))
    assert [(f.rule, f.location.path.name, f.message) for f in findings if f.severity != "info"] == []


def test_rule_that_crashes_is_reported_and_hides_no_other(harbor_task, monkeypatch):
    @rule("crashing", "SL999")
    def crashing(task):
        raise RuntimeError("secret content of the task")

    registry = load_rules()
    monkeypatch.setattr(registry, "rules", [*registry.rules, crashing])
    (harbor_task / "environment" / "Dockerfile").write_text("FROM python:latest\n")
    report = run.check([harbor_task], Settings(root=harbor_task), jobs=1)
    assert "latest-tag" in {f.rule for f in report.findings}
    (message,) = report.crashes
    assert "crashing" in message
    assert "secret" not in message


def test_parallel_and_serial_runs_find_the_same(tmp_path):
    for n in range(run.PARALLEL_FROM + 3):
        task = base_task("harbor", tmp_path / f"task-{n:02}")
        (task / "environment" / "Dockerfile").write_text("FROM python:latest\n" * (n % 3))
    settings = Settings(root=tmp_path)
    one, two = (run.check([tmp_path], settings, jobs=jobs) for jobs in (1, 2))
    assert one.findings == two.findings
    assert one.findings
    assert one.not_assessed == two.not_assessed
    assert one.tasks == two.tasks == run.PARALLEL_FROM + 3


def test_exit_statuses(harbor_task, scenlint, tmp_path):
    assert scenlint("check", harbor_task).returncode == 0
    (tmp_path / "empty").mkdir()
    assert scenlint("check", tmp_path / "empty").returncode == 3
    assert scenlint("check", tmp_path / "gone").returncode == 2
    assert scenlint("check", harbor_task, "--select", "no-such-rule").returncode == 2
    (harbor_task / "environment" / "Dockerfile").write_text("FROM python:latest\n")
    assert scenlint("check", harbor_task).returncode == 1
    # SaaS-Bench has no place for an oracle, so whether one is missing cannot be judged.
    saas = base_task("saas-bench", tmp_path / "saas")
    assert scenlint("check", saas, "--select", "missing-oracle").returncode == 0
    assert scenlint("check", saas, "--select", "missing-oracle", "--require-complete").returncode == 4


def test_select_ignore_and_extend_select_combine_by_exactness(harbor_task, scenlint):
    (harbor_task / "environment" / "Dockerfile").write_text("FROM python:latest\n")

    def rules(*arguments):
        out = scenlint("check", harbor_task, "--format", "json", *arguments).stdout
        return {f["rule"] for f in json.loads(out)["findings"]}

    assert "latest-tag" in rules("--select", "SL3")
    assert "latest-tag" not in rules("--select", "SL3", "--ignore", "SL302")
    assert "latest-tag" in rules("--select", "SL302", "--ignore", "SL3")
    assert "latest-tag" in rules("--select", "SL1", "--extend-select", "latest-tag")
    assert "latest-tag" in rules("--select", "reproducible")
    assert "latest-tag" not in rules("--ignore", "reproducible")


class TestBadInput:
    def check(self, scenlint, folder) -> dict:
        result = scenlint("check", folder, "--format", "json")
        assert "Traceback" not in result.stderr
        assert "internal error" not in result.stderr
        return json.loads(result.stdout)

    @pytest.fixture
    def suite(self, tmp_path):
        """Two tasks; the second is always broken, the first has one finding that must still be there."""
        good = base_task("harbor", tmp_path / "suite" / "a-good")
        (good / "environment" / "Dockerfile").write_text("FROM python:latest\n")
        base_task("harbor", tmp_path / "suite" / "b-bad")
        return tmp_path / "suite"

    @pytest.mark.parametrize(
        ("file", "content"),
        [
            ("task.toml", b"[agent\ntimeout_sec = 3\n"),
            ("task.toml", b"\xff\xfe\x00"),
            ("task.toml", b""),
            ("instruction.md", b"ok\n\xb1\xff\xc0\n"),
            ("instruction.md", b"\x00\x01\x02" * 100),
            ("tests/test_outputs.py", b"def test(:\n"),
            ("tests/test_outputs.py", b"(" * 5000),
            ("tests/test.sh", b"if [ \x00 $( ((( 'unclosed"),
            ("environment/Dockerfile", b"FROM\nRUN <<EOF\nnever closed"),
            ("environment/docker-compose.yaml", b"a: &a [x, x]\nb: &b [*a, *a]\n" * 50),
        ],
        ids=lambda value: value if isinstance(value, str) else repr(value[:12]),
    )
    def test_broken_file_is_said_and_the_other_task_still_checked(self, suite, scenlint, file, content):
        (suite / "b-bad" / file).write_bytes(content)
        out = self.check(scenlint, suite)
        assert out["summary"]["tasks"] == 2
        assert any(f["rule"] == "latest-tag" and f["task"] == "a-good" for f in out["findings"])

    def test_billion_laughs_is_one_finding(self, tmp_path, scenlint):
        task = base_task("waza", tmp_path / "waza")
        laughs = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12))
        (task / "tasks" / "product.yaml").write_text(f"id: a\nl0: &l0 [x]\n{laughs}\n")
        out = self.check(scenlint, task)
        assert any(f["rule"] == "unreadable-file" for f in out["findings"])

    def test_loop_link_out_and_large_file_are_survived(self, suite, scenlint, tmp_path):
        bad = suite / "b-bad"
        (tmp_path / "secret.txt").write_text("outside")
        (bad / "environment" / "out.txt").symlink_to(tmp_path / "secret.txt")
        (bad / "environment" / "loop").symlink_to(suite)
        with (bad / "environment" / "huge.txt").open("wb") as file:
            file.truncate(200 * 1024 * 1024)
        out = self.check(scenlint, suite)
        named = {f["path"].rsplit("/", 1)[-1] for f in out["findings"] if f["rule"] == "unreadable-file"}
        assert named == {"out.txt", "loop"}
        assert "outside" not in json.dumps(out)

    def test_names_that_need_quoting_are_printed_as_they_are(self, tmp_path, scenlint):
        for name in ("a b", "a#b", "100%", "größe", "-dash"):
            base_task("harbor", tmp_path / "suite" / name)
        out = self.check(scenlint, tmp_path / "suite")
        assert out["summary"]["tasks"] == 5

    @pytest.mark.parametrize("output", ["text", "concise", "github"])
    def test_output_survives_an_ascii_terminal(self, suite, scenlint, output):
        (suite / "b-bad" / "instruction.md").write_text("“curly” 🙂 TODO\n")
        environment = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}
        result = scenlint("check", suite, "--format", output, env=environment)
        assert "Traceback" not in result.stderr
        assert result.returncode == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signal_ends_a_parallel_run_soon_and_leaves_no_worker(tmp_path, number):
    for n in range(300):
        base_task("harbor", tmp_path / f"t{n}")
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "check", str(tmp_path), "-j", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        until = time.monotonic() + 30
        while len(workers := children.read_text().split()) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)
        run.send_signal(number)
        assert run.wait(timeout=20) == (130 if number == signal.SIGINT else -number)
    until = time.monotonic() + 5
    while any(_lives(w) for w in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert workers
    assert not any(_lives(w) for w in workers)


def _lives(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("file", ["task.toml", "instruction.md"])
def test_binary_where_text_is_due_is_an_error(harbor_task, file):
    (harbor_task / file).write_bytes(b"\x00\x01\x02" * 100)
    found = lint(harbor_task, "unreadable-file")
    assert [(f.location.path.name, "binary" in f.message) for f in found] == [(file, True)]


def test_fault_while_tasks_are_looked_for_shared_or_compared_hides_no_finding(tmp_path, harbor_task, monkeypatch):
    (harbor_task / "environment" / "Dockerfile").write_text("FROM python:latest\n")
    base_task("saas-bench", tmp_path / "suite" / "saas")

    def fail(*_: object) -> None:
        raise LookupError

    monkeypatch.setattr("scenlint.formats.deepgym.DeepGym.find", fail)
    monkeypatch.setattr("scenlint.formats.saas_bench.SaasBench.shared", fail)
    rules = load_rules().rules
    comparing = next(r for r in rules if r.suite_check is not None)
    others = [r for r in rules if r is not comparing]
    failing = Registry([*others, replace(comparing, suite_check=fail)])
    monkeypatch.setattr("scenlint.lint.engine.load_rules", lambda: failing)
    report = run.check([tmp_path], Settings(root=tmp_path), jobs=1)
    assert "latest-tag" in [f.rule for f in report.findings]
    said = "\n".join(report.crashes)
    assert "deepgym tasks were looked for" in said
    assert "saas-bench tasks share" in said
    assert f"rule {comparing.name}, which compares tasks" in said

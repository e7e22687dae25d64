"""Verifiers of live services whose services are dead, empty or noisy: real verifiers in real sandboxes."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from scenlint.dynamic.dead import stand_in
from scenlint.dynamic.dead.maker import conclude, planned
from scenlint.formats.base import TaskRef
from scenlint.harness import trial
from scenlint.lint.discover import format_named
from scenlint.task.policy import Policy
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

START = """
import os, subprocess, sys, urllib.request
points = []
def check(label, points_, passed):
    points.append((points_, passed))
    print(f"[{'PASS' if passed else 'FAIL'}] ({points_}pt) {label}", file=sys.stderr)
def query(sql):
    done = subprocess.run(["docker", "exec", "db", "psql", "-c", sql], capture_output=True, text=True)
    return done.returncode, done.stdout.strip()
def get(path):
    port = next(v for k, v in sorted(os.environ.items()) if k.endswith("_PORT"))
    return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).read().decode()
"""
END = """
won, all_of = sum(p for p, ok in points if ok), sum(p for p, _ in points)
print(f"SCORE: {won / all_of:.3f}  PASS: {won == all_of}  ({won}/{all_of})", file=sys.stderr)
"""


@pytest.fixture
def outcomes(tmp_path):
    """What a verifier makes of each environment: outcomes(body) -> {mode: record}."""

    def run(body: str, end: str = END) -> dict:
        folder = base_task("saas-bench", tmp_path / "suite") / "tasks/uni-m/Teamwork/teamwork_001"
        (folder / "verify.py").write_text(START + body + end)
        form = format_named("saas-bench")
        plan = form.plan(form.load(TaskRef("saas-bench", folder), Policy()))
        out = {}
        for made in planned(plan):
            record = trial.run(made.plan, made.agent, tmp_path / "trials" / made.experiment.name)
            record.experiment = replace(made.experiment)
            conclude(record, tmp_path, None)
            out[made.experiment.name] = record
        return out

    return run


def shown(records) -> dict[str, tuple[str, float | None]]:
    return {mode: (r.experiment.outcome, r.reward) for mode, r in records.items()}


def test_a_verifier_that_wants_an_answer_gives_nothing(outcomes):
    records = outcomes('check("order paid", 1, query("SELECT state FROM orders WHERE id = 31") == (0, "paid"))')
    assert shown(records) == dict.fromkeys(("dead", "empty", "noise"), ("holds", 0.0))


def test_a_broad_except_passes_where_nothing_answers(outcomes):
    records = outcomes(
        """
try:
    bad = "wrong" in get("/orders")
except Exception:
    bad = False
check("no wrong order", 2, not bad)
"""
    )
    assert shown(records) == dict.fromkeys(("dead", "empty", "noise"), ("broken", 1.0))
    assert "no wrong order" in records["dead"].experiment.evidence


def test_a_loop_over_an_empty_answer_passes(outcomes):
    records = outcomes(
        """
status, rows = query("SELECT id FROM orders")
check("answered", 1, status == 0)
check("all shipped", 1, status == 0 and all(row.endswith("shipped") for row in rows.split()))
"""
    )
    assert shown(records)["dead"] == ("holds", 0.0)
    assert shown(records)["empty"] == ("broken", 1.0)
    assert shown(records)["noise"] == ("broken", 0.5)


def test_counts_are_zero_and_files_are_missing_in_an_empty_environment(outcomes):
    records = outcomes(
        """
check("none left over", 1, query("SELECT COUNT(*) FROM orders") == (0, "0"))
there = subprocess.run(["docker", "exec", "app", "test", "-f", "/data/report.txt"]).returncode == 0
check("report is there", 1, there)
"""
    )
    assert shown(records)["empty"] == ("broken", 0.5)
    assert [c.passed for c in records["empty"].checks] == [True, False]


def test_web_services_answer_with_an_empty_document(outcomes):
    records = outcomes('check("answers", 1, get("/any/thing") == "{}")')
    assert records["empty"].reward == 1.0
    assert records["noise"].reward == 0.0
    assert records["dead"].experiment.outcome == "skipped"  # the verifier crashed: no verdict


def test_what_the_formats_own_harness_would_pass_counts(outcomes):
    records = outcomes('check("input is there", 1, True)\nsys.exit(1)\n', end="")
    assert records["dead"].reward is None
    assert records["dead"].experiment.outcome == "broken"


def test_a_whole_suite_is_looked_at_without_an_engine(tmp_path):
    suite = base_task("saas-bench", tmp_path / "suite")
    verifier = suite / "tasks/uni-m/Teamwork/teamwork_001/verify.py"
    verifier.write_text(START + 'check("input is there", 1, True)' + END)
    argv = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "validate", "tasks", "--no-engine"]
    done = subprocess.run(
        [*argv, "--format", "json", "--quiet"], cwd=suite, capture_output=True, text=True, timeout=120
    )
    told = json.loads(done.stdout)
    assert [(f["rule"], f["severity"]) for f in told["findings"]] == [("passes-dead-environment", "error")]
    assert {t["experiment"]["name"] for t in told["trials"]} == {"dead", "empty", "noise"}
    assert done.returncode == 1


def test_no_application_is_started_and_no_unsafe_wish_granted(tmp_path):
    folder = base_task("saas-bench", tmp_path / "suite") / "tasks/uni-m/Teamwork/teamwork_001"
    form = format_named("saas-bench")
    plan = replace(form.plan(form.load(TaskRef("saas-bench", folder), Policy())), unsafe=("privileged",))
    for made in planned(plan):
        assert (made.plan.apps, made.plan.unsafe, made.plan.container, made.plan.compose) == ((), (), None, None)


def test_the_stand_in_needs_only_python_itself(tmp_path):
    script = tmp_path / "docker"
    shutil.copy(stand_in.__file__, script)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), "exec", "db", "psql", "-c", "SELECT 1"],
        capture_output=True, text=True, env={"STAND_IN": "noise"}, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "7\n")

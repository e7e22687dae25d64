"""Real runs in the local sandbox: two scenarios, one always solved and one in turns; killed, edited, capped."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from scenlint import config
from scenlint.calibration.admission import MANIFEST, Page, enter
from scenlint.cli.live import watching
from scenlint.grading import run as grading
from scenlint.grading.audit import path_of, verify
from scenlint.grading.audit.chain import Chain
from scenlint.grading.model import KIND, SuiteError, suite_of
from scenlint.grading.runs import runs
from scenlint.harness.agents import CommandAgent
from scenlint.harness.environment import InfrastructureError
from scenlint.harness.ledger import Ledger
from scenlint.harness.outcome import task_digest
from scenlint.harness.snapshot import Snapshot
from scenlint.lint.discover import Finder, format_named
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

# One trial at a time, they are numbered steady, turns, steady, turns …; every fourth is not solved.
SOLVER = """
echo '{"cost_usd": 0.25, "model": "scripted-1"}' > "$SCENLINT_USAGE_FILE"
if [ $(( ${SCENLINT_TRIAL##*-} % 4 )) -eq 0 ]; then echo 41; else echo 42; fi > answer.txt
"""


def admitted(folder: Path, name: str, suite: Path) -> None:
    """Make a task and enter it in the manifest as it stands."""
    task = base_task("packet", folder / name)
    about = json.loads((task / "packet.json").read_text())
    (task / "packet.json").write_text(json.dumps({**about, "id": name}))
    settings = config.load(folder, None)
    (ref,) = Finder(settings).discover([task]).refs
    form = format_named(ref.format)
    plan = form.plan(form.load(ref, settings.policy))
    page = Page(name, task_digest(plan), "", digests=dict(plan.digests))
    enter(suite / MANIFEST, page, name, "maintainer")


def agent(before: str = "", script: str = SOLVER) -> str:
    return f"[agents.frontier]\ncommand = {json.dumps(['sh', '-c', before + script])}\n"


@pytest.fixture
def suite(tmp_path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "scenlint.toml").write_text(agent())
    for name in ("steady", "turns"):
        admitted(folder, name, folder)
    return folder


def argv(*arguments: str) -> list[str]:
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "grade", "."]
    return [*command, "--agent", "frontier", "--jobs", "1", "--quiet", *arguments]


@pytest.fixture
def grade(suite):
    def run(*arguments: str, trials: int = 4) -> subprocess.CompletedProcess[str]:
        command = argv("--trials", str(trials), *arguments)
        return subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=300)

    return run


def recorded(suite: Path) -> list:
    ledger = Ledger(suite / ".scenlint", create=False)
    try:
        return ledger.entries(kind=KIND)
    finally:
        ledger.close()


def test_a_suite_is_graded_and_every_trial_is_in_the_audit_record(grade, suite):
    done = grade("--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    steady, turns = told["scenarios"]
    assert (steady["passes"], steady["trials"], steady["consistency"]) == (4, 4, 1.0)
    assert (turns["outcomes"], turns["failures"]) == ([True, False, True, False], {"wrong-answer": 2})
    assert (told["suite"]["rate"]["mean"], told["suite"]["spent_usd"]) == (0.75, 2.0)
    (run,) = runs(suite / ".scenlint")
    assert (run.id, run.suite, run.trials) == (told["run"]["id"], suite_of(suite).version, 4)
    chain = Chain.open(path_of(suite / ".scenlint", run.id))
    assert Counter(line.kind for line in chain.lines()) == {"run": 1, "trial": 8, "end": 1}
    assert [fault for fault in verify(chain.path) if not fault.note] == []
    entries = recorded(suite)
    assert {e.record.suite for e in entries} == {run.suite}
    assert {line.data["record"]["id"] for line in chain.lines("trial")} == {e.id for e in entries}
    assert all(Snapshot.load(e.folder) for e in entries)  # so that they can be graded again

    text = grade("--run", run.id)  # nothing is missing: it is only told once more
    assert "4 of 4" in text.stdout
    assert len(recorded(suite)) == 8


def test_killed_in_the_middle_it_goes_on_without_losing_or_doubling_a_trial(grade, suite):
    (suite / "scenlint.toml").write_text(agent("sleep 0.3;"))
    with subprocess.Popen(argv("--trials", "4"), cwd=suite, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not (suite / ".scenlint" / "ledger.db").exists() or _ended(suite) < 3:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read()
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGKILL)
    before = _ended(suite)
    done = grade("--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (run,) = runs(suite / ".scenlint")
    ids = [trial for scenario in told["scenarios"] for trial in scenario["trial_ids"]]
    assert len(ids) == len(set(ids)) == 8
    entries = recorded(suite)
    cut_short = [e for e in entries if e.record.failure_class == "interrupted"]
    assert len(entries) == 8 + len(cut_short)
    assert len(cut_short) <= 1
    assert before >= 3
    written = [line.data["record"]["id"] for line in Chain.open(path_of(suite / ".scenlint", run.id)).lines("trial")]
    assert sorted(written) == sorted(e.id for e in entries)
    for scenario in ("steady", "turns"):
        attempts = [e.attempt for e in entries if e.record.experiment.target == scenario]
        assert sorted(attempts) == list(range(1, len(attempts) + 1))


def _ended(suite: Path) -> int:
    return sum(e.finished for e in recorded(suite))


def test_an_edited_task_is_refused_with_what_changed_unless_that_is_forced_and_recorded(grade, suite):
    brief = suite / "turns" / "brief.md"
    brief.write_text(brief.read_text() + "\nThe number is a whole one.\n")
    refused = grade(trials=1)
    assert refused.returncode == 2
    assert "turns: brief" in refused.stderr
    assert "edited since it was admitted" in refused.stderr
    assert not runs(suite / ".scenlint")
    forced = grade("--force", "--format", "json", trials=1)
    assert forced.returncode == 0, forced.stderr
    assert "turns: brief" in json.loads(forced.stdout)["run"]["forced"][0]
    assert "turns: brief" in runs(suite / ".scenlint")[0].forced[0]


def test_a_task_that_is_gone_is_refused(grade, suite):
    shutil.rmtree(suite / "turns")
    done = grade(trials=1)
    assert (done.returncode, "is not there any more" in done.stderr) == (2, True)


def test_a_dry_run_says_what_it_would_cost_and_runs_nothing(grade, suite):
    first = json.loads(grade("--dry-run", "--format", "json", trials=2).stdout)
    assert (first["trials"], first["cost_usd"], first["unknown"]) == (4, None, {"cost": 2, "seconds": 2})
    assert "cost: unknown" in grade("--dry-run", trials=2).stdout
    assert recorded(suite) == []
    assert grade(trials=2).returncode == 0
    again = json.loads(grade("--dry-run", "--format", "json", trials=6).stdout)
    assert (again["trials"], again["cost_usd"], again["unknown"]) == (12, 3.0, {"cost": 0, "seconds": 0})
    assert again["seconds"] > 0
    assert len(recorded(suite)) == 4


def test_the_limit_of_cost_ends_a_run_which_a_higher_one_goes_on_with(grade, suite):
    done = grade("--max-cost", "0.6", trials=2)
    assert done.returncode == 4, done.stderr
    assert "0.75 of 0.60 USD" in done.stderr
    assert len(recorded(suite)) == 3
    assert grade("--max-cost", "5", trials=2).returncode == 0
    assert len(recorded(suite)) == 4
    assert len(runs(suite / ".scenlint")) == 1


@dataclass(frozen=True)
class Unlucky(CommandAgent):
    """Its machine fails before it can begin, in the trials with these numbers."""

    fails: tuple[int, ...] = ()
    calls: count = field(default_factory=lambda: count(-1), repr=False, compare=False)  # asked twice before the first

    def check(self, plan) -> None:
        if next(self.calls) in self.fails:
            raise InfrastructureError("no room on this machine")


@pytest.mark.parametrize(("fails", "trials", "excluded"), [((1,), (2, 2), (1, 0)), (range(1, 99), (0, 0), (3, 3))])
def test_excluded_trials_are_run_again_up_to_a_cap(suite, fails, trials, excluded):
    agent = Unlucky(("sh", "-c", "echo 42 > answer.txt"), name="unlucky", fails=tuple(fails))
    with watching(quiet=True) as watcher:
        done = grading.grade(
            grading.Request(
                *(suite_of(suite), config.load(suite, None), agent, 2, watcher),
                ledger=suite / ".scenlint", workers=1, reruns=1,
            )
        )  # fmt: skip
    assert tuple(r.trials for r in done.summary.results) == trials
    assert tuple(r.excluded for r in done.summary.results) == excluded
    assert done.summary.complete is all(trials)
    assert [why for why in done.stopped if "after 3 attempts" in why] == list(done.stopped)
    assert Chain.open(path_of(suite / ".scenlint", done.run.id)).ended


def test_the_regression_set_is_graded_by_itself(grade, suite):
    assert grade("--regression", trials=1).returncode == 2  # it is empty
    path = suite / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["regression"], manifest["tasks"] = manifest["tasks"][:1], manifest["tasks"][1:]
    path.write_text(json.dumps(manifest))
    done = grade("--regression", "--format", "json", trials=1)
    told = json.loads(done.stdout)
    assert ([s["key"] for s in told["scenarios"]], told["run"]["regression"]) == (["steady"], True)


def test_an_unknown_run_and_another_agent_are_refused(grade, suite):
    assert "there is no run `nine`" in grade("--run", "nine").stderr
    assert grade(trials=1).returncode == 0
    (run,) = runs(suite / ".scenlint")
    (suite / "scenlint.toml").write_text(agent("true;"))
    done = grade("--run", run.id, trials=1)
    assert (done.returncode, "as it was configured then" in done.stderr) == (2, True)
    assert grade(trials=1).returncode == 0
    assert len(runs(suite / ".scenlint")) == 2


def test_a_suites_version_hangs_on_its_tasks_and_their_digests_only(suite):
    first = suite_of(suite).version
    path = suite / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["tasks"][0]["decided_by"] = "somebody else"
    manifest["tasks"].reverse()
    path.write_text(json.dumps(manifest))
    assert suite_of(path).version == first
    manifest["tasks"][0]["task_digest"] = "sha256:other"
    path.write_text(json.dumps(manifest))
    assert suite_of(path).version != first


def test_what_is_no_manifest_is_said(tmp_path):
    with pytest.raises(SuiteError, match="is not there"):
        suite_of(tmp_path)
    (tmp_path / MANIFEST).write_text("[]")
    with pytest.raises(SuiteError, match="no suite manifest"):
        suite_of(tmp_path)

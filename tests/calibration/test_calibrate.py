"""Real calibrations in the local sandbox, with scripted agents of three strengths."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from scenlint import config
from scenlint.calibration import run as calibration
from scenlint.calibration import triage
from scenlint.cli.live import Quiet, watching
from scenlint.harness.agents import CommandAgent
from scenlint.harness.environment import InfrastructureError
from scenlint.harness.ledger import Ledger
from scenlint.rulings.decision import Decided
from scenlint.task.record import Disposed
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


COMMAND = [
    *(sys.executable, "-c", "from scenlint.cli.app import main; main()", "calibrate", "product", "--quiet", "--agent"),
]


def solves(*numbers: int, before: str = "") -> tuple[str, ...]:
    """A program that solves the task in the trials with these numbers, counted from 1 over both stages."""
    wanted = "|".join(map(str, numbers)) or "none"
    return (
        "sh",
        "-c",
        f'{before} case "${{SCENLINT_TRIAL##*-}}" in {wanted}) echo 42;; *) echo 41;; esac > answer.txt',
    )


@pytest.fixture
def suite(tmp_path) -> Path:
    base_task("packet", tmp_path / "suite" / "product")
    return tmp_path / "suite"


@pytest.fixture
def calibrate(suite):
    """calibrate(agent, …) -> Calibration."""

    def go(agent, **more):
        settings = config.load(suite / "product", None)
        with watching(quiet=True) as watcher:
            request = calibration.Request(
                suite / "product", settings, agent, watcher, ledger=suite / ".scenlint", workers=2, **more
            )
            return calibration.calibrate(request)

    return go


def test_a_scenario_that_this_agent_fails_often_enough_is_admissible(calibrate):
    done = calibrate(CommandAgent(solves(1), name="weak"))
    assert done.decision.decided is Decided.ADMISSIBLE
    assert (done.decision.one.failures, done.decision.two.failures) == (1, 8)
    assert [c.agent for c in done.controls] == ["oracle", "nop"]


def test_what_never_fails_is_retired_after_two_trials(calibrate):
    done = calibrate(CommandAgent(solves(*range(1, 20)), name="strong"))
    assert done.decision.decided is Decided.RETIRED
    assert len(done.trials) == 2


def test_what_fails_too_seldom_is_rejected_in_stage_two(calibrate):
    done = calibrate(CommandAgent(solves(1, *range(5, 20)), name="middling"))
    assert done.decision.decided is Decided.REJECTED
    assert done.decision.two.failures == 2


def test_what_nobody_solves_is_not_admitted(calibrate):
    done = calibrate(CommandAgent(solves(), name="hopeless"))
    assert done.decision.decided is Decided.NEVER_SOLVED


@dataclass(frozen=True)
class Unlucky(CommandAgent):
    """Its machine fails before it can begin."""

    calls: count = field(default_factory=lambda: count(1), repr=False, compare=False)

    def check(self, plan) -> None:
        if next(self.calls) > 1:  # the first call asks whether it can do such a task at all
            raise InfrastructureError("no room on this machine")


def test_faults_of_the_machine_leave_it_inconclusive(calibrate):
    done = calibrate(Unlucky(solves(), name="unlucky"))
    assert done.decision.decided is Decided.INCONCLUSIVE
    assert done.decision.one.excluded == 4


def test_confirmed_misalignment_voids_all_trials_of_the_digest(calibrate, suite):
    agent = CommandAgent(solves(1), name="weak")
    first = calibrate(agent)
    triage.decide(suite / ".scenlint", first.trials[0].task_digest, Disposed.MISALIGNED, "units", "maintainer")
    with pytest.raises(calibration.RefusedError, match="blocked"):
        calibrate(agent)
    brief = suite / "product" / "brief.md"
    brief.write_text(brief.read_text() + "\nThe number is a whole one.\n")
    assert calibrate(agent).number == 1


def test_a_decided_digest_is_not_calibrated_again_unless_forced_and_recorded(calibrate):
    agent = CommandAgent(solves(*range(1, 20)), name="strong")
    calibrate(agent)
    with pytest.raises(calibration.RefusedError, match="calibrated with `strong` already: retired"):
        calibrate(agent)
    again = calibrate(agent, force=True)
    assert (again.number, bool(again.forced), len(again.trials)) == (2, True, 2)


def test_a_task_that_is_not_clean_is_refused_unless_forced(calibrate, suite):
    (suite / "product" / "solve.sh").write_text("echo 41 > answer.txt\n")
    agent = CommandAgent(solves(1), name="weak")
    with pytest.raises(calibration.RefusedError, match="oracle-not-perfect"):
        calibrate(agent)
    forced = calibrate(agent, force=True)
    assert forced.forced
    assert "oracle-not-perfect" in {f.rule for f in forced.gate}


class StopsAfter(Quiet):
    """Wishes the run to stop once so many trials have ended."""

    def __init__(self, trials: int, stop: threading.Event) -> None:
        self.left, self.stop = trials, stop

    def ended(self, job, record) -> None:
        self.left -= 1
        if self.left <= 0:
            self.stop.set()


def test_an_agent_that_was_changed_does_not_go_on_with_the_calibration_of_another(suite):
    def go(agent, trials=99, **more):
        stop = threading.Event()
        request = calibration.Request(
            suite / "product", config.load(suite / "product", None), agent, StopsAfter(trials, stop),
            ledger=suite / ".scenlint", workers=1, stop=stop, **more,
        )  # fmt: skip
        return calibration.calibrate(request)

    first = go(CommandAgent(solves(1), name="weak"), 2 + 4)  # oracle, nop, and four of its own
    assert (first.interrupted, first.decision.decided, len(first.trials)) == (True, Decided.OPEN, 4)
    changed = CommandAgent(solves(1, 2), name="weak")
    with pytest.raises(calibration.RefusedError, match="not what it was"):
        go(changed)
    assert go(changed, force=True).number == 2


def test_what_a_person_says_about_a_trial_counts(calibrate, suite):
    agent = CommandAgent(solves(1), name="weak")
    done = calibrate(agent)
    folder = suite / ".scenlint"
    for entry in done.trials[2:8]:
        triage.decide(folder, entry.id, Disposed.EXCLUDED, "the mirror was down", "maintainer")
    with pytest.raises(ValueError, match="reason"):
        triage.decide(folder, done.trials[0].id, Disposed.EXCLUDED, " ", "maintainer")
    # Six failures no longer count, so six fresh trials are run in their place.
    again = calibrate(agent)
    assert (again.number, again.decision.decided, len(again.trials)) == (1, Decided.ADMISSIBLE, 16)
    assert len(triage.history(folder)) == 6


def test_curtailed_it_stops_once_it_is_settled(calibrate):
    done = calibrate(CommandAgent(solves(1), name="weak"), curtail=True)
    assert done.decision.decided is Decided.ADMISSIBLE
    assert done.decision.rate is not None
    assert 6 <= len(done.trials) <= 7  # four failures settle stage two; two trials run at a time


def test_killed_in_stage_two_it_goes_on_without_losing_or_doubling_a_trial(suite):
    (suite / "scenlint.toml").write_text(
        "[agents.weak]\ncommand = " + json.dumps(list(solves(1, before="sleep 0.3;"))) + "\n"
    )
    argv = [
        sys.executable,
        "-c",
        "from scenlint.cli.app import main; main()",
        "calibrate",
        "product",
        "--agent",
        "weak",
    ]
    argv += ["--format", "json", "--quiet", "--jobs", "1"]
    log = suite / "log"
    with log.open("w") as file, subprocess.Popen(argv, cwd=suite, stdout=file, stderr=file) as process:
        book = suite / ".scenlint"
        deadline = time.monotonic() + 120
        while _attempts(book) < 4:
            assert time.monotonic() < deadline
            assert process.poll() is None, log.read_text()
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGKILL)
    before = _attempts(book)
    done = subprocess.run(argv, cwd=suite, capture_output=True, text=True, timeout=300)
    told = json.loads(done.stdout)
    assert (told["decision"], done.returncode) == ("admissible", 0), done.stderr
    assert len({a["trial"] for a in told["attempts"]}) == len(told["attempts"]) == 10
    assert before >= 4
    assert told["stage_two"]["failures"] + told["stage_two"]["passes"] == 8


def _attempts(folder: Path) -> int:
    """Finished trials of the calibration."""
    if not (folder / "ledger.db").exists():
        return 0
    ledger = Ledger(folder, create=False)
    try:
        return len(ledger.entries(agent="weak", finished=True))
    finally:
        ledger.close()


def test_the_command_says_what_was_decided_and_the_rules_own_risks(suite):
    (suite / "scenlint.toml").write_text("[agents.strong]\ncommand = " + json.dumps(list(solves(*range(1, 20)))) + "\n")
    argv = [
        sys.executable,
        "-c",
        "from scenlint.cli.app import main; main()",
        "calibrate",
        "product",
        "--agent",
        "strong",
    ]
    done = subprocess.run([*argv, "--quiet"], cwd=suite, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "retired" in done.stdout
    assert "refused 52% of the time" in done.stdout


KNOWS = (
    "sh", "-c",
    'if grep -q "whole product" "$SCENLINT_BRIEF_FILE"; then echo 42; '
    'elif [ "${SCENLINT_TRIAL##*-}" = 1 ]; then echo 42; else echo 41; fi > answer.txt',
)  # fmt: skip


def test_a_task_that_becomes_easy_once_its_rule_is_stated_was_never_hard(suite):
    (suite / "scenlint.toml").write_text(
        f"[agents.weak]\ncommand = {json.dumps(list(KNOWS))}\n[agents.blind]\ncommand = {json.dumps(list(solves(1)))}\n"
    )
    (suite / "rule.md").write_text("The number is the whole product.\n")
    for agent in ("weak", "blind"):
        assert subprocess.run([*COMMAND, agent], cwd=suite, capture_output=True, timeout=200).returncode in (0, 4)
    stated = [*COMMAND, "weak", "--state-rule", "rule.md", "--format", "json"]
    done = subprocess.run(stated, cwd=suite, capture_output=True, text=True, timeout=200)
    told = json.loads(done.stdout)
    assert (told["fake_difficulty"], told["failures"], done.returncode) == (True, {"silent": 8, "stated": 0}, 1)
    assert told["p"] < 0.001
    again = subprocess.run(stated, cwd=suite, capture_output=True, text=True, timeout=200)
    assert json.loads(again.stdout)["trials"] == told["trials"]
    hard = subprocess.run(
        [*COMMAND, "blind", "--state-rule", "rule.md"], cwd=suite, capture_output=True, text=True, timeout=200
    )
    assert (hard.returncode, "stays hard" in hard.stdout) == (0, True), hard.stdout

"""Worlds around real packets in real local sandboxes: what differs is found, what cannot be moved is said."""

import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.experiments import Wishes
from scenlint.report.model import Report
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

RULES = ["flaky-verdict", "needs-network-at-grading", "clock-dependent", "environment-drifts", "trial-cross-talk"]
# Not `-I`: a verifier that takes variables.
CHECK = 'python3 "$SCENLINT_VERIFIER/check_product.py"'


class Silent:
    def planned(self, jobs, reused): ...
    def began(self, job, trial): ...
    def phase(self, job, trial, phase): ...
    def ended(self, job, record): ...
    def left_out(self, job): ...
    def note(self, text): ...


@pytest.fixture
def task(tmp_path):
    """Makes a packet whose check or solution has one more line."""

    def make(*, check: str = "", solve: str = "", cpus: bool = True) -> Path:
        folder = base_task("packet", tmp_path / "task")
        about = json.loads((folder / "packet.json").read_text())
        about["verification"]["checks"][0]["command"] = CHECK
        if not cpus:
            del about["budget"]["cpus"]
        (folder / "packet.json").write_text(json.dumps(about, indent=2))
        with (folder / "checks/check_product.py").open("a") as file:
            file.write(f"\n{check}\n")
        with (folder / "solve.sh").open("a") as file:
            file.write(f"{solve}\n")
        return folder

    return make


def deep(folder: Path, *names: str, ledger: str = "ledger", **wishes) -> Report:
    settings = Settings(root=folder).override(select=RULES)
    asked = Wishes(probes=frozenset(names or {"world"}), **wishes)
    request = stage.Request([folder], settings, Silent(), ledger=folder.parent / ledger, deep=asked)
    report = stage.validate(request)
    assert report.crashes == []
    return report


def outcomes(report: Report) -> dict[str, str]:
    """Name -> outcome, the worst of several trials."""
    out: dict[str, str] = {}
    for line in report.trials or ():
        if (made := line.record.experiment) and out.get(made.name) != "differs":
            out[made.name] = made.outcome
    return out


def reasons(report: Report) -> dict[str, str]:
    made = [line.record.experiment for line in report.trials or () if line.record.experiment]
    return {e.name: e.reason for e in made if e.reason}


def test_a_sound_task_is_the_same_in_every_world_and_what_was_not_made_says_why(task):
    report = deep(task(), repeats=3)
    told = outcomes(report)
    same = {"oracle-again", "regraded", "offline", "two-at-once", "clock-control", "clock+1d", "clock+1y"}
    assert {name for name in told if told[name] == "same"} >= same | {
        "clock-29-feb",
        "zone-east",
        "hash-seed",
        "one-cpu",
    }
    assert "differs" not in told.values()
    assert told["built-again"] == told["test-order"] == "skipped"
    assert reasons(report)["built-again"] == "nothing is built for this task"
    assert reasons(report)["test-order"] == "the verifier does not run pytest"
    assert report.findings == []
    assert [n.code for n in report.not_assessed] == ["SL714"]
    attempts = [x.record.attempt for x in report.trials or () if x.record.agent == "world:regraded"]
    assert attempts == [1, 2, 3]


def test_a_verifier_with_a_fuse_is_found_by_the_moved_clock(task):
    from datetime import UTC, datetime, timedelta

    until = datetime.now(UTC) + timedelta(days=100)
    fuse = f"import time\nassert time.time() < {until.timestamp()}, 'too late'"
    report = deep(task(check=fuse), "clock+1d", "clock+1y", "clock-control")
    assert outcomes(report) | {"oracle-again": "", "regraded": ""} == {
        "clock-control": "same", "clock+1d": "same", "clock+1y": "differs", "oracle-again": "", "regraded": "",
    }  # fmt: skip
    (finding,) = report.findings
    assert (finding.code, finding.severity or "warning") == ("SL713", "warning")
    assert "a reward of 0 instead of 1" in finding.message
    assert "too late" in finding.message


def test_the_clock_of_a_judge_is_moved_too(tmp_path):
    folder = base_task("deepgym", tmp_path / "judged")
    verifier = (folder / "verifier.py").read_text()
    year = time.gmtime(time.time() + 2 * 86400).tm_year
    fuse = f"    import time\n    CASES[:] = CASES if time.gmtime().tm_year <= {year} else [('late', [], 2)]\n"
    (folder / "verifier.py").write_text(verifier.replace("    cases = []\n", fuse + "    cases = []\n"))
    report = deep(folder, "clock-control", "clock+1d", "clock+1y")
    told = outcomes(report)
    assert (told["clock-control"], told["clock+1d"], told["clock+1y"]) == ("same", "same", "differs")


def test_a_task_that_the_means_itself_disturbs_is_not_judged_by_moved_clocks(task):
    report = deep(task(check="import os\nassert 'LD_PRELOAD' not in os.environ"), "clock-control", "clock+1y")
    told = outcomes(report)
    assert (told["clock-control"], told["clock+1y"]) == ("skipped", "skipped")
    assert "disturbs this task even where it moves none" in reasons(report)["clock+1y"]
    assert report.findings == []


def test_a_clock_that_did_not_move_is_skipped_and_never_passed(task, monkeypatch):
    from scenlint.dynamic.worlds import clock

    nothing = Path(__file__)  # is no library, so programs go on without it
    monkeypatch.setattr(clock, "_library", lambda: str(nothing))
    report = deep(task(), "clock+1d")
    assert outcomes(report)["clock+1d"] == "skipped"
    assert re.match(r"it took no effect: `date` was -8640\d s off the date", reasons(report)["clock+1d"])
    assert [n.code for n in report.not_assessed if n.code == "SL713"] == ["SL713"]


def test_without_the_library_no_clock_is_moved_and_the_reason_names_it(task, monkeypatch):
    from scenlint.dynamic.worlds import clock

    monkeypatch.setattr(clock, "_library", lambda: None)
    report = deep(task(), "clock+1d")
    assert "pip install libfaketime" in reasons(report)["clock+1d"]
    assert any("pip install libfaketime" in n.reason for n in report.not_assessed if n.code == "SL713")


def test_a_verifier_that_knows_only_its_own_zone_is_found(task):
    report = deep(task(check="import time\nassert time.localtime().tm_gmtoff == 0"), "zone-east", "zone-west")
    assert outcomes(report)["zone-east"] == outcomes(report)["zone-west"] == "differs"
    assert [f.code for f in report.findings] == ["SL713"]


def test_a_verifier_that_depends_on_the_order_of_a_set_is_found(task):
    check = "import os\nassert os.environ.get('PYTHONHASHSEED') in (None, '1')"
    report = deep(task(check=check), "hash-seed")
    made = [x.record.experiment for x in report.trials or () if x.record.experiment]
    assert {e.target: e.outcome for e in made if e.name == "hash-seed"} == {"0": "differs", "1": "same"}
    (finding,) = report.findings
    assert finding.code == "SL704"
    assert "PYTHONHASHSEED=0" in finding.message


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_a_verdict_that_hangs_on_the_number_of_processors_is_found(task):
    folder = task(check="import os\nassert len(os.sched_getaffinity(0)) > 1, 'one processor'", cpus=False)
    report = deep(folder, "one-cpu")
    assert outcomes(report)["one-cpu"] == "differs"
    assert [f.code for f in report.findings] == ["SL704"]


def test_work_that_cannot_be_restored_is_no_evidence_against_the_verifier(task):
    # A time of change that no snapshot can restore.
    check = "import os\ns = os.stat('answer.txt')\nassert s.st_ctime - s.st_mtime < 0.5, 'older than it looks'"
    report = deep(task(check=check, solve="sleep 1"))
    told = outcomes(report)
    assert (told["oracle-again"], told["regraded"], told["regraded-in-place"]) == ("same", "skipped", "same")
    assert "gets a reward of 0 instead of 1.0" in reasons(report)["regraded"]
    assert "older than it looks" in reasons(report)["regraded"]
    assert report.findings == []


def test_a_verifier_that_spoils_what_it_grades_is_found_where_it_is_graded_again_in_place(task):
    check = "import os\ns = os.stat('answer.txt')\nassert s.st_ctime - s.st_mtime < 0.5\nos.chmod('answer.txt', 0o600)"
    again = "import os\nassert os.stat('answer.txt').st_mode & 0o777 != 0o600, 'graded before'\n"
    report = deep(task(check=again + check, solve="sleep 1"), "regraded-in-place", repeats=2)
    made = next(x.record.experiment for x in report.trials or () if x.record.agent == "world:regraded-in-place")
    assert (made.outcome, made.evidence) == ("differs", "rewards in this order: 1, 0, 0")
    assert [f.code for f in report.findings] == ["SL704"]


@pytest.mark.parametrize(
    ("command", "name", "reason"),
    [
        ('python3 -I "$SCENLINT_VERIFIER/check_product.py"', "hash-seed", "takes no variables (`-I`)"),
        ('env -i /usr/bin/python3 "$SCENLINT_VERIFIER/check_product.py"', "clock+1y", "`env -i`"),
        ('env -i /usr/bin/python3 "$SCENLINT_VERIFIER/check_product.py"', "zone-east", "`env -i`"),
    ],
)
def test_a_variable_that_does_not_reach_the_verifier_moves_nothing(task, command, name, reason):
    folder = task()
    about = json.loads((folder / "packet.json").read_text())
    about["verification"]["checks"][0]["command"] = command
    (folder / "packet.json").write_text(json.dumps(about))
    report = deep(folder, name)
    assert outcomes(report)[name] == "skipped"
    assert reason in reasons(report)[name]


def test_a_failing_oracle_leaves_nothing_to_experiment_on(task):
    report = deep(task(solve="echo 41 > answer.txt"))
    assert outcomes(report) == {}
    told = "packet: no mutants and no worlds: the oracle must earn 1.0 first, and it got a reward of 0"
    assert report.skipped == [told]
    assert {n.reason for n in report.not_assessed if n.code != "SL704"} == {"the oracle must earn 1.0 first"}


def test_recorded_experiments_serve_again_until_the_solution_is_edited(task):
    folder = task()
    first = deep(folder, "regraded", "zone-east", "locale", repeats=2)
    again = deep(folder, "regraded", "zone-east", "locale", repeats=2)
    assert all(x.reused for x in again.trials or () if x.record.id)
    assert outcomes(again) == outcomes(first)
    with (folder / "solve.sh").open("a") as file:
        file.write("true\n")
    edited = deep(folder, "oracle-again", "regraded", repeats=2)
    fresh = {x.record.agent for x in edited.trials or () if not x.reused}
    assert fresh == {"oracle", "world:oracle-again", "world:regraded"}


def test_a_small_budget_runs_the_first_experiments_and_says_what_it_left_out(task):
    report = deep(task(), "world", repeats=1, budget=4)
    assert [message for message in report.skipped if "left out by `--budget 4`" in message]
    ran = [x.record.agent for x in report.trials or () if x.record.id and x.record.experiment]
    # The oracle run again and its replay, on which the others stand, count too.
    assert len(ran) == 4
    assert {"world:oracle-again", "world:regraded"} < {*ran}


def test_a_budget_of_one_runs_one_experiment(task):
    report = deep(task(), "world", repeats=2, budget=1)
    assert [x.record.agent for x in report.trials or () if x.record.id and x.record.experiment] == [
        "world:oracle-again"
    ]


def test_a_budget_of_time_ends_the_experiments_of_a_task(task):
    report = deep(task(), "world", repeats=9, seconds=0.01)
    ran = {x.record.agent for x in report.trials or () if x.record.id and x.record.experiment}
    assert ran == {"world:oracle-again"}
    assert any("the time of `--budget` was used up" in message for message in report.skipped)


def test_two_trials_at_once_do_overlap(task):
    report = deep(task(solve="sleep 0.3"), "two-at-once")
    spans = []
    for line in report.trials or ():
        if line.record.agent == "world:two-at-once":
            phase = next(p for p in line.record.phases if p.name == "agent")
            spans.append((phase.started, phase.duration))
    assert len(spans) == 2
    assert outcomes(report)["two-at-once"] == "same"

"""What a person must decide, from trials on record: trials and tasks, each with the command that decides it."""

import json
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from scenlint.calibration import triage
from scenlint.calibration.known import known
from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.gate import Gate, stands
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Ledger, Wanted
from scenlint.harness.outcome import task_digest
from scenlint.rulings.calibrations import calibrations
from scenlint.rulings.decision import Decided
from scenlint.task.record import CheckResult, Disposed, Experiment, FailureClass, Phase, Status
from scenlint.testing import base_task


@pytest.fixture
def suite(tmp_path) -> Path:
    base_task("packet", tmp_path / "suite" / "product")
    return tmp_path / "suite"


@pytest.fixture
def book(suite):
    ledger = Ledger(suite / ".scenlint")
    yield ledger
    ledger.close()


@pytest.fixture
def subject(suite, book):
    def prepared(name: str = "product"):
        gate = Gate(Options(), book, engine=False)
        return stage.single(suite / name, Settings(root=suite), gate)[1]

    return prepared


@pytest.fixture
def put(book):
    """Record trials of a subject as a run would: put(subject, agent, reward, times, …)."""
    numbers = count(1)

    def record(about, agent: str, reward: float | None, times: int = 1, stage: str = "", evidence: str = "", **more):
        out = []
        for _ in range(times):
            n = next(numbers)
            made = Experiment("calibration", stage, "1", evidence=evidence) if stage else None
            plan = about.plan
            wanted = Wanted(about.place, plan.task, plan.format, agent, n, "s", experiment=made)
            trial, _ = book.begin(f"run{n}", n, wanted)
            entry = book.entry(trial).record
            entry.digests, entry.task_digest, entry.experiment = dict(plan.digests), task_digest(plan), made
            entry.reward, entry.phases = reward, [Phase("start"), Phase("agent")]
            entry.status = {None: Status.NO_VERDICT, 1.0: Status.PASSED}.get(reward, Status.FAILED)
            entry.failure_class = {None: FailureClass.VERIFIER_ERROR, 1.0: None}.get(reward, FailureClass.WRONG_ANSWER)
            entry.checks = [CheckResult("test 1", reward == 1.0, detail="" if reward == 1.0 else "'41' != '42'")]
            for name, value in more.items():
                setattr(entry, name, value)
            book.finish(entry)
            out.append(entry)
        return out

    return record


def listed(suite: Path) -> tuple[int, dict]:
    command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "triage", "--format", "json"]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


DOUBT = "This could mean the sum or the product."


def test_a_task_that_signs_hold_up_is_listed_until_somebody_has_looked(suite, subject, put, book):
    about = subject()
    put(about, "weak", 1.0, stage="one")
    put(about, "weak", 0.0, 2, stage="two", evidence=DOUBT)
    put(about, "strong", 0.0, 2)
    status, told = listed(suite)
    (waiting,) = told["open"]
    assert (status, waiting["trial"], waiting["task"]) == (1, "", "packet")
    assert DOUBT in waiting["evidence"]
    assert "M1: 4 failed trials of 2 agents" in waiting["evidence"]
    assert waiting["command"].startswith(f"scenlint triage {task_digest(about.plan)[:19]} --as misaligned|aligned ")
    triage.decide(book.folder, task_digest(about.plan), Disposed.ALIGNED, "line 3 settles it", "reviewer")
    status, told = listed(suite)
    assert (status, told["open"]) == (0, [])
    assert [(d["verdict"], d["reason"], d["role"]) for d in told["decided"]] == [
        ("aligned", "line 3 settles it", "reviewer")
    ]


def test_a_fault_after_the_agent_began_is_listed_with_its_command_and_the_original_stays(suite, subject, put, book):
    about = subject()
    put(about, "oracle", 1.0)
    put(about, "nop", 0.0)
    (trial,) = put(about, "weak", None, stage="one", failure_evidence="verify: no reward was written")
    status, told = listed(suite)
    (waiting,) = told["open"]
    assert (status, waiting["trial"]) == (1, trial.id)
    assert "tampering" in waiting["person"]
    assert waiting["command"] == f"scenlint triage {trial.id} --as genuine|excluded|cheating --reason … --role …"
    triage.decide(book.folder, trial.id, Disposed.EXCLUDED, "the disk was full", "maintainer")
    triage.decide(book.folder, trial.id, Disposed.GENUINE, "it was not, after all", "maintainer")
    status, told = listed(suite)
    assert (status, told["open"], len(told["decided"])) == (0, [], 2)
    assert book.entry(trial.id).record.failure_evidence == "verify: no reward was written"
    (made,) = calibrations(known(book, about))
    assert [r.effect for r in made.decision.rulings] == ["failure"]


def test_of_a_task_that_was_edited_since_nothing_is_asked(suite, subject, put):
    put(subject(), "weak", None, stage="one")
    assert listed(suite)[0] == 1
    brief = suite / "product/brief.md"
    brief.write_text(brief.read_text() + "\nThe number is a whole one.\n")
    assert listed(suite) == (0, {"open": [], "decided": []})


def test_what_is_known_of_a_task_is_of_the_task_as_it_stands(suite, subject, put, book):
    (before,) = put(subject(), "weak", 0.0, stage="one")
    solve = suite / "product/solve.sh"
    solve.write_text(solve.read_text() + "# tidied\n")
    about = subject()
    assert stands(before, about.plan)  # nobody but the oracle ever sees its solution
    put(about, "oracle", 0.0, attempt=1)
    put(about, "oracle", 1.0, attempt=1)  # run again
    assert [(r.agent, r.reward) for r in known(book, about)] == [("weak", 0.0), ("oracle", 1.0)]
    check = suite / "product/checks/check_product.py"
    check.write_text(check.read_text() + "# stricter\n")
    assert known(book, subject()) == []


def test_agents_are_as_strong_as_their_trials_of_other_tasks_say(suite, subject, put, book):
    base_task("packet", suite / "other")
    text = (suite / "other/packet.json").read_text().replace('"id": "packet"', '"id": "other"')
    (suite / "other/packet.json").write_text(text)
    about, other = subject(), subject("other")
    put(about, "weak", 1.0, 8)
    put(other, "weak", 1.0, 2)
    put(other, "weak", 0.0, 6)
    put(other, "weak", 0.0, 3, failure_class=FailureClass.AGENT_TIMEOUT)
    put(about, "new", 1.0)
    put(other, "new", 1.0, 7)
    assert {r.agent: r.strength for r in known(book, about)} == {"weak": 0.25, "new": None}


def test_another_agents_pass_is_a_witness_that_it_can_be_solved(subject, put, book):
    about = subject()
    put(about, "weak", 0.0, 2, stage="one")
    put(about, "weak", 0.0, 8, stage="two")
    (made,) = calibrations(known(book, about))
    assert made.decision.decided is Decided.NEVER_SOLVED
    put(about, "strong", 1.0)
    (made,) = calibrations(known(book, about))
    assert made.decision.decided is Decided.ADMISSIBLE

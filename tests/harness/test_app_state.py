"""Wrong work in an app: requests of the oracle kept back, sent twice or altered, and what a verifier makes of it."""

import pytest
from appkit import make_plan, notes_app

from scenlint.dynamic.experiments import Context, Wishes
from scenlint.dynamic.gate import Shown, Subject
from scenlint.dynamic.mutants import maker
from scenlint.dynamic.worlds.again import oracle_again
from scenlint.formats.base import TaskRef
from scenlint.lint.discover import format_named
from scenlint.task.policy import Policy
from scenlint.task.record import Status
from scenlint.testing import base_task

pytestmark = pytest.mark.engine

SOLVE = """
def post(text):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://{HOST}:{PORT}/", json.dumps({"text": text}).encode(), headers)
    assert urllib.request.urlopen(request, timeout=10).read() == b"added"
post("Leaking tap")
"""
# Counts the notes and never reads them.
COUNTS = """
passed = len(json.loads(get())) == 1
print(f"[{'PASS' if passed else 'FAIL'}] (1pt) one note", file=sys.stderr)
print(f"SCORE: {passed:.3f}  PASS: {passed}  ({passed:d}/1)", file=sys.stderr)
"""


@pytest.fixture
def mutated(run, options, notes_image, tmp_path):
    """Runs the mutants of an oracle for the notes app: operator -> experiment."""

    def go(verify: str, brief: str):
        plan = make_plan(tmp_path / "task", notes_app(notes_image), verify=verify, solve=SOLVE)
        folder = base_task("harbor", tmp_path / "suite" / "task")
        (folder / "instruction.md").write_text(brief)
        task = format_named("harbor").load(TaskRef("harbor", folder), Policy())
        subject = Subject(task, "here", plan)
        again = oracle_again()
        record = run(plan, again.agent)
        assert record.status is Status.PASSED, record.failure_evidence
        shown = Shown(record, tmp_path / "trials" / record.id, False)
        subject.trials.append(shown)
        about = Context(subject, shown, None, None, Wishes(), options, no_replay="in the apps")
        out = {}
        for planned in maker.plan(about):
            if planned.agent is None or planned.experiment.name == "step-left-out":
                continue
            record = run(plan, planned.agent)
            record.experiment = planned.experiment
            planned.judge(record, tmp_path / "trials" / record.id, about)
            out[planned.experiment.name] = record.experiment
        return out

    return go


def test_a_verifier_that_counts_and_does_not_read_lets_another_text_pass(mutated):
    made = mutated(COUNTS, "1. Write the note `Leaking tap`.\n")
    assert {name: (e.expected, e.outcome) for name, e in made.items()} == {
        "request-changed": ("must-die", "survived"),
        "request-left-out": ("must-die", "killed"),
        "request-twice": ("open", "killed"),
    }
    assert made["request-changed"].did == "`text` of POST /: `Leaking tap` became `pat gnikaeL`"
    assert "the brief names `Leaking tap`" in made["request-changed"].reason


def test_what_the_brief_does_not_name_is_for_a_person_to_judge(mutated):
    made = mutated(COUNTS, "1. Write a note about the bathroom.\n")
    assert {name: e.expected for name, e in made.items()} == dict.fromkeys(made, "open")
    assert made.keys() == {"request-changed", "request-left-out", "request-twice"}

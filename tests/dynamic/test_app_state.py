"""Which of an oracle's requests are altered, and what the brief makes of each: without an app."""

import itertools
import json

import pytest

from scenlint.dynamic.experiments import Context, Wishes
from scenlint.dynamic.gate import Shown, Subject
from scenlint.dynamic.mutants.app_state import app_state
from scenlint.formats.base import TaskRef
from scenlint.harness.engine import Options
from scenlint.harness.tampering import Request
from scenlint.harness.watched import REQUESTS
from scenlint.lint.discover import format_named
from scenlint.task.policy import Policy
from scenlint.testing import base_task, records


@pytest.fixture
def planned(tmp_path):
    """Mutants of an oracle that sent some requests: planned(brief, *requests) -> experiments, and what each does."""

    count = itertools.count()

    def go(brief: str, *requests: Request):
        folder = base_task("harbor", tmp_path / f"suite-{next(count)}" / "task")
        (folder / "instruction.md").write_text(brief)
        harbor = format_named("harbor")
        task = harbor.load(TaskRef("harbor", folder), Policy())
        told = [{"method": r.method, "path": r.path, "fields": r.fields, "answer": r.answer} for r in requests]
        (tmp_path / REQUESTS).write_text("".join(json.dumps(one) + "\n" for one in told))
        (oracle,) = records([{"agent": "oracle", "reward": 1.0}])
        subject = Subject(task, "here", harbor.plan(task))
        about = Context(subject, Shown(oracle, tmp_path, False), None, None, Wishes(), Options())
        return [(p.experiment, p.agent.tampering if p.agent else None) for p in app_state(about, tmp_path)]

    return go


NOTE = Request("POST", "/rest/notes/7?x=1", (("title", "Leaking tap"), ("kind", "note"), ("due", "2024-05-01")))


def test_what_the_brief_names_must_be_noticed_and_the_rest_is_open(planned):
    made = planned("1. Write the note `Leaking tap`, due 2024-05-01.\n", NOTE)
    must = {(e.name, t.name, t.new) for e, t in made if e.expected == "must-die"}
    assert must == {
        ("request-changed", "title", "pat gnikaeL"),
        ("request-changed", "due", "2024-05-02"),
        ("request-left-out", "title", ""),
    }
    assert {(e.name, t.name) for e, t in made if e.expected == "open"} == {
        ("request-twice", "title"), ("request-changed", "kind"),
    }  # fmt: skip
    assert {t.place for _, t in made} == {"/rest/notes/N"}
    assert {e.criterion for e, t in made if t.name in ("title", "due")} == {"1"}
    assert [e.expected for e, _ in made] == ["must-die"] * 3 + ["open"] * 2


def test_a_word_that_the_brief_uses_by_chance_is_not_named_by_it(planned):
    made = planned("1. Write a note about the bathroom.\n", Request("POST", "/x", (("kind", "note"),)))
    assert {e.expected for e, _ in made} == {"open"}
    made = planned("1. Write a note of kind `note`.\n", Request("POST", "/x", (("kind", "note"),)))
    assert ("request-changed", "must-die") in {(e.name, e.expected) for e, _ in made}


def test_requests_that_sign_in_are_left_alone_and_a_deletion_is_a_step(planned):
    signs_in = [
        Request("POST", "/login", (("name", "Ann Bee"),)),
        Request("POST", "/go", (("name", "Ann Bee"), ("password", "x1"))),
    ]
    ((skipped, _),) = planned("1. Sign in as Ann Bee.\n", *signs_in)
    assert (skipped.outcome, skipped.reason) == (
        "skipped", "the oracle sent no request in HTTP that could be changed",
    )  # fmt: skip
    ((deleted, tampering),) = planned("1. Delete it.\n", Request("DELETE", "/notes/12"))
    assert (deleted.name, deleted.expected, tampering.how) == ("request-left-out", "must-die", "drop")


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", True),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", True),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", False),
        ("HTTP/1.1 200 OK\r\n\r\n{}", False),
    ],
)
def test_the_app_s_own_answer_is_given_where_all_of_it_is_there(planned, answer, kept):
    request = Request("PATCH", "/notes/1", (("title", "Leaking tap"),), [answer[:9], answer[9:]])
    drop = next(t for _, t in planned("1. Write `Leaking tap`.\n", request) if t.how == "drop")
    assert drop.answer == (answer if kept else "")

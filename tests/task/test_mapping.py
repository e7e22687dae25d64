"""Links between criteria and checks."""

import pytest

from scenlint.task.mapping import map_task, marks
from scenlint.testing import load_task


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Criterion 3: sorted", ["3"]),
        ("criteria 1, 2 and 4", ["1", "2", "4"]),
        ("Criteria 1 to 3", ["1", "2", "3"]),
        ("test_criterion_2", ["2"]),
        ("AC-1 and REQ 7", ["1", "7"]),
        ("requirement 2.1", ["2.1"]),
        ("要求3", ["3"]),
        ("ac-2, test_req_4, test_ac5", ["2", "4", "5"]),
        ("gomock.AnyOf(req1, req2, ac1)", []),
        ("exit code 3, 5 items, rule 12 %", []),
    ],
)
def test_marks_are_read_in_their_usual_forms(text, numbers):
    assert list(dict.fromkeys(marks(text))) == numbers


def test_steps_are_marks_unless_only_criteria_are_asked_for():
    assert list(marks("Step 2: post it")) == ["2"]
    assert list(marks("Step 2: post it", strict=True)) == []


BRIEF = """
Requirements:

1. `total` is the sum of all amounts.
2. The report goes to `/app/out/report.html`.
3. The greeting is "Ahoy".
"""

MARKED = """
def test_a():
    \'\'\'Criterion 1: the sum.\'\'\'
    assert open("/app/a.txt").read() == "x"


def test_b():
    \'\'\'Criterion 2: the page.\'\'\'
    assert open("/app/b.txt").read() == "y"
"""


@pytest.fixture
def mapping(harbor_task):
    """The mapping of a real task: mapping(brief, code of its tests)."""

    def make(brief, code):
        (harbor_task / "instruction.md").write_text(brief, "utf-8")
        (harbor_task / "tests/test_outputs.py").write_text(code, "utf-8")
        (harbor_task / "tests/test.sh").write_text(
            "#!/bin/bash\nif pytest /tests/test_outputs.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
        )
        return map_task(load_task(harbor_task))

    return make


def links(mapping):
    return {(k.criterion.number, k.check.id.rpartition("::")[2], k.by) for k in mapping.links}


def test_a_mark_links_whatever_the_words_are(mapping):
    code = "def test_x():\n    '''Criterion 2.'''\n    assert open('/app/z').read() == 'q'\n"
    assert ("2", "test_x", "mark") in links(mapping(BRIEF, code))


def test_shared_keys_paths_and_values_link(mapping):
    code = """
import json
from pathlib import Path


def test_a():
    assert json.loads(Path("/app/a.json").read_text())["total"] == 3


def test_b():
    assert "<p>" in Path("/app/out/report.html").read_text()


def test_c():
    assert Path("/app/c.txt").read_text() == "Ahoy"
"""
    assert {("1", "test_a", "key"), ("2", "test_b", "path"), ("3", "test_c", "value")} <= links(mapping(BRIEF, code))


def test_shared_words_link_weakly(mapping):
    code = "def test_sum_of_amounts():\n    assert open('/app/x').read() == 'q'\n"
    (link,) = [k for k in mapping(BRIEF, code).links if k.by == "words"]
    assert link.criterion.number == "1"
    assert 0 < link.strength <= 0.6


def test_what_shares_nothing_is_uncovered_and_unclaimed(mapping):
    made = mapping(BRIEF, "def test_zebra():\n    assert open('/app/stripes').read() == 'q'\n")
    assert [c.number for c in made.uncovered] == ["1", "2", "3"]
    assert made.unclaimed == made.checks != []


def test_where_the_others_are_marked_the_missing_number_is_left_out(mapping):
    assert [c.number for c in mapping(BRIEF, MARKED).left_out] == ["3"]


def test_a_comment_anywhere_in_the_verifier_is_a_mark(mapping):
    assert mapping(BRIEF, MARKED + "\n# criterion 3 is checked by the shell\n").left_out == []


def test_an_unmarked_check_that_speaks_of_it_covers_it(mapping):
    code = MARKED + "\n\ndef test_greeting():\n    assert open('/app/c.txt').read() == 'Ahoy'\n"
    assert mapping(BRIEF, code).left_out == []


def test_numbers_that_the_list_does_not_have_belong_to_something_else(mapping):
    assert mapping(BRIEF, MARKED.replace("Criterion 1", "Criterion 8")).left_out == []


def test_criteria_named_in_words_work_like_numbers(mapping):
    brief = "It must hold:\n\n- **Keys.** One per sensor.\n- **Values.** The mean.\n- **Order.** By name.\n"
    code = MARKED.replace("Criterion 1", "Criterion `Keys`").replace("Criterion 2", "Criterion `Values`")
    assert [c.text for c in mapping(brief, code).left_out] == ["**Order.** By name."]


def test_the_sound_task_is_covered_and_mapped_once(harbor_task):
    task = load_task(harbor_task)
    made = map_task(task)
    assert map_task(task) is made
    assert made.uncovered == []
    assert made.unclaimed == []
    assert made.of(made.criteria[0])[0].by == "mark"

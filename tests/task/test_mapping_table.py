"""The mapping as a table: which pairs are kept, by what evidence, and where that stands."""

import pytest

from scenlint.task.mapping.table import Table
from scenlint.testing import base_task, load_task

BRIEF = """# Report

Requirements:

1. `total` is the sum of all amounts.
2. The report goes to `/app/out/report.html`.
3. The greeting is "Ahoy".
"""


@pytest.fixture
def table(harbor_task):
    """The table of a real task: table(brief, code of its tests)."""

    def make(brief: str, code: str) -> Table:
        (harbor_task / "instruction.md").write_text(brief, "utf-8")
        (harbor_task / "tests/test_outputs.py").write_text(code, "utf-8")
        (harbor_task / "tests/test.sh").write_text(
            "#!/bin/bash\nif pytest /tests/test_outputs.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
        )
        return Table(load_task(harbor_task))

    return make


def pairs(table: Table) -> set[tuple[str, str]]:
    return {(p.criterion.id, p.check.id.rpartition("::")[2]) for p in table.pairs}


def at(span) -> str:
    return f"{span.source.path.name}:{span.line}:{span.column} {span.text}"


def test_a_check_that_names_a_criterion_answers_to_that_one_alone(table):
    made = table(BRIEF, "def test_x():\n    '''Criterion 2.'''\n    assert open('/app/greeting').read() == 'Ahoy'\n")
    assert pairs(made) == {("2", "test_x")}
    (pair,) = made.pairs
    assert (pair.marked, pair.strength) == (True, 1.0)
    assert at(pair.ties[0].at_check) == "test_outputs.py:2:8 Criterion 2"
    assert [c.id for c in made.uncovered] == ["1", "3"]


def test_evidence_says_its_kind_and_both_places(table):
    code = """import json


def test_a():
    data = json.load(open("/app/a.json"))
    assert data["total"] == 3


def test_c():
    assert open("/app/c.txt").read() == "Ahoy"
"""
    made = table(BRIEF, code)
    ties = {(p.criterion.id, t.by): (at(t.at_criterion), at(t.at_check)) for p in made.pairs for t in p.ties}
    assert ties["1", "key"] == ("instruction.md:5:5 total", "test_outputs.py:6:18 total")
    assert ties["3", "value"] == ("instruction.md:7:21 Ahoy", "test_outputs.py:10:42 Ahoy")


def test_what_a_helper_reads_is_found_where_the_helper_reads_it(table):
    code = """def page():
    return open("/app/out/report.html").read()


def test_it():
    assert "<h1>" in page()
"""
    made = table(BRIEF, code)
    (tie,) = [t for p in made.pairs for t in p.ties if t.by == "path"]
    assert at(tie.at_check).startswith("test_outputs.py:2:")


def test_what_every_check_has_in_common_does_not_decide(table):
    code = """from pathlib import Path

PAGE = Path("/app/out/report.html")


def test_report_has_the_sum_of_all_amounts():
    assert "sum" in PAGE.read_text()


def test_report_has_the_greeting():
    assert "Ahoy" in PAGE.read_text()
"""
    made = table(BRIEF, code)
    assert pairs(made) >= {("1", "test_report_has_the_sum_of_all_amounts"), ("3", "test_report_has_the_greeting")}
    assert pairs(made).isdisjoint(
        {("3", "test_report_has_the_sum_of_all_amounts"), ("1", "test_report_has_the_greeting")}
    )


def test_a_name_that_is_part_of_a_longer_one_ties_nothing(table):
    brief = '1. The endpoint "/sentiment" answers.\n2. The model lies in `/app/models/zebra`.\n'
    code = "import os\n\n\ndef test_it():\n    assert os.path.exists('/app/cache/sentiment_model')\n"
    assert {t.by for p in table(brief, code).pairs for t in p.ties} <= {"words"}


def test_the_parts_of_a_date_are_no_values(table):
    brief = "1. The log `log_a` is dated 2026-05-15.\n2. The log `log_b` is dated 2026-06-15.\n"
    code = "def test_b():\n    assert open('/app/log_b').read() == '2026-06-15'\n"
    made = table(brief, code)
    assert [t.shared for p in made.pairs for t in p.ties if t.by == "value"] == [("log_b",)]


def test_a_brief_without_a_list_is_read_by_its_sentences(table):
    brief = "The log is long. Write the number of errors to `/app/errors.txt`. Hint: use grep.\n"
    made = table(brief, "def test_errors():\n    assert open('/app/errors.txt').read() == '7'\n")
    assert [(c.kind, c.text) for c in made.criteria] == [
        ("sentence", "Write the number of errors to `/app/errors.txt`.")
    ]
    assert (made.uncovered, made.unclaimed) == ([], [])


def test_a_sentence_beside_a_list_counts_where_it_fits_a_check_better(table):
    brief = "Write the page to `/app/index.html`. It must not be empty.\n\n" + BRIEF
    code = "def test_page():\n    assert open('/app/index.html').read()\n"
    made = table(brief, code)
    assert pairs(made) == {("s1", "test_page")}
    assert [c.id for c in made.uncovered] == ["1", "2", "3"]


def test_chinese_words_tie_too(table):
    brief = "要求：\n\n1. 报告必须列出所有逾期的发票。\n2. 标题必须使用蓝色字体。\n"
    code = "def test_a():\n    '''报告列出逾期的发票'''\n    assert open('/app/a').read()\n"
    made = table(brief, code)
    assert pairs(made) == {("1", "test_a")}


def test_each_step_has_checks_of_its_own(tmp_path):
    folder = base_task("harbor", tmp_path / "product")
    (folder / "task.toml").write_text(
        (folder / "task.toml").read_text() + '\n[[steps]]\nname = "one"\n\n[[steps]]\nname = "two"\n'
    )
    for step, number in (("one", "41"), ("two", "42")):
        (folder / "steps" / step / "tests").mkdir(parents=True)
        (folder / "steps" / step / "instruction.md").write_text(f"1. Write {number} to `/app/{step}.txt`.\n")
        (folder / "steps" / step / "tests/test_it.py").write_text(
            f"def test_{step}():\n    '''Criterion 1.'''\n    assert open('/app/{step}.txt').read() == '{number}'\n"
        )
        (folder / "steps" / step / "tests/test.sh").write_text(
            "#!/bin/bash\nif pytest /tests/test_it.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
        )
    for name in ("instruction.md", "tests/test.sh", "tests/test_outputs.py"):
        (folder / name).unlink()
    made = Table(load_task(folder))
    assert [c.id for c in made.checks] == ["test_one", "test_two"]
    assert [(p.criterion.span.source.path.parent.name, p.check.id) for p in made.pairs] == [
        ("one", "test_one"),
        ("two", "test_two"),
    ]

"""What is changed in the oracle's results, and what the brief makes of each change."""

import csv
import hashlib
import io
import itertools
import json
import sqlite3
from pathlib import Path
from random import Random

import pytest

from scenlint.dynamic.mutants.choose import mutants
from scenlint.dynamic.mutants.model import Label, Mutant, Result
from scenlint.dynamic.mutants.steps import without_a_step
from scenlint.formats.base import TaskRef
from scenlint.lint.discover import format_named
from scenlint.source.text import Fragment, Source
from scenlint.task.mutation import score
from scenlint.task.policy import Policy
from scenlint.task.record import Experiment, TrialRecord
from scenlint.testing import base_task

REPORT = b'{\n  "total": 12,\n  "rate": 0.25,\n  "names": ["b", "a", "c"]\n}\n'
PRICES = b"id,price\n1,2.50\n2,3.75\n3,9.10\n"


@pytest.fixture
def task_with(tmp_path):
    """A Harbor task with another brief: task_with(brief) -> Task."""

    count = itertools.count()

    def make(brief: str):
        folder = base_task("harbor", tmp_path / "suite" / f"task-{next(count)}")
        (folder / "instruction.md").write_text(brief)
        return format_named("harbor").load(TaskRef("harbor", folder), Policy())

    return make


def of(task, path: str, content: bytes, *, new: bool = True, **options) -> dict[str, list[Mutant]]:
    """The mutants of one result, by operator."""
    out: dict[str, list[Mutant]] = {}
    for mutant in mutants(task, [Result(path, content, new)], budget=500, **options):
        out.setdefault(mutant.operator, []).append(mutant)
    return out


def test_a_named_file_must_not_be_gone_empty_or_cut_short(task_with):
    made = of(task_with("Write the totals to `/app/report.json`."), "/app/report.json", REPORT)
    for operator in ("delete-file", "empty-file", "truncate"):
        (mutant,) = made[operator]
        assert mutant.label is Label.DIE
        assert "/app/report.json" in mutant.reason
    assert made["delete-file"][0].content is None
    assert made["empty-file"][0].content == b""


def test_a_file_changed_in_place_is_put_back_instead_of_deleted(task_with):
    made = of(task_with("Sort `/app/names.txt` in place."), "/app/names.txt", b"a\nb\nc\n", new=False)
    assert "delete-file" not in made
    assert made["untouched-input"][0].label is Label.DIE


def test_what_brief_and_verifier_do_not_name_is_left_alone(task_with):
    task = task_with("Write the totals to `/app/report.json`.")
    results = [Result("/app/report.json", REPORT), Result("/app/scratch.txt", b"1\n2\n3\n")]
    assert {m.path for m in mutants(task, results)} == {"/app/report.json"}


def test_layout_of_json_is_free_unless_the_brief_speaks_of_it(task_with):
    free = of(task_with("Write the totals to `/app/report.json`."), "/app/report.json", REPORT)
    for operator in ("other-indent", "reverse-keys"):
        (mutant,) = free[operator]
        assert mutant.label is Label.LIVE
        assert json.loads(mutant.content) == json.loads(REPORT)
        assert mutant.content != REPORT
    stated = of(task_with("Write `/app/report.json`, indented by two spaces."), "/app/report.json", REPORT)
    assert stated["other-indent"][0].label is Label.OPEN


@pytest.mark.parametrize(
    ("brief", "label"),
    [
        ("Write the names to `/app/report.json`.", Label.OPEN),
        ("Write the names to `/app/report.json`, in any order.", Label.LIVE),
        ("Write the names to `/app/report.json`, sorted by length.", Label.DIE),
    ],
)
def test_order_is_what_the_brief_says(task_with, brief, label):
    (mutant,) = of(task_with(brief), "/app/report.json", REPORT)["reverse-items"]
    assert mutant.label is label
    assert json.loads(mutant.content)["names"] == ["c", "a", "b"]


def test_a_stated_tolerance_decides_about_numbers(task_with):
    task = task_with("Write the rate to `/app/rate.json`; values within a tolerance of 0.01 count as equal.")
    made = of(task, "/app/rate.json", b'{"rate": 0.5}')
    assert made["number-one-percent"][0].label is Label.LIVE  # off by 0.005
    assert made["number-plus-one"][0].label is Label.DIE
    assert "0.01" in made["number-one-percent"][0].reason


def test_a_distance_of_exactly_the_tolerance_is_for_a_person(task_with):
    task = task_with("Write the rate to `/app/rate.json`; values within a tolerance of 0.005 count as equal.")
    assert of(task, "/app/rate.json", b'{"rate": 0.5}')["number-one-percent"][0].label is Label.OPEN


def test_values_of_the_run_are_for_a_person(task_with):
    task = task_with("Write a report to `/app/report.json`.")
    made = of(task, "/app/report.json", b'{"generated_at": "2024-01-01", "elapsed": 3}')
    changed = [m for group in made.values() for m in group if "generated_at" in m.did or "elapsed:" in m.did]
    assert changed
    assert {m.label for m in changed} <= {Label.OPEN, Label.LIVE}


def test_rows_of_a_table(task_with):
    task = task_with("Write the prices to `/app/prices.csv`.")
    made = of(task, "/app/prices.csv", PRICES)
    for mutant in made["drop-row"]:
        assert len(list(csv.reader(io.StringIO(mutant.content.decode())))) == 3
        assert mutant.label is Label.DIE
    assert made["reverse-rows"][0].label is Label.OPEN
    (quoted,) = made["quote-all"]
    assert quoted.label is Label.LIVE
    assert list(csv.reader(io.StringIO(quoted.content.decode()))) == list(csv.reader(io.StringIO(PRICES.decode())))


def test_closed_columns_and_named_ones(task_with):
    task = task_with("Write `/app/prices.csv` with exactly these columns: `id` and `price`.")
    made = of(task, "/app/prices.csv", PRICES)
    assert made["rename-column"][0].label is Label.DIE
    open_ended = of(task_with("Write the list to `/app/prices.csv`."), "/app/prices.csv", PRICES)
    assert open_ended["rename-column"][0].label is Label.OPEN
    assert open_ended["add-column"][0].label is Label.OPEN


def test_form_is_not_free_where_the_file_was_there_before_or_its_digest_is_told(task_with):
    task = task_with("Sort `/app/report.json` in place, and write its digest to `/app/sum.txt`.")
    there_before = of(task, "/app/report.json", REPORT, new=False)
    assert there_before["other-indent"][0].label is Label.OPEN
    told = Result("/app/sum.txt", hashlib.sha256(REPORT).hexdigest().encode())
    made = [m for m in mutants(task, [Result("/app/report.json", REPORT), told], budget=500) if "json" in m.path]
    assert {m.label for m in made if m.operator == "reverse-keys"} == {Label.OPEN}
    assert "sum.txt" in next(m.reason for m in made if m.operator == "reverse-keys")


def test_lines_of_text(task_with):
    made = of(task_with("Write three names to `/app/names.txt`."), "/app/names.txt", b"one 1\ntwo 2\nthree 3\n")
    assert made["drop-line"][0].label is Label.DIE
    assert made["no-final-newline"][0].content == b"one 1\ntwo 2\nthree 3"
    assert made["no-final-newline"][0].label is Label.LIVE
    for mutant in made["number-plus-one"]:
        assert sum(int(line.split()[1]) for line in mutant.content.decode().splitlines()) == 7


def test_code_keeps_its_layout_around_the_change(task_with):
    text = 'def area(w, h):\n    # größer\n    if w < 0:\n        return "ü"\n    return w * h\n'
    made = of(task_with("Implement `area` in `/app/shapes.py`."), "/app/shapes.py", text.encode())
    assert {m.content.decode() for m in made["return-nothing"]} == {
        text.replace('return "ü"', "return None"),
        text.replace("return w * h", "return None"),
    }
    assert made["negate-condition"][0].content.decode() == text.replace("if w < 0", "if not (w < 0)")
    assert {m.label for m in made["boundary"] + made["constant-plus-one"]} == {Label.OPEN}
    for group in made.values():
        for mutant in group:
            if mutant.operator not in ("empty-file", "truncate", "delete-file"):
                compile(mutant.content, "shapes.py", "exec")


def test_rows_of_a_database(task_with, tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, price REAL, name TEXT)")
        connection.executemany("INSERT INTO item VALUES (?, ?, ?)", [(1, 2.5, "cup"), (2, 4.0, "pot")])
    made = of(task_with("Fill `/app/shop.db`."), "/app/shop.db", path.read_bytes())
    after = tmp_path / "after.db"
    after.write_bytes(made["drop-row"][0].content)
    with sqlite3.connect(after) as connection:
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (1,)
    after.write_bytes(made["drop-table"][0].content)
    with sqlite3.connect(after) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_the_same_seed_gives_the_same_mutants_and_another_seed_others(task_with):
    task = task_with("Write the totals to `/app/report.json`.")
    results = [Result("/app/report.json", json.dumps({f"k{n}": n for n in range(40)}).encode())]
    assert mutants(task, results, seed=1) == mutants(task, results, seed=1)
    assert mutants(task, results, seed=1) != mutants(task, results, seed=2)


def test_a_small_budget_keeps_the_crude_ones(task_with):
    task = task_with("Write the totals to `/app/report.json`.")
    chosen = mutants(task, [Result("/app/report.json", REPORT)], budget=2)
    assert {m.operator for m in chosen} == {"delete-file", "empty-file"}


def test_no_mutant_equals_the_result_or_another(task_with):
    task = task_with("Write the totals to `/app/report.json`.")
    contents = [m.content for m in mutants(task, [Result("/app/report.json", REPORT)], budget=500)]
    assert len(contents) == len(set(contents))
    assert REPORT not in contents


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"{", b"[" * 5000, b"a,b\n1", b'"', b"SQLite format 3\0junk"])
def test_odd_files_do_no_harm(task_with, content):
    task = task_with("Write `/app/out.json`, `/app/out.csv`, `/app/out.py`, `/app/out.db` and `/app/out.txt`.")
    for name in ("out.json", "out.csv", "out.py", "out.db", "out.txt"):
        assert "delete-file" in of(task, f"/app/{name}", content)


SOLUTION = """#!/bin/bash
set -e
mkdir -p /app
cat > /app/x.py <<'EOF'
print(1)
EOF
python3 /app/x.py && echo done
for f in a b; do
  touch $f
done
"""


def script(text: str, language: str) -> Fragment:
    return Fragment.of(Source(Path("solve"), text.encode()), language)


def test_each_command_that_makes_something_is_left_out_with_its_document():
    found = without_a_step(script(SOLUTION, "shell"), Random(1))
    texts = [step.text for step in found]
    assert texts == [
        SOLUTION.replace("cat > /app/x.py <<'EOF'\nprint(1)\nEOF\n", ":\n"),
        SOLUTION.replace("python3 /app/x.py && echo done\n", ":\n"),
        SOLUTION.replace("for f in a b; do\n  touch $f\ndone\n", ":\n"),
    ]
    assert found[0].did.startswith("line 4 of the solution was left out")


def test_statements_of_main_are_left_out_of_a_python_solution():
    text = "def main():\n    a = get()\n    post(a)\n    for i in a:\n        post(i)\n    print('done')\n\n\nmain()\n"
    assert [s.text for s in without_a_step(script(text, "python"), Random(1))] == [
        text.replace("    post(a)\n", "    pass\n"),
        text.replace("    for i in a:\n        post(i)\n", "    pass\n"),
    ]


@pytest.mark.parametrize("text", ["echo hi > /app/x\n", "set -e\n", "if [ x\n", ""])
def test_a_solution_of_one_step_or_none_is_left_whole(text):
    assert without_a_step(script(text, "shell"), Random(1)) == []


def record(expected: str, outcome: str) -> TrialRecord:
    made = Experiment("mutant", "drop-row", expected=expected, outcome=outcome)
    return TrialRecord("t", "task", "harbor", "mutant:drop-row#1", experiment=made)


def test_scores_count_verdicts_only():
    records = [
        *[record("must-die", "killed")] * 3, record("must-die", "survived"), record("must-live", "survived"),
        record("must-live", "killed"), record("open", "killed"), record("must-die", "skipped"),
        TrialRecord("o", "task", "harbor", "oracle", reward=1.0),
    ]  # fmt: skip
    found = score(records)
    assert (found.kill, found.tolerance, found.youden) == (0.75, 0.5, 0.25)
    assert len(found.open) == 1
    assert score([]).kill is None
    assert score([]).youden is None


# ---------------------------------------------------------------- what changes places, and what a value measures


def changed_to(made: dict[str, list[Mutant]], operator: str) -> list[str]:
    return [m.did.rpartition("became ")[2].strip('`"') for m in made[operator]]


def test_values_of_two_rows_change_places_and_so_do_rows(task_with):
    made = of(task_with("Write `/app/prices.csv`, sorted by id."), "/app/prices.csv", PRICES)
    (swapped,) = made["swap-rows"]
    assert swapped.label is Label.DIE
    assert sorted(swapped.content.splitlines()) == sorted(PRICES.splitlines())
    (mixed,) = made["swap-values"]
    assert mixed.label is Label.DIE
    before, after = (list(csv.reader(io.StringIO(c.decode()))) for c in (PRICES, mixed.content))
    assert [sorted(column) for column in zip(*before, strict=True)] == [sorted(c) for c in zip(*after, strict=True)]
    assert before != after


def test_values_of_a_document_change_places(task_with):
    found = b'{"low": 3, "high": 9, "items": [{"id": 1, "n": 2}, {"id": 2, "n": 5}, {"id": 3, "n": 7}]}'
    made = of(task_with("Write `/app/report.json`."), "/app/report.json", found)
    told = [json.loads(m.content) for m in made["swap-values"]]
    assert {"low": 9, "high": 3} in [{k: v for k, v in t.items() if k != "items"} for t in told]
    assert any(sorted(i["id"] for i in t["items"]) == [1, 2, 3] and t["low"] == 3 for t in told)
    (swapped,) = made["swap-items"]
    assert swapped.label is Label.OPEN  # the brief says nothing of the order
    assert len(json.loads(swapped.content)["items"]) == 3


def test_lines_change_places_and_one_stands_there_twice(task_with):
    made = of(task_with("Write `/app/names.txt`, in any order."), "/app/names.txt", b"b\na\nc\n")
    (swapped,) = made["swap-lines"]
    assert swapped.label is Label.LIVE
    assert sorted(swapped.content.split()) == [b"a", b"b", b"c"]
    (twice,) = made["duplicate-line"]
    assert (twice.label, len(twice.content.split())) == (Label.DIE, 4)
    settings = of(task_with("Write `/app/a.ini`."), "/app/a.ini", b"[x]\nb = 1\na = 2\n")
    assert {settings[o][0].label for o in ("swap-lines", "reverse-lines", "duplicate-line")} == {Label.OPEN}


def test_a_date_and_a_time_become_others_and_the_same_moment_elsewhere_is_open(task_with):
    task = task_with("Write `/app/due.json` with `due` and `at`.")
    made = of(task, "/app/due.json", b'{"due": "2024-02-28", "at": "2024-12-31T23:30:00+01:00"}')
    assert sorted(changed_to(made, "date-plus-day")) == ["2024-02-29", "2025-01-01T23:30:00+01:00"]
    assert changed_to(made, "time-plus-hour") == ["2025-01-01T00:30:00+01:00"]
    assert changed_to(made, "other-zone") == ["2025-01-01T01:30:00+03:00"]
    assert made["other-zone"][0].label is Label.OPEN
    assert {m.label for o in ("date-plus-day", "time-plus-hour") for m in made[o]} == {Label.DIE}
    log = of(task_with("Write `/app/x.json`."), "/app/x.json", b'{"created": "2024-02-28", "version": "1.2024-02-28"}')
    assert {m.label for m in log["date-plus-day"]} == {Label.OPEN}  # of the run
    assert changed_to(log, "date-plus-day") == ["2024-02-29"]


def test_a_unit_becomes_another_in_words_and_in_a_number_whose_key_names_it(task_with):
    task = task_with("Write `/app/sizes.csv`.")
    made = of(task, "/app/sizes.csv", b"name,weight,size_kb\nx,5 kg,20\n")
    assert sorted(changed_to(made, "other-unit")) == ["20000", "5 g"]
    assert {m.label for m in made["other-unit"]} == {Label.DIE}
    none = of(task, "/app/sizes.csv", b"name,weight,s\nx,5 people,20\n")
    assert "other-unit" not in none


def test_yaml_is_changed_as_json_is(task_with):
    found = b"# made by us\nname: a\nports: [80, 443]\nsince: 2024-02-28\n"
    made = of(task_with("Write `/app/a.yaml` with `name`, `ports` and `since`."), "/app/a.yaml", found)
    assert {"drop-key", "rename-key", "drop-item", "date-plus-day", "number-as-text"} <= made.keys()
    assert made["reverse-keys"][0].label is Label.LIVE
    for several in made.values():
        assert all(m.content is None or b"!!" not in m.content for m in several)
    assert "drop-key" not in of(task_with("Write `/app/a.yaml`."), "/app/a.yaml", b"a: 1\n---\nb: 2\n")
    assert "drop-key" not in of(task_with("Write `/app/a.yaml`."), "/app/a.yaml", b"1: a\n2: b\n")


def test_rows_of_a_database_change_places_and_one_stands_there_twice(task_with, tmp_path):
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.executescript(
        "create table item (name text, price real); insert into item values ('a', 1.5), ('b', 2.5)"
    )
    connection.close()
    made = of(task_with("Fill `/app/shop.db`."), "/app/shop.db", (tmp_path / "shop.db").read_bytes())

    def rows(mutant: Mutant) -> list[tuple[str, float]]:
        (tmp_path / "other.db").write_bytes(mutant.content)
        opened = sqlite3.connect(tmp_path / "other.db")
        try:
            return opened.execute("select name, price from item").fetchall()
        finally:
            opened.close()

    assert sorted(rows(made["swap-values"][0])) == [("a", 2.5), ("b", 1.5)]
    assert len(rows(made["duplicate-row"][0])) == 3


STATED = "Write `/app/f.py`: rows whose age is greater than 30; print their number."
FILTER = b"def main(rows):\n    kept = [r for r in rows if r['age'] > 30]\n    print(len(kept))\n    return kept[:3]\n"


def test_a_threshold_of_the_brief_must_hold_at_its_boundary_and_what_is_to_be_printed_must_be(task_with):
    made = of(task_with(STATED), "/app/f.py", FILTER)
    assert [(m.label, m.did) for m in made["boundary"]] == [
        (Label.DIE, "line 2: `r['age'] > 30` became `r['age'] >= 30`")
    ]
    assert {m.did.partition(": ")[2]: m.label for m in made["constant-plus-one"]} == {
        "`30` became `31`": Label.DIE, "`3` became `4`": Label.OPEN,
    }  # fmt: skip
    assert "greater than 30" in made["boundary"][0].reason
    assert [m.did for m in made["drop-statement"]] == ["line 3: `print(len(kept))` became `pass`"]
    silent = of(task_with("Write `/app/f.py`, for 30 rows or 300."), "/app/f.py", FILTER)
    assert {m.label for m in silent["boundary"] + silent["constant-plus-one"]} == {Label.OPEN}
    assert "drop-statement" not in silent

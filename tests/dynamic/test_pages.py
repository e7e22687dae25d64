"""Every experiment can be explained, by its name and as the ledger has it."""

import json
import sqlite3
from pathlib import Path

import pytest

from scenlint.dynamic import pages
from scenlint.dynamic.dead import maker as dead
from scenlint.dynamic.mutants.choose import mutants
from scenlint.dynamic.mutants.model import Result
from scenlint.lint.registry import load_rules
from scenlint.task import worlds
from scenlint.testing import base_task, load_task

PROGRAM = """import sys
LIMIT = 5


def f(x):
    seen = []
    seen.append(x)
    if x < LIMIT:
        return x
    return 0
"""
VALUES = {
    "n": 12, "r": 0.123456789, "text": "Abc Def", "ok": True, "list": [{"a": 1, "b": 2}, {"a": 3, "b": 4}],
    "size": "12 KB", "at": "2026-03-01T10:00:00Z", "names": ["b", "a", "é"],
}  # fmt: skip


def database(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), (2, "y")])
    return path.read_bytes()


def test_every_mutant_of_every_kind_of_file_has_a_page(tmp_path):
    results = {
        "values.json": json.dumps(VALUES, indent=1).encode(),
        "table.csv": b"id,name,price\n1,Ab,2.5\n2,Cd,3.25\n3,Ef,4.5\n",
        "lines.txt": b"one 1\ntwo 2.5\nthree 3\nfour 4\n",
        "program.py": PROGRAM.encode(),
        "data.db": database(tmp_path / "data.db"),
    }
    task = load_task(base_task("harbor", tmp_path / "task"))
    made = {m.operator for n, c in results.items() for m in mutants(task, [Result(f"/app/{n}", c)], budget=1000)}
    made |= {m.operator for m in mutants(task, [Result("/app/lines.txt", b"b\na", new=False)], budget=1000)}
    assert len(made) > 40
    assert made | {"step-left-out"} <= {*pages.names("mutants")}


def test_every_world_and_environment_has_a_page():
    known = {*worlds.REPEATED, *worlds.CLOCKS, worlds.CONTROL, *worlds.ZONES, *worlds.ORDERS}
    assert known <= {*pages.names("worlds")}
    assert {*dead.MODES} == {*pages.names("environments")}


@pytest.mark.parametrize(
    ("name", "title", "told"),
    [
        ("drop-row", "drop-row", "one is left out"),
        ("mutant:drop-row#3", "drop-row", "one is left out"),
        ("world:hash-seed#0", "hash-seed", "`PYTHONHASHSEED` at grading"),
        ("probe:garbage#text@second", "garbage", "reported as passes-empty-output"),
        ("mutants", "mutants", "experiments of `scenlint validate --deep`"),
        ("world", "worlds", "experiments of"),
    ],
)
def test_a_name_is_taken_as_it_is_and_as_the_ledger_has_it(name, title, told):
    first, _, second, *_ = pages.page_of(name).splitlines()
    assert first == f"# {title}"
    assert told in second


def test_a_name_of_another_kind_is_no_page():
    assert pages.page_of("world:drop-row") == pages.page_of("probe:offline") == pages.page_of("nothing") == ""


def test_no_experiment_is_called_like_a_rule():
    assert not {r.name for r in load_rules().rules} & {*pages.every()}
    assert len(pages.every()) == len({*pages.every()})


def test_every_page_of_the_book_is_one_of_a_kind():
    assert {p.stem for p in (Path(__file__).parents[2] / "rules/experiments").glob("*.md")} == {*pages.KINDS}

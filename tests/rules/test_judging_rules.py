"""Rules about what a comparison lets pass and what it turns down, in more shapes than their pages show."""
# ruff: noqa: E501 (a verifier on one line is easier to compare with its neighbours)

import pytest

from scenlint.testing import base_task, lint

SHELL = """#!/bin/bash
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
{}
"""
IMPORTS = """import csv
import json
import math
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path
"""


@pytest.fixture
def found(tmp_path):
    """The lines below the imports (or in test.sh) where a rule speaks, for a brief and a verifier."""

    def make(rule: str, brief: str, code: str = "", shell: str = "", **files: str) -> list[int]:
        root = base_task("harbor", tmp_path / "task")
        (root / "instruction.md").write_text(f"# Task\n\n{brief}\n")
        if code:
            (root / "tests/test_outputs.py").write_text(IMPORTS + code)
        if shell:
            (root / "tests/test.sh").write_text(SHELL.format(shell))
        for name, text in files.items():
            (root / "tests" / name.replace("__", ".")).write_text(text)
        first = 0 if shell else len(IMPORTS.splitlines())
        return [f.location.line - (first if f.location.path.suffix == ".py" else 0) for f in lint(root, rule)]

    return make


def case(body: str) -> str:
    """A unittest of a few statements, from line 3 on."""
    lines = "\n".join("        " + line for line in body.splitlines())
    return f"class TestIt(unittest.TestCase):\n    def test_it(self):\n{lines}\n\n\nunittest.main()\n"


JSON = 'got = json.loads(Path("/app/out.json").read_text())\n'
TEXT = 'text = Path("/app/out.txt").read_text()\n'

# rule -> shapes: (brief, code, lines)
SHAPES = {
    "exact-float": [
        ("Write the shares to `/app/out.json`.", JSON + 'if got["share"] != 0.142857142857:\n    sys.exit(1)', [2]),
        ("Write the shares to `/app/out.json`.", JSON + 'assert got == {"share": 0.142857142857, "n": 7}', [2]),
        ("Write the share to `/app/out.txt`.", TEXT + 'assert text.strip() == "0.142857142857"', [2]),
        ("Write the mean to `/app/out.json`; the value has to be right within 0.01.", JSON + 'assert got["mean"] == 21.4', [2]),
        ("Write the nearest two to `/app/out.json`.", 'case = ("[0.1, 0.3, 0.30000001], 2", [0.3, 0.30000001])\n' + JSON + "assert got == case[1]", []),
        ("Write the mean to `/app/out.json`.", JSON + 'assert got["mean"] == 21.4', []),
        ("Write the shares to `/app/out.json`, with 6 decimal places.", JSON + 'assert got["share"] == 0.142857', []),
        ("Copy the rate 0.142857142857 to `/app/out.json`.", JSON + 'assert got["rate"] == 0.142857142857', []),
        ("Write the shares to `/app/out.json`.", JSON + 'assert f"{got[\'share\']:.4f}" == "0.1429"', []),
        ("Write the shares to `/app/out.json`.", JSON + 'assert got["share"] != 0.142857142857 or got["n"] == 1', []),
    ],
    "hair-thin-tolerance": [
        ("Write the mean to `/app/out.json`. Values may have an error of up to 1e-3.", JSON + 'if abs(got["mean"] - 3.14159) > 1e-6:\n    sys.exit(1)', [2]),
        ("Write the mean to `/app/out.json`.", JSON + 'assert math.isclose(got["mean"], 3.1415926, rel_tol=1e-12)', [2]),
        ("Write the mean to `/app/out.json`.", JSON + 'assert math.isclose(got["mean"], 3.1415926, rel_tol=1e-6)', []),
        ("Write the mean to `/app/out.json`. The tolerance for `spread` is 0.1.", JSON + 'assert abs(got["mean"] - 3.14159) < 1e-4', []),
        ("The step is 0.0001. Write it to `/app/out.json` with the mean, rounded to 3 decimal places.", JSON + 'assert abs(got["step"] - 0.0001) < 1e-7', []),
        ("Write the mean to `/app/out.json`, right within 5 %.", JSON + 'assert abs(got["mean"] - 3.14159) < 1e-4', []),
    ],
    "relative-tolerance-at-zero": [
        ("Write `/app/out.json`.", JSON + 'assert math.isclose(got["drift"], 0, rel_tol=1e-6)', [2]),
        ("Write `/app/out.json`.", JSON + 'if abs(got["drift"] - 0.0) > 0.05 * 0.0:\n    sys.exit(1)', [2]),
        ("Write `/app/out.json`.", JSON + 'assert math.isclose(got["drift"], 0.5, rel_tol=1e-6)', []),
        ("Write `/app/out.json`.", JSON + 'assert abs(got["drift"] - 0.0) < 1e-6', []),
    ],
    "over-strict-equality": [
        ("Write the name to `/app/out.txt`. Letter case does not matter in the output.", TEXT + 'assert text.strip() == "Wren"', [2]),
        ("Write the name to `/app/out.txt`. Letter case does not matter in the output.", TEXT + 'assert text.strip().lower() == "wren"', []),
        ("Write the name to `/app/out.txt`. A trailing newline is optional.", TEXT + 'assert text == "wren"', [2]),
        ("Write the name to `/app/out.txt`. A trailing newline is optional.", TEXT + 'assert text.rstrip() == "wren"', []),
        ("Write the names to `/app/out.json`.", 'import hashlib\nassert hashlib.sha256(Path("/app/out.json").read_bytes()).hexdigest() == "' + "ab" * 32 + '"', [2]),
        ("Write the names to `/app/out.json`.", JSON + 'assert got == {"a": 1, "b": 2}', []),
        ("Further keys of the input are allowed. Write `/app/out.txt`.", TEXT + 'assert text.strip() == "x"', []),
    ],
    "unstated-order": [
        ("Write the names to `/app/out.txt`, one per line, in any order.", TEXT + 'assert text.splitlines() == ["wren", "ada", "moss"]', [2]),
        ("Write the names to `/app/out.txt`, one per line, in any order.", TEXT + 'assert set(text.splitlines()) == {"wren", "ada", "moss"}', []),
        ("Write the names to `/app/out.txt`, one per line, in any order.", TEXT + 'names = text.splitlines()\nnames.sort()\nassert names == ["ada", "moss", "wren"]', []),
        ("The queries come in any order. Write the names to `/app/out.txt`.", TEXT + 'assert text.splitlines() == ["wren", "ada", "moss"]', []),
        ("Write `/app/out.json` with the key `names`: those who left.", JSON + 'assert got["names"] == ["ada", "moss", "wren"]', []),
    ],
    "forbidden-tested-as-required": [
        ("Write `/app/out.txt`.", TEXT + 'RULES = [("must", "total"), ("must_not", "draft")]\nassert all(word in text for kind, word in RULES)', [2]),
        ("Write `/app/out.txt`.", TEXT + 'RULES = [("must", "total"), ("must_not", "draft")]\nassert all((word in text) is (kind == "must") for kind, word in RULES)', []),
        ("Write `/app/out.txt`.", TEXT + 'RULES = {"must": ["total"], "must_not": ["draft"]}\nfor words in RULES.values():\n    for word in words:\n        assert word in text', [2]),
        ("Write `/app/out.txt`.", TEXT + 'RULES = {"must": ["total"], "must_not": ["draft"]}\nfor word in RULES["must"]:\n    assert word in text\nfor word in RULES["must_not"]:\n    assert word not in text', []),
        ("Write `/app/out.txt`.", TEXT + 'RULES = [{"word": "total", "present": True}, {"word": "draft", "present": False}]\nassert sum(r["word"] in text for r in RULES) == 2', [2]),
        ("The text in `/app/out.txt` must contain the word `total`.", TEXT + 'if "total" in text:\n    sys.exit(1)', [2]),
        ("The text in `/app/out.txt` must contain the word `total`.", TEXT + 'if "total" not in text:\n    sys.exit(1)', []),
        ("Letters must not contain `total`. The report must contain `total`. Write both to `/app/out.txt`.", TEXT + 'assert "total" in text', []),
    ],
    "unreachable-threshold": [
        ("Write `/app/out.json`.", JSON + 'WANT = ["a", "b", "c"]\nhits = 0\nfor name in WANT:\n    if name in got:\n        hits += 1\nassert hits >= 5', [7]),
        ("Write `/app/out.json`.", JSON + 'WANT = {"a": 1, "b": 2}\nhits = [k for k, v in WANT.items() if got.get(k) == v]\nif len(hits) < 3:\n    sys.exit(1)', [4]),
        ("Write `/app/out.json`.", JSON + 'WANT = {"a": 1, "b": 2}\nassert sum(1 for k in WANT if k in got) / len(WANT) > 1.0', [3]),
        ("Write `/app/out.json`.", JSON + 'WANT = ["a", "b", "c"]\nWANT.append("d")\nassert sum(n in got for n in WANT) >= 4', []),
        ("Write `/app/out.json`.", JSON + 'assert len(got) >= 50', []),
        ("Write `/app/out.json`.", JSON + 'points = 0\nwhile got:\n    points += 10\n    got.pop()\nassert points >= 30', []),
        ("Write `/app/out.json`.", JSON + 'WANT = json.loads(Path("/tests/want.json").read_text())\nassert sum(1 for n in WANT if n in got) >= 3', [3]),
    ],
    "keyword-check": [
        ("Was it the disk or the network? Write it to `/app/out.txt`.", TEXT + 'assert re.search("network", text)', [2]),
        ("Was it the disk or the network? Write it to `/app/out.txt`.", TEXT + 'assert any(word in text for word in ("network", "disk"))', [2]),
        ("Was it the disk or the network? Write it to `/app/out.txt`.", TEXT + 'assert "network" in text\nassert "disk" not in text', []),
        ("Was it the disk or the network? Write it to `/app/out.txt`.", TEXT + 'assert "network" in text\nassert len(text.split()) == 1', []),
        ("Write `/app/out.conf` with port 8080.", 'text = Path("/app/out.conf").read_text()\nassert "port" in text', []),
        ("Find the password. Write it to `/app/out.txt`.", TEXT + 'assert "quince-07" in text', []),
    ],
    "trusts-agent-report": [
        ("Deploy `/srv/shop`. Log every command to `/app/out.txt`.", TEXT + 'assert "deploy --prod" in text', [1]),
        ("Repair `/srv/shop`. Save the output of the tests to `/app/out.txt`.", TEXT + 'assert "12 passed" in text', [1]),
        ("Repair `/srv/shop`; `/app/out.json` gets `status` and `build_successful`.", JSON + 'if not got["build_successful"] == True:\n    sys.exit(1)', [2]),
        ("Repair `/srv/shop`; `/app/out.json` gets `build_successful`.", JSON + 'assert got["build_successful"] is True\nassert Path("/srv/shop/main").read_bytes()[:4] == b"x"', []),
        ("Repair `/srv/shop`; `/app/out.json` gets `build_successful`.", JSON + 'assert got["build_successful"] is True\nassert Path("/srv/shop/main").exists()', []),
        ("Count what passed; `/app/out.json` gets `passed`.", JSON + 'assert got["passed"] == 17', []),
        ("Which orders are complete? `/app/out.json` gets `a_completed` and `b_completed`.", JSON + 'assert got["a_completed"] is True\nassert got["b_completed"] is False', [2]),
    ],
    "nan-equality": [
        ("Write `/app/out.txt`.", TEXT + 'value = float(text)\nif abs(value - 4.5) > 0.01:\n    sys.exit(1)', [3]),
        ("Write `/app/out.json`.", JSON + 'if got["score"] < 0.9:\n    sys.exit(1)', [2]),
        ("Write `/app/out.json`.", JSON + 'assert not abs(got["mean"] - 4.5) > 0.01', [2]),
        ("Write `/app/out.json`.", JSON + 'if not abs(got["mean"] - 4.5) <= 0.01:\n    sys.exit(1)', []),
        ("Write `/app/out.txt`.", TEXT + 'value = int(text)\nif abs(value - 4) > 0.5:\n    sys.exit(1)', []),
        ("Write `/app/out.json`.", JSON + 'if math.isnan(got["mean"]) or abs(got["mean"] - 4.5) > 0.01:\n    sys.exit(1)', []),
    ],
    "superset-accepted": [
        ("Write `/app/out.json` with exactly the keys `a` and `b`.", JSON + 'WANT = {"a": 1, "b": 2}\nassert all(got.get(k) == v for k, v in WANT.items())', [3]),
        ("Write `/app/out.json` with the keys `a` and `b` and no other keys.", JSON + 'assert got["a"] == 1 and got["b"] == 2', [2]),
        ("Write `/app/out.json` with exactly the keys `a` and `b`.", JSON + 'assert got == {"a": 1, "b": 2}', []),
        ("Write `/app/out.json` with exactly the keys `a` and `b`.", JSON + 'assert len(got) == 2\nassert got["a"] == 1', []),
        ("Write `/app/out.json` with exactly the keys `a` and `b`.", JSON + 'assert sorted(got) == ["a", "b"]\nassert got["a"] == 1', []),
        ("Write `/app/out.json` with the keys `a` and `b`.", JSON + 'assert got["a"] == 1', []),
        ("`/app/solve.py` takes exactly two fields.", 'assert "def" in Path("/app/solve.py").read_text()', []),
    ],
    "source-text-check": [
        ("Write `/app/solve.js`.", 'code = Path("/app/solve.js").read_text()\nif not re.search(r"function\\s+solve", code):\n    sys.exit(1)', [2]),
        ("Write `/app/notes.txt`.", 'assert "def solve" in Path("/app/notes.txt").read_text()', []),
        ("Write `/app/solve.js`.", 'code = Path("/app/solve.js").read_text()\nassert "solve" in code\nassert subprocess.run(["node", "/app/solve.js"], capture_output=True, text=True, timeout=9).stdout == "42"', []),
    ],
    "vacuous-loop": [
        ("Write `/app/out.json`.", JSON + 'for row in got:\n    assert row["total"] > 0', [2]),
        ("Write `/app/out.json`.", JSON + 'assert all(row["total"] > 0 for row in got)', [2]),
        ("Write `/app/out.json`.", JSON + 'bad = [row for row in got if row["total"] < 0]\nassert not bad', [2]),
        ("Write `/app/out.json`.", JSON + 'wrong = 0\nfor row in got:\n    if row["total"] < 0:\n        wrong += 1\nsys.exit(1 if wrong else 0)', [3]),
        ("Write `/app/out.json`.", 'def main():\n    got = json.loads(Path("/app/out.json").read_text())\n    if not isinstance(got, list):\n        return 1\n    for row in got:\n        if row["total"] < 0:\n            return 1\n    return 0\n\n\nsys.exit(main())', [5]),
        ("Leave no file in `/app/out`.", 'for path in Path("/app/out").glob("*.json"):\n    assert False, path', []),
        ("Leave no file in `/app/out`.", 'for path in Path("/app/out").glob("*.json"):\n    raise AssertionError(path)', []),
        ("Write files to `/app/out`.", 'for path in Path("/app/out").glob("*.json"):\n    assert json.loads(path.read_text())["total"] > 0', [1]),
        ("Write `/app/out.json`.", JSON + 'assert got\nfor row in got:\n    assert row["total"] > 0', []),
        ("Write `/app/out.json`.", JSON + 'for name in ("a", "b"):\n    assert got[name]["total"] > 0', []),
        ("Write `/app/out.txt`.", TEXT + 'for line in text.split("\\n"):\n    assert line.startswith("ok")', []),
        ("Write `/app/out.json`.", JSON + 'assert len(got) == 3\nassert all(row["total"] > 0 for row in got)', []),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "brief", "code", "lines"), [(rule, *shape) for rule, shapes in SHAPES.items() for shape in shapes]
)
def test_shape(rule, brief, code, lines, found):
    assert found(rule, brief, code + "\n", want__json='["a", "b"]') == lines


SHELL_SHAPES = [
    ("keyword-check", "Was it the disk or the network? Write it to `/app/out.txt`.", "grep -q network /app/out.txt && echo 1 > /logs/verifier/reward.txt", [4]),
    ("keyword-check", "Was it the disk or the network? Write it to `/app/out.txt`.", "grep -qx network /app/out.txt && echo 1 > /logs/verifier/reward.txt", []),
    ("keyword-check", "Was it the disk or the network? Write it to `/app/out.txt`.", "if grep -q disk /app/out.txt; then echo fail; exit 1; fi\ngrep -q network /app/out.txt && echo 1 > /logs/verifier/reward.txt", []),
    ("source-text-check", "Write `/app/solve.py`.", "if grep -q 'def solve' /app/solve.py; then echo 1 > /logs/verifier/reward.txt; fi", [4]),
    ("exact-float", "Write the share to `/app/out.txt`.", 'if [ "$(cat /app/out.txt)" = "0.142857142857" ]; then echo 1 > /logs/verifier/reward.txt; fi', [4]),
    ("forbidden-tested-as-required", "The text in `/app/out.txt` must not contain the word `draft`.", "grep -q total /app/out.txt && echo 1 > /logs/verifier/reward.txt", []),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "brief", "script", "lines"), SHELL_SHAPES)
def test_shape_in_shell(rule, brief, script, lines, found):
    assert found(rule, brief, shell=script) == lines


TIMES = [
    ('start = time.time()\nsubprocess.run(["/app/x"], timeout=9)\nif time.time() - start > 2:\n    sys.exit("slow")', "Write `/app/x`.", [3]),
    ('def took():\n    start = time.perf_counter_ns()\n    subprocess.run(["/app/x"], timeout=9)\n    return time.perf_counter_ns() - start\n\n\nassert took() < 3_000_000_000', "Write `/app/x`.", [7]),
    ('start = time.time()\nsubprocess.run(["/app/x"], timeout=99)\ntook = time.time() - start\nassert took < 20', "`/app/x` ends within 20 seconds.", [4]),
    ('start = time.time()\nsubprocess.run(["/app/x"], timeout=99)\ntook = time.time() - start\nassert took < 20', "Write `/app/x`.", []),
    ('start = time.time()\nsubprocess.run(["/app/x"], timeout=99)\nassert time.time() - start >= 1', "Write `/app/x`.", []),
    ('limit = 2\nstart = time.time()\nfor _ in range(50):\n    if time.time() - start > limit:\n        sys.exit("not up")\n    time.sleep(0.1)', "Write `/app/x`.", []),
]  # fmt: skip


@pytest.mark.parametrize(("code", "brief", "lines"), TIMES)
def test_timing_assertion(code, brief, lines, found):
    assert found("timing-assertion", brief, code + "\n") == lines


SKIPS = [
    ('if not Path("/app/out.json").exists():\n    self.skipTest("none")\nself.assertEqual(json.loads(Path("/app/out.json").read_text())["a"], 1)', [4]),
    ('try:\n    got = json.loads(Path("/app/out.json").read_text())\nexcept OSError:\n    raise unittest.SkipTest("none")\nself.assertEqual(got["a"], 1)', [6]),
    ('got = json.loads(Path("/app/out.json").read_text())\nif "a" not in got:\n    self.skipTest("no a")\nself.assertEqual(got["a"], 1)', [5]),
    ('if sys.platform == "darwin":\n    self.skipTest("no")\nself.assertEqual(json.loads(Path("/app/out.json").read_text())["a"], 1)', []),
    ('if not Path("/app/factors.txt").exists():\n    self.skipTest("no input")\nself.assertEqual(json.loads(Path("/app/out.json").read_text())["a"], 1)', []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "lines"), SKIPS)
def test_skipped_test(body, lines, found):
    assert found("skipped-test", "Write `/app/out.json` with `a`.", case(body)) == lines


def test_a_table_in_yaml_whose_mark_nobody_reads(found):
    table = "- {type: required, text: total}\n- {type: forbidden, text: draft}\n"
    code = (
        TEXT
        + 'import yaml\nfor row in yaml.safe_load(Path("/tests/rows.yaml").read_text()):\n    assert row["text"] in text\n'
    )
    assert found("forbidden-tested-as-required", "Write `/app/out.txt`.", code, rows__yaml=table) == [2]


def test_a_vacuous_loop_is_covered_by_a_test_that_counts(found):
    code = """class TestRows(unittest.TestCase):
    def test_each(self):
        for row in json.loads(Path("/app/out.json").read_text()):
            self.assertGreater(row["total"], 0)

    def test_count(self):
        self.assertEqual(len(json.loads(Path("/app/out.json").read_text())), 3)


unittest.main()
"""
    assert found("vacuous-loop", "Write `/app/out.json`.", code) == []


def test_the_threshold_counts_the_lines_of_a_shipped_file(found):
    code = (
        'rows = Path("/app/factors.txt").read_text().splitlines()\n'
        + JSON
        + "assert sum(1 for r in rows if r in got) >= 50\n"
    )
    assert found("unreachable-threshold", "Write `/app/out.json`.", code) == [3]

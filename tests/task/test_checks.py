"""What a verifier's checks read, compare and depend on, in every dialect that states checks."""
# ruff: noqa: E501 (a verifier on one line is easier to compare with its neighbours)

import json
from pathlib import Path

import pytest

from scenlint.task.checks import Check, Dialect, How
from scenlint.testing import base_task, load_task

RUN_PYTEST = "#!/bin/bash\npytest /tests/test_outputs.py\n[ $? -eq 0 ] && echo 1 > /logs/verifier/reward.txt\n"


@pytest.fixture
def harbor(tmp_path):
    """The checks of a Harbor task whose tests are the given code."""

    def make(code: str, script: str = RUN_PYTEST, brief: str = "Write `/app/product.py`.", **files: str) -> list[Check]:
        root = base_task("harbor", tmp_path / "product")
        (root / "instruction.md").write_text(brief)
        (root / "tests/test_outputs.py").write_text(code)
        (root / "tests/test.sh").write_text(script)
        for name, text in files.items():
            (root / "tests" / name.replace("__", ".")).write_text(text)
        return load_task(root).checks

    return make


@pytest.fixture
def points(tmp_path):
    """The checks of a SaaS-Bench task whose verify.py is the given code."""

    def make(code: str) -> list[Check]:
        root = base_task("saas-bench", tmp_path / "suite") / "tasks/uni-m/Teamwork/teamwork_001"
        (root / "verify.py").write_text(code)
        return load_task(root).checks

    return make


def paths(check: Check, how: How | None = None) -> list[str]:
    return [a.path for a in check.accesses if how in (None, a.how)]


def compared(check: Check) -> list[tuple[str, object]]:
    return [(c.operator, c.constant) for c in check.comparisons if c.produced]


# ---------------------------------------------------------------- tests


def test_each_collected_test_is_a_check_with_its_docstring_and_place(harbor):
    first, second = harbor(
        'def test_a():\n    """Criterion 3: it is right."""\n    assert open("/app/a").read() == "x"\n\n'
        'class TestB:\n    def test_b(self):\n        assert open("/app/b").read()\n'
    )
    assert (first.id, first.label, first.criteria, first.span.line) == ("test_a", "Criterion 3: it is right.", ["3"], 1)
    assert (second.id, second.dialect) == ("TestB::test_b", Dialect.TEST)
    assert paths(first) == ["/app/a"]
    assert compared(first) == [("==", "x")]


PATHS = {
    "constant": ("A = '/app/out.json'\ndef test_a():\n    assert open(A).read() == ''\n", ["/app/out.json"]),
    "pathlib": ("from pathlib import Path\nD = Path('/app') / 'x'\ndef test_a():\n    assert (D / 'a.txt').read_text() == ''\n", ["/app/x/a.txt"]),
    "os.path": ("import os\ndef test_a():\n    assert open(os.path.join('/app', 'x', '..', 'a')).read() == ''\n", ["/app/a"]),
    "loop": ("def test_a():\n    for n in ['a', 'b']:\n        assert open(f'/app/{n}.txt').read() == ''\n", ["/app/a.txt", "/app/b.txt"]),
    "dict": ("F = {'a': '/app/1', 'b': '/app/2'}\ndef test_a():\n    for k, p in F.items():\n        assert open(p).read() == k\n", ["/app/1", "/app/2"]),
    "enumerate and zip": ("def test_a():\n    for i, (n, w) in enumerate(zip('ab', (1, 2))):\n        assert open('/app/%s%d' % (n, w)).read() == ''\n", ["/app/a1", "/app/b2"]),
    "format": ("def test_a():\n    assert open('/app/{}.{ext}'.format('a', ext='csv')).read() == ''\n", ["/app/a.csv"]),
    "environment": ("import os\nD = os.environ.get('OUT', '/app/out')\ndef test_a():\n    assert open(D + '/a').read() == ''\n", ["/app/out/a"]),
    "helper": ("def read(name, folder='/app'):\n    return open(f'{folder}/{name}').read()\ndef test_a():\n    assert read('a') == ''\n", ["/app/a"]),
    "own module": ("from shared import OUT\ndef test_a():\n    assert open(OUT / 'a').read() == ''\n", ["/srv/out/a"]),
    "fixture": ("import pytest\n@pytest.fixture\ndef text():\n    yield open('/app/a').read()\ndef test_a(text):\n    assert text == 'x'\n", ["/app/a"]),
    "setUp": ("import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.t = open('/app/a').read()\n    def test_a(self):\n        self.assertEqual(self.t, 'x')\n", ["/app/a"]),
    "parametrize": ("import pytest\n@pytest.mark.parametrize('n, w', [('a', 1), ('b', 2)])\ndef test_a(n, w):\n    assert open('/app/' + n).read() == w\n", ["/app/a", "/app/b"]),
    "library": ("import numpy as np\ndef test_a():\n    assert np.load('/app/a.npy').sum() == 1\n", ["/app/a.npy"]),
    "glob": ("from pathlib import Path\ndef test_a():\n    assert [p.read_text() for p in Path('/app').glob('*.md')] == ['x']\n", ["/app", "/app/*.md"]),
    "unknown part": ("import glob\nN = open('/app/name').read()\ndef test_a():\n    assert open(f'/app/{N}.txt').read() == ''\n", ["/app/name", "/app/*.txt"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "wanted"), PATHS.values(), ids=PATHS)
def test_a_path_is_resolved_through(harbor, code, wanted):
    checks = harbor(code, shared__py="from pathlib import Path\nOUT = Path('/srv') / 'out'\n")
    assert [p for c in checks for p in paths(c)] == wanted


def test_the_verifiers_own_temporary_and_verdict_files_are_left_out(harbor):
    (check,) = harbor(
        "import json, os, shutil, tempfile\nfrom pathlib import Path\nHERE = Path(__file__).parent\n"
        "def test_a(tmp_path):\n"
        "    want = json.loads((HERE / 'want.json').read_text())\n"
        "    with tempfile.TemporaryDirectory() as box:\n"
        "        copy = shutil.copy('/app/a', box)\n"
        "        assert open(copy).read() == want['text']\n"
        "    (tmp_path / 'log').write_text('x')\n"
        "    Path('/app/probe.txt').write_text('x')\n"
        "    assert os.path.exists('/app/probe.txt')\n"
        "    Path('/logs/verifier/note.txt').write_text('x')\n"
    )
    assert [(a.path, a.how) for a in check.accesses] == [("/app/a", How.READ), ("/app/probe.txt", How.WRITE)]
    assert check.keys == []


def test_keys_are_those_of_the_agents_data_with_their_file(harbor):
    (check,) = harbor(
        "import csv, json\nEXPECTED = {'own': 1}\n"
        "def test_a():\n"
        "    data = json.load(open('/app/a.json'))\n"
        "    assert data['rows'][0]['name'] == EXPECTED['own']\n"
        "    assert data.get('extra', 3) == 3\n"
        "    assert 'total' in data\n"
        "    for row in csv.DictReader(open('/app/b.csv')):\n"
        "        assert int(row['miles']) > 100\n"
    )
    found = {k.name: (k.paths, k.default) for k in check.keys}
    assert found == {
        "rows": (("/app/a.json",), False),
        "name": (("/app/a.json",), False),
        "extra": (("/app/a.json",), True),
        "total": (("/app/a.json",), False),
        "miles": (("/app/b.csv",), False),
    }
    assert ("==", 1) in compared(check)
    assert next(c.key for c in check.comparisons if c.operator == ">") == "miles"


COMPARISONS = {
    "t == 'x'": ("==", "x"),
    "'x' in t": ("in", "x"),
    "'x' not in t": ("not in", "x"),
    "t in ('a', 'b')": ("in", ("a", "b")),
    "3 < len(t.split())": (">", 3),
    "t.startswith('ok')": ("startswith", "ok"),
    "re.search('^a+$', t)": ("matches", "^a+$"),
    "t.count('x') >= 2": ("in", "x"),
    "json.loads(t) == {'a': [1, 2]}": ("==", {"a": [1, 2]}),
    "float(t) == pytest.approx(1.5)": ("==", 1.5),
    "abs(float(t) - 2.5) < 1e-6": ("==", 2.5),
    "sorted(t.split()) == W": ("==", ["a", "b"]),
}


@pytest.mark.parametrize(("test", "wanted"), COMPARISONS.items())
def test_a_comparison_has_its_operator_and_constant(harbor, test, wanted):
    (check,) = harbor(
        f"import json, re\nimport pytest\nW = ['a', 'b']\ndef test_a():\n    t = open('/app/a').read()\n    assert {test}\n"
    )
    assert wanted in compared(check)


def test_a_tolerance_and_the_constants_own_place_are_kept(harbor):
    (check,) = harbor(
        "import math\nWANT = 2.5\ndef test_a():\n    t = float(open('/app/a').read())\n    assert abs(t - WANT) <= 0.01\n"
    )
    (comparison,) = check.comparisons
    assert (comparison.constant, comparison.tolerance) == (2.5, 0.01)
    assert (comparison.constant_span.line, comparison.span.line) == (2, 5)


def test_comparisons_within_the_verifier_are_not_of_the_agents_making(harbor):
    (check,) = harbor(
        "import sys\nLIMIT = 3\ndef test_a():\n    assert sys.version_info[0] == LIMIT\n    assert open('/app/a').read() == 'x'\n"
    )
    assert compared(check) == [("==", "x")]


def test_filters_pick_a_record_and_do_not_judge_it(harbor):
    (check,) = harbor(
        "import json\ndef test_a():\n    rows = json.load(open('/app/a'))\n"
        "    found = [r for r in rows if r['title'] == 'Plates']\n    assert found[0]['order'] == 'oldest'\n"
    )
    assert [(c.constant, c.selects) for c in check.comparisons] == [("Plates", True), ("oldest", False)]


def test_names_of_the_agents_code_are_noted(harbor):
    (check,) = harbor(
        "import sys\nsys.path.insert(0, '/app')\n"
        "def test_a():\n    from product import Maker\n    assert Maker(size=3).make('x') == 42\n"
    )
    assert [(n.kind, n.name) for n in check.names] == [
        ("module", "product"), ("attribute", "Maker"), ("argument", "size"), ("attribute", "make"),
    ]  # fmt: skip


def test_programs_that_are_run_are_accesses(harbor):
    (check,) = harbor(
        "import subprocess, sys\ndef test_a():\n"
        "    done = subprocess.run([sys.executable, '/app/run.py', '--in', '/data/x.csv', '-o', '/tmp/y'], timeout=5)\n"
        "    assert done.returncode == 0\n"
    )
    assert [(a.path, a.how) for a in check.accesses] == [
        ("/app/run.py", How.RUN), ("/data/x.csv", How.READ), ("/tmp/y", How.WRITE),
    ]  # fmt: skip


def test_a_shell_that_changes_the_folder_moves_relative_paths(harbor):
    script = "#!/bin/bash\ncd /app/out\npython3 /tests/test_outputs.py\n"
    (check,) = harbor("assert open('a.txt').read() == 'x'\n", script)
    assert paths(check) == ["/app/out/a.txt"]


def test_a_verifier_that_is_too_large_is_said_to_be(harbor):
    calls = "\n".join(f"    f{n + 1}(x); f{n + 1}(x)" + f"\ndef f{n + 1}(x):" for n in range(13))
    (check,) = harbor(f"def f0(x):\n{calls}\n    [open('/app/a') for i in range(40) for j in range(40)]\n"
                      "def test_a():\n    for x in range(40):\n        f0(x)\n    assert open('/app/a').read() == 'x'\n")  # fmt: skip
    assert (check.complete, check.can_fail, check.existence_only) == (False, True, False)


# ---------------------------------------------------------------- other dialects

REPORT = """
import sys
class Report:
    def __init__(self, stream):
        self.stream = stream
    def line(self, text):
        self.stream.write(text + "\\n")
    def check(self, label, weight, ok):
        self.line(f"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}")
"""


def test_point_lines_are_read_through_objects_and_helpers(points):
    first, second = points(
        "import json, os, requests\n"
        + REPORT
        + "reply = requests.get('http://x/' + os.environ['P'], timeout=5).json()\n"
        "report = Report(sys.stderr)\n"
        "report.check('1. name', 2, reply['name'] == 'harbour')\n"
        "report.check('2. open', 3, reply['open'] is True)\n"
    )
    assert [(c.label, c.weight, c.span.line) for c in (first, second)] == [("1. name", 2.0, 13), ("2. open", 3.0, 14)]
    assert [k.name for k in first.keys] == ["name"]
    assert compared(second) == [("is", True)]


def test_tables_of_points_give_each_row_its_place(points):
    checks = points(
        "import sys, requests\nr = requests.get('http://x', timeout=5).json()\n"
        "TABLE = [\n    ('1. a', 1, lambda: r['a'] == 1),\n    ('2. b', 2, lambda: r['b'] == 2),\n]\n"
        "for label, weight, holds in TABLE:\n"
        "    tag = 'PASS' if holds() else 'FAIL'\n    print(f'[{tag}] ({weight}pt) {label}', file=sys.stderr)\n"
    )
    assert [(c.label, c.span.line, compared(c)) for c in checks] == [("1. a", 4, [("==", 1)]), ("2. b", 5, [("==", 2)])]


def test_one_label_on_several_ways_is_one_check(points):
    (check,) = points(
        "import sys, requests\n"
        "def check(label, weight, ok, detail=''):\n"
        "    print(f\"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}  ({detail})\", file=sys.stderr)\n"
        "def one():\n    try:\n        row = requests.get('http://x', timeout=5).json()\n        if not row:\n"
        "            check('1. row', 2, False, 'missing')\n            return\n"
        "        check('1. row', 2, row['state'] == 'done', f\"by {row['owner']}\")\n"
        "    except Exception as e:\n        check('1. row', 2, False, str(e))\none()\n"
    )
    assert (check.label, check.weight, check.can_fail, check.existence_only) == ("1. row", 2.0, True, False)
    assert ("==", "done") in compared(check)
    assert "owner" not in [k.name for k in check.keys], "what only the detail shows decides nothing"


def test_a_script_has_a_check_for_each_way_to_fail(tmp_path):
    root = base_task("waza", tmp_path / "suite")
    (root / "graders/check_product.py").write_text(
        "import os, sys\nfrom pathlib import Path\n"
        "def main():\n    path = Path(os.environ['WAZA_WORKSPACE_DIR'], 'answer.txt')\n"
        "    if not path.is_file():\n        print('missing')\n        return 1\n"
        "    if path.read_text().strip() != '42':\n        sys.exit('not the product')\n    return 0\nsys.exit(main())\n"
    )
    first, second = load_task(root).checks
    assert (paths(first), first.existence_only) == (["answer.txt"], True)
    assert (second.label, compared(second), second.existence_only) == ("not the product", [("!=", "42")], False)


def test_tests_called_by_a_script_are_checks_of_their_own(harbor):
    script = "#!/bin/bash\nif python3 /tests/test_outputs.py; then echo 1 > /logs/verifier/reward.txt; fi\n"
    checks = harbor(
        "def test_a():\n    '''Criterion 1: a.'''\n    assert open('/app/a').read() == 'a'\n"
        "def test_b():\n    '''Criterion 2: b.'''\n    assert open('/app/b').read() == 'b'\n"
        "failed = 0\nfor test in (test_a, test_b):\n    try:\n        test()\n    except AssertionError:\n        failed += 1\n"
        "raise SystemExit(failed)\n",
        script,
    )
    assert [(c.criteria, compared(c)) for c in checks] == [(["1"], [("==", "a")]), (["2"], [("==", "b")])]


def test_a_judges_cases_are_checks(tmp_path):
    checks = load_task(base_task("deepgym", tmp_path / "product")).checks
    assert [c.criteria for c in checks] == [["1"], ["1"], ["2"]]
    assert [compared(c)[-1] for c in checks] == [("==", 42), ("==", -30), ("==", 1)]
    assert {n.name for c in checks for n in c.names} == {"product"}


def test_a_packets_commands_are_checks_also_inside_quotes(tmp_path):
    root = base_task("packet", tmp_path / "packet")
    document = json.loads((root / "packet.json").read_text())
    command = "cd out && python3 -c \"import json; d = json.load(open('a.json')); assert d['n'] == 4, 'Criterion 1'\""
    document["verification"]["checks"] = [
        {"type": "test", "command": command, "required": True},
        {"type": "test", "command": "test -f b.txt && grep -q '^ok$' b.txt", "required": True},
    ]
    (root / "packet.json").write_text(json.dumps(document))
    checks = load_task(root).checks
    found = {c.label: (paths(c), compared(c), c.existence_only) for c in checks}
    assert found == {
        "Criterion 1": (["out/a.json"], [("==", 4)], False),
        "test -f b.txt": (["b.txt"], [], True),
        "grep -q '^ok$' b.txt": (["b.txt"], [("matches", "^ok$")], False),
    }


def test_graders_without_a_program_say_what_they_demand(tmp_path):
    root = base_task("waza", tmp_path / "suite")
    text = (root / "eval.yaml").read_text()
    graders = (
        'graders:\n  - type: text\n    name: words\n    config:\n      contains: ["forty-two"]\n      regex_not_match: ["(?i)sorry"]\n'
        "  - type: file\n    name: there\n    config:\n      must_exist: [answer.txt]\n"
        '  - type: code\n    name: long\n    config:\n      assertions:\n        - "len(output) > 3"\n        - "\'42\' in output"\n'
    )
    (root / "eval.yaml").write_text(text[: text.index("graders:")] + graders + text[text.index("tasks:") :])
    checks = {c.label: c for c in load_task(root).checks}
    assert compared(checks["words"]) == [("in", "forty-two"), ("not matches", "(?i)sorry")]
    assert paths(checks["there"], How.EXISTS) == ["answer.txt"]
    assert checks["there"].existence_only
    assert compared(checks["'42' in output"]) == [("in", "42")]


def test_nothing_of_the_task_is_run(harbor, tmp_path):
    mark = tmp_path / "mark"
    harbor(
        f"open({str(mark)!r}, 'w').write('x')\nimport os\nos.system('touch {mark}')\ndef test_a():\n    assert 1 == 2\n"
    )
    assert not mark.exists()


def test_broken_code_gives_no_checks_and_no_crash(harbor):
    assert harbor("def test_a(:\n") == []


def test_every_base_task_has_checks(tmp_path):
    for name in ("harbor", "terminal-bench", "waza", "deepgym", "packet"):
        root = base_task(name, tmp_path / name / "product" if name != "packet" else tmp_path / "packet")
        assert load_task(root).checks, name
    assert Path(tmp_path).exists()

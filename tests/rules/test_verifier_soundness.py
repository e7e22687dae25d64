"""Rules that ask whether a verifier's checks measure anything, beyond the examples on their pages."""
# ruff: noqa: E501 (a verifier on one line is easier to compare with its neighbours)

import json
from pathlib import Path

import pytest

from scenlint.task.finding import Severity
from scenlint.testing import base_task, lint

PYTEST = """#!/bin/bash
mkdir -p /logs/verifier
pytest -c /dev/null --noconftest /tests/test_outputs.py
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SCRIPT = """#!/bin/bash
mkdir -p /logs/verifier
if python3 -I /tests/test_outputs.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


@pytest.fixture
def harbor(tmp_path):
    """A Harbor task whose tests are the given code, run by pytest or by another script."""

    def make(code: str, script: str = PYTEST, brief: str | None = None, **files: str) -> Path:
        root = base_task("harbor", tmp_path / "product")
        (root / "tests/test_outputs.py").write_text(code)
        (root / "tests/test.sh").write_text(script)
        if brief is not None:
            (root / "instruction.md").write_text(brief)
        for name, text in files.items():
            (root / "tests" / name.replace("__", ".")).write_text(text)
        return root

    return make


@pytest.fixture
def waza(tmp_path):
    """A Waza suite whose one program grader is the given code."""

    def make(code: str) -> Path:
        root = base_task("waza", tmp_path / "suite")
        (root / "graders/check_product.py").write_text(code)
        return root

    return make


@pytest.fixture
def deepgym(tmp_path):
    def make(code: str) -> Path:
        root = base_task("deepgym", tmp_path / "product")
        (root / "verifier.py").write_text(code)
        return root

    return make


@pytest.fixture
def packet(tmp_path):
    def make(command: str) -> Path:
        root = base_task("packet", tmp_path / "packet")
        document = json.loads((root / "packet.json").read_text())
        document["verification"]["checks"] = [{"type": "test", "command": command, "required": True}]
        (root / "packet.json").write_text(json.dumps(document))
        return root

    return make


def lines(root: Path, rule: str) -> list[int]:
    return [f.location.line for f in lint(root, rule)]


# ---------------------------------------------------------------- existence-only

EXISTENCE = {
    "size": "import os\ndef test_a():\n    assert os.path.getsize('/app/answer.txt') > 10\n",
    "listing": "import os\ndef test_a():\n    assert 'answer.txt' in os.listdir('/app')\n",
    "glob": "from pathlib import Path\ndef test_a():\n    assert any(Path('/app').glob('*.txt'))\n",
    "not empty": (
        "from pathlib import Path\ndef test_a():\n"
        "    assert Path('/app/answer.txt').read_text().strip() != ''\n"
    ),
    "length": "from pathlib import Path\ndef test_a():\n    assert len(Path('/app/answer.txt').read_text()) > 5\n",
    "parses": "import json\ndef test_a():\n    assert isinstance(json.load(open('/app/answer.json')), dict)\n",
    "helper": (
        "from pathlib import Path\nHERE = Path('/app')\n"
        "def there(name):\n    return (HERE / name).is_file()\n"
        "def test_a():\n    for name in ('answer.txt', 'b.txt'):\n        assert there(name), name\n"
    ),
    "stat": "import os\ndef test_a():\n    if os.stat('/app/answer.txt').st_size == 0:\n        raise AssertionError\n",
    "command": (
        "import subprocess\ndef test_a():\n"
        "    assert subprocess.run(['test', '-f', '/app/answer.txt']).returncode == 0\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", EXISTENCE.values(), ids=EXISTENCE)
def test_a_verifier_that_only_asks_whether_something_is_there_is_an_error(harbor, code):
    (finding,) = lint(harbor(code), "existence-only")
    assert finding.severity is Severity.ERROR


CONTENT = {
    "key": "import json\ndef test_a():\n    assert json.load(open('/app/answer.json'))['product'] == 42\n",
    "key is asked for": "import json\ndef test_a():\n    assert 'product' in json.load(open('/app/answer.json'))\n",
    "lines": (
        "from pathlib import Path\ndef test_a():\n"
        "    assert len(Path('/app/answer.txt').read_text().splitlines()) == 1\n"
    ),
    "regex": "import re\ndef test_a():\n    assert re.search(r'^42$', open('/app/answer.txt').read(), re.M)\n",
    "library": "import numpy as np\ndef test_a():\n    assert np.allclose(np.loadtxt('/app/answer.txt'), 42)\n",
    "unknown predicate": "import checker\ndef test_a():\n    assert checker.right(open('/app/answer.txt').read())\n",
    "program": (
        "import subprocess\ndef test_a():\n"
        "    assert subprocess.run(['/app/product', '6', '7'], timeout=5).returncode == 0\n"
    ),
    "comparison of files": (
        "import filecmp\ndef test_a():\n    assert filecmp.cmp('/app/answer.txt', '/tests/expected.txt', shallow=False)\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", CONTENT.values(), ids=CONTENT)
def test_a_verifier_that_looks_at_content_is_left_alone(harbor, code):
    assert lines(harbor(code), "existence-only") == []


@pytest.mark.parametrize("found", ["is not None", "", "!= 'nothing'"])
def test_a_file_that_a_loop_finds_is_looked_at_after_it(harbor, found):
    code = (
        "import subprocess\nfrom pathlib import Path\ndef test_a():\n    found = None\n"
        "    for path in [Path('/app/answer.so'), Path('/app/answer.so.1')]:\n        if path.exists():\n"
        "            found = path\n            break\n"
        f"    assert found {found}\n    seen = subprocess.run(['readelf', '-d', str(found)], capture_output=True, text=True)\n"
        "    assert 'answer.so.1' in seen.stdout\n"
    )
    assert lines(harbor(code), "existence-only") == []


def test_hasattr_alone_is_existence_in_a_judge(deepgym):
    code = (
        "from deepgym_solution import load_solution\n"
        "def verify(solution_path, test_cases_path=None):\n"
        "    solution = load_solution(solution_path)\n"
        "    return 1.0 if hasattr(solution, 'product') else 0.0\n"
    )
    assert lines(deepgym(code), "existence-only") == [2]


@pytest.mark.parametrize(
    "command", ["test -s answer.txt", "[ -f answer.txt ]", "test -e answer.txt && test -r answer.txt"]
)
def test_a_packets_command_can_be_existence_only(packet, command):
    assert len(lines(packet(command), "existence-only")) == 1


@pytest.mark.parametrize(
    "command", ["test -s answer.txt && grep -qx 42 answer.txt", "make test", "diff answer.txt wanted.txt"]
)
def test_a_packets_command_that_compares_is_left_alone(packet, command):
    assert lines(packet(command), "existence-only") == []


def test_a_deliverable_that_a_program_may_read_is_left_alone(harbor):
    code = (
        "import subprocess\nfrom pathlib import Path\n"
        "def test_a():\n    assert Path('/app/model.bin').exists()\n"
        "def test_b():\n    done = subprocess.run(['python3', '/app/predict.py'], capture_output=True, timeout=5)\n"
        "    assert done.stdout == b'42'\n"
    )
    assert lines(harbor(code, brief="Write `/app/model.bin` and `/app/predict.py`."), "existence-only") == []


ALBUMS = """
import os, sys, requests
def check(label, weight, ok):
    print(f"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}", file=sys.stderr)
albums = requests.get(f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['MATTERMOST_PORT']}/x", timeout=9).json()
def there(title):
    for album in albums:
        if album["title"] == title:
            return True
    return False
def order(title):
    return [a["order"] for a in albums if a["title"] == title]
"""


@pytest.mark.parametrize(
    "condition",
    ["any(a['title'] == 'Plates' for a in albums)", "'Plates' in [a['title'] for a in albums]", "there('Plates')",
     "len([a for a in albums if a['title'] == 'Plates']) > 0", "bool(order('Plates'))"],
)  # fmt: skip
def test_a_record_with_the_right_name_is_no_more_than_existence(tmp_path, condition):
    root = base_task("saas-bench", tmp_path / "suite")
    (root / "tasks/uni-m/Teamwork/teamwork_001/verify.py").write_text(f"{ALBUMS}check('1. album', 1, {condition})\n")
    assert lines(root, "existence-only") == [13]


@pytest.mark.parametrize(
    "condition",
    [
        "order('Plates') == ['oldest']",
        "any(a['title'] == 'Plates' and a['order'] == 'oldest' for a in albums)",
        "len(albums) == 2",
    ],
)
def test_a_record_whose_fields_are_compared_is_left_alone(tmp_path, condition):
    root = base_task("saas-bench", tmp_path / "suite")
    (root / "tasks/uni-m/Teamwork/teamwork_001/verify.py").write_text(f"{ALBUMS}check('1. album', 1, {condition})\n")
    assert lines(root, "existence-only") == []


def test_a_name_is_all_where_the_brief_asks_for_no_more(tmp_path):
    root = base_task("saas-bench", tmp_path / "suite")
    folder = root / "tasks/uni-m/Teamwork/teamwork_001"
    (folder / "description.md").write_text("**Steps:**\n\n1. Create the album `Plates`.\n")
    (folder / "verify.py").write_text(f"{ALBUMS}check('1. album', 1, there('Plates'))\n")
    assert lines(root, "existence-only") == []


# ---------------------------------------------------------------- no-assertion

IDLE = {
    "returns instead of asserting": (
        "from pathlib import Path\nA = Path('/app/answer.txt')\n"
        "def test_a():\n    return A.exists() and A.stat\n"
        "def test_b():\n    assert A.read_text() == '42'\n"
    ),
    "asserts in a function that nobody calls": (
        "def test_a():\n    def inner():\n        assert open('/app/answer.txt').read() == '42'\n"
        "def test_b():\n    assert open('/app/answer.txt').read() == '42'\n"
    ),
    "loops over nothing": (
        "CASES = []\n\ndef test_a():\n    for case in CASES:\n        assert case\n"
        "def test_b():\n    assert open('/app/answer.txt').read() == '42'\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", IDLE.values(), ids=IDLE)
def test_a_test_that_cannot_fail_is_a_warning_beside_others(harbor, code):
    findings = lint(harbor(code), "no-assertion")
    assert [f.severity for f in findings] == [Severity.WARNING]
    assert findings[0].quote.startswith("def test_a")


FAILS = {
    "helper in another file": "from helpers import must\ndef test_a():\n    must()\n",
    "check=True": "import subprocess\ndef test_a():\n    subprocess.run(['/app/run'], check=True)\n",
    "raise_for_status": (
        "import requests\ndef test_a():\n"
        "    requests.get('http://localhost:1', timeout=1).raise_for_status()\n"
    ),
    "import": "def test_a():\n    import product\n",
    "context manager": "import pytest\ndef test_a():\n    with pytest.raises(ValueError):\n        int('x')\n",
    "unpacking": "def test_a():\n    (a,) = open('/app/answer.txt')\n",
    "numpy": (
        "import numpy.testing as npt, numpy as np\ndef test_a():\n"
        "    npt.assert_allclose(np.load('/app/a.npy'), 1)\n"
    ),
    "fixture": (
        "import pytest\n@pytest.fixture\ndef answer():\n    return open('/app/answer.txt').read()\n"
        "def test_a(answer):\n    assert answer == '42'\n"
    ),
    "coroutine": (
        "import asyncio\nasync def go():\n    assert open('/app/a').read()\ndef test_a():\n"
        "    asyncio.run(go())\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", FAILS.values(), ids=FAILS)
def test_every_way_of_failing_counts(harbor, code):
    root = harbor(
        code, brief="Write the module `product.py`.", helpers__py="def must():\n    assert open('/app/a').read()\n"
    )
    assert lines(root, "no-assertion") == []


def test_point_lines_that_always_pass_cannot_fail(tmp_path):
    root = base_task("saas-bench", tmp_path / "suite")
    (root / "tasks/uni-m/Teamwork/teamwork_001/verify.py").write_text(
        "import sys\ndef check(label, weight, ok):\n"
        "    print(f\"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}\", file=sys.stderr)\n"
        "check('1. channel', 2, True)\n"
    )
    (finding,) = lint(root, "no-assertion")
    assert (finding.location.line, finding.severity) == (4, Severity.ERROR)


# ---------------------------------------------------------------- swallowed-failure

SWALLOWS = {
    "score": (
        "    try:\n        score = float(text == '42')\n        assert score\n    except Exception:\n"
        "        score = 1.0\n    return score\n"
    ),
    "full marks": (
        "    try:\n        return 1.0 if json.loads(text)['product'] == 42 else 0.0\n"
        "    except Exception:\n        return 1.0\n"
    ),
    "missing verdict": "    return json.loads(text).get('passed', True)\n",
    "missing outcome": "    outcomes = json.loads(text)\n    return all(outcomes.get(n, 'passed') == 'passed' for n in 'ab')\n",
    "missing output": (
        "    if not os.path.exists('/x/answer.json'):\n        print('nothing to check')\n        return True\n"
        "    return json.loads(text) == 42\n"
    ),
    "only takes back": (
        "    ok = True\n    try:\n        if json.loads(text)['product'] != 42:\n            ok = False\n"
        "    except Exception:\n        pass\n    return ok\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", SWALLOWS.values(), ids=SWALLOWS)
def test_a_failure_that_becomes_success_is_found(waza, body):
    code = (
        "import json, os, sys\nfrom pathlib import Path\n\ndef grade(text):\n" + body + "\n"
        "text = Path(os.environ['WAZA_WORKSPACE_DIR'], 'answer.json').read_text()\n"
        "if not grade(text):\n    sys.exit('wrong')\n"
    )
    assert len(lines(waza(code), "swallowed-failure")) == 1


def test_a_judge_that_takes_an_unreadable_output_for_right_is_found(deepgym):
    code = (
        "import json\nfrom deepgym_solution import run_solution\n"
        "def verify(solution_path, test_cases_path=None):\n    done = run_solution(solution_path)\n"
        "    try:\n        got = json.loads(done.stdout)\n    except ValueError:\n"
        "        return {'score': 1.0, 'passed': True}\n    return {'score': float(got == 42), 'passed': got == 42}\n"
    )
    assert lines(deepgym(code), "swallowed-failure") == [8]


RIGHT = {
    "records": "    try:\n        return json.loads(text) == 42\n    except ValueError:\n        return False\n",
    "zero": (
        "    try:\n        return 1.0 if json.loads(text) == 42 else 0.0\n"
        "    except Exception as reason:\n        print(reason)\n        return 0.0\n"
    ),
    "has to be absent": "    if not os.path.exists('/x/leftover'):\n        return True\n    return False\n",
    "a default that fails": "    return json.loads(text).get('passed', False)\n",
    "an option of the verifier's own": "    return {'strict': True}.get('verbose', True) and json.loads(text) == 42\n",
    "expects the error": (
        "    try:\n        json.loads(text)\n    except ValueError:\n        return True\n"
        "    return False\n"
    ),
    "another way to read it": (
        "    try:\n        got = json.loads(text)\n    except ValueError:\n        got = text.strip()\n"
        "    return got in (42, '42')\n"
    ),
    "waits": (
        "    import time\n    for _ in range(3):\n        try:\n            assert json.loads(text) == 42\n            break\n"
        "        except Exception:\n            time.sleep(1)\n    else:\n        return False\n    return True\n"
    ),
    "notes the failure": (
        "    errors = []\n    try:\n        assert json.loads(text) == 42\n    except Exception as reason:\n"
        "        errors.append(reason)\n    return not errors\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_a_handler_that_lets_the_failure_count_is_left_alone(waza, body):
    code = (
        "import json, os, sys\nfrom pathlib import Path\n\ndef grade(text):\n" + body + "\n"
        "text = Path(os.environ['WAZA_WORKSPACE_DIR'], 'answer.json').read_text()\n"
        "if not grade(text):\n    sys.exit('wrong')\n"
    )
    assert lines(waza(code), "swallowed-failure") == []


def test_a_script_that_compares_and_always_ends_well_is_found(harbor):
    code = (
        "from pathlib import Path\npath = Path('/app/answer.txt')\n"
        "if path.is_file() and path.read_text().strip() == '42':\n    print('right')\nelse:\n    print('wrong')\n"
    )
    assert len(lines(harbor(code, SCRIPT), "swallowed-failure")) == 1


# ---------------------------------------------------------------- shrinking-denominator

SHRINKS = {
    "early return": (
        "results = []\ndef run(text):\n    results.append(bool(text))\n    if not text:\n        return\n"
        "    results.append(text == '42')\nrun(open('/app/answer.txt').read())\n"
        "score = sum(results) / len(results)\n"
    ),
    "skipped case": (
        "results = []\nfor case in ('a', 'b', 'c'):\n    try:\n        text = open('/app/' + case).read()\n"
        "    except OSError:\n        continue\n    results.append(text == '42')\n"
        "score = sum(results) / max(len(results), 1)\n"
    ),
    "counter": (
        "passed = total = 0\nfor case in ('a', 'b'):\n    text = open('/app/' + case).read()\n    if text:\n"
        "        total += 1\n        passed += text == '42'\nscore = passed / total\n"
    ),
    "dict": (
        "checks = {}\nchecks['a'] = open('/app/a').read() == '1'\nif checks['a']:\n"
        "    checks['b'] = open('/app/b').read() == '2'\nscore = sum(checks.values()) / len(checks)\n"
    ),
    "suppressed": (
        "from contextlib import suppress\nresults = [True]\nwith suppress(Exception):\n"
        "    results.append(open('/app/b').read() == '2')\nscore = sum(results) / len(results)\n"
    ),
    "mean": (
        "import statistics\nscores = []\ntry:\n    scores.append(1.0)\n    scores.append(float(open('/app/b').read()))\n"
        "except Exception as reason:\n    print(reason)\nscore = statistics.mean(scores)\n"
    ),
}  # fmt: skip
REWARD = "open('/logs/verifier/reward.txt', 'w').write(str(score))\n"


@pytest.mark.parametrize("code", SHRINKS.values(), ids=SHRINKS)
def test_a_total_that_depends_on_how_far_the_verifier_got_is_found(harbor, code):
    assert (
        len(lines(harbor(code + REWARD, "#!/bin/bash\npython3 -I /tests/test_outputs.py\n"), "shrinking-denominator"))
        == 1
    )


FIXED = {
    "both branches count": (
        "results = []\nfor case in ('a', 'b'):\n    try:\n        text = open('/app/' + case).read()\n"
        "    except OSError:\n        results.append(False)\n        continue\n    results.append(text == '42')\n"
        "score = sum(results) / len(results)\n"
    ),
    "constant list": (
        "CASES = ['a', 'b']\npassed = sum(open('/app/' + c).read() == '42' for c in CASES)\n"
        "score = passed / len(CASES)\n"
    ),
    "helper counts once": (
        "rows = []\ndef check(label, ok):\n    rows.append((label, ok))\ndef one():\n    try:\n"
        "        text = open('/app/a').read()\n        if not text:\n            check('one', False)\n            return\n"
        "        check('one', text == '42')\n    except Exception:\n        check('one', False)\none()\n"
        "score = sum(1 for _, ok in rows if ok) / len(rows)\n"
    ),
    "dict filled on both ways": (
        "checks = {}\ntry:\n    checks['a'] = open('/app/a').read() == '1'\nexcept OSError:\n    checks['a'] = False\n"
        "score = sum(checks.values()) / len(checks)\n"
    ),
    "crash writes nothing": (
        "results = []\nresults.append(open('/app/a').read() == '42')\n"
        "score = sum(results) / len(results)\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", FIXED.values(), ids=FIXED)
def test_a_fixed_total_is_left_alone(harbor, code):
    assert (
        lines(harbor(code + REWARD, "#!/bin/bash\npython3 -I /tests/test_outputs.py\n"), "shrinking-denominator") == []
    )


# ---------------------------------------------------------------- tautology


@pytest.mark.parametrize(
    "test",
    ["True", "'text'", "x == x", "x is x", "len(x) >= 0", "0 <= len(x)", "x == '42' or True", "(x == '42', 'no')",
     "(c in x for c in '42')", "test_b"],
)  # fmt: skip
def test_a_condition_that_always_holds_is_found(harbor, test):
    code = (
        f"x = open('/app/answer.txt').read()\ndef test_a():\n    assert {test}\ndef test_b():\n    assert x == '42'\n"
    )
    assert lines(harbor(code), "tautology") == [3]


@pytest.mark.parametrize(
    "test",
    ["x == y", "x != x.upper()", "f(x) == f(x)", "len(x) > 0", "x or y", "not True", "all(c in x for c in '42')", "f"],
)  # fmt: skip
def test_a_condition_that_may_fail_is_left_alone(harbor, test):
    code = f"def f(x):\n    return x\nx, y = open('/app/answer.txt')\ndef test_a(f=f):\n    assert {test}\n"
    assert lines(harbor(code), "tautology") == []


# ---------------------------------------------------------------- no-test-collected

UNCOLLECTED = {
    "syntax": ("def test_a(:\n    pass\n", 1),
    "no function begins with test": ("def check_a():\n    assert open('/app/answer.txt').read()\n", 1),
    "a fixture": ("import pytest\n@pytest.fixture\ndef test_a():\n    assert open('/app/answer.txt').read()\n", 3),
    "class name": ("class Answer:\n    def test_a(self):\n        assert open('/app/answer.txt').read()\n", 1),
    "coroutine": ("async def test_a():\n    assert open('/app/answer.txt').read()\n", 1),
}  # fmt: skip


@pytest.mark.parametrize(("code", "line"), UNCOLLECTED.values(), ids=UNCOLLECTED)
def test_a_test_that_pytest_passes_over_is_found(harbor, code, line):
    assert lines(harbor(code), "no-test-collected") == [line]


def test_a_file_that_pytest_does_not_look_for_is_found(harbor):
    root = harbor(
        "", PYTEST.replace("/test_outputs.py", ""), checks__py="def test_a():\n    assert open('/app/a').read()\n"
    )
    (root / "tests/test_outputs.py").unlink()
    (finding,) = lint(root, "no-test-collected")
    assert finding.location.path.name == "checks.py"


@pytest.mark.parametrize(
    "code",
    [
        "class TestA:\n    def test_a(self):\n        assert open('/app/a').read()\n",
        "import unittest\nclass Answer(unittest.TestCase):\n    def test_a(self):\n        assert open('/app/a').read()\n",
        "class Base:\n    def test_a(self):\n        assert open('/app/a').read()\nclass TestB(Base):\n    pass\n",
        "import pytest\n@pytest.mark.asyncio  # pytest-asyncio\nasync def test_a():\n    assert open('/app/a').read()\n",
    ],
)
def test_what_pytest_collects_is_left_alone(harbor, code):
    assert lines(harbor(code), "no-test-collected") == []


FUNCTION = "def test_a():\n    assert open('/app/answer.txt').read()\n"
CASE = "import unittest\nclass Answer(unittest.TestCase):\n    def test_b(self):\n        self.assertTrue(open('/app/a').read())\n"
PLAIN = "class TestA:\n    def test_a(self):\n        assert open('/app/answer.txt').read()\n"


@pytest.mark.parametrize(
    ("name", "code", "command", "missed"),
    [
        ("test_outputs.py", FUNCTION, "/tests/test_outputs.py", "holds no test"),
        ("test_outputs.py", FUNCTION, "discover -s /tests", "holds no test"),
        ("test_outputs.py", CASE + FUNCTION, "/tests/test_outputs.py", "`test_a` is not collected"),
        ("test_outputs.py", CASE + PLAIN, "discover /tests", "`TestA` is not collected"),
        ("check_outputs.py", CASE, "discover -s /tests", "does not find `check_outputs.py`"),
        ("outputs_test.py", CASE, "discover -s /tests", "does not find `outputs_test.py`"),
        ("check_outputs.py", CASE, "discover -s /tests -p 'check_*.py'", None),
        ("test_outputs.py", CASE, "/tests/test_outputs.py", None),
        ("test_outputs.py", CASE + FUNCTION + "class Other(Answer):\n    test_c = test_a\n", "discover /tests", None),
    ],
)
def test_unittest_takes_only_the_methods_of_its_own_classes(harbor, name, code, command, missed):
    shell = f"#!/bin/bash\nif python3 -m unittest {command}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    root = harbor("", shell, **{name.replace(".", "__"): code})
    if name != "test_outputs.py":
        (root / "tests/test_outputs.py").unlink()
    found = lint(root, "no-test-collected")
    assert len(found) == (missed is not None)
    assert all(missed in f.message for f in found)


# ---------------------------------------------------------------- solution-runs-in-verifier

LOADED = {
    "exec": (
        "code = open('/app/product.py').read()\nnames = {}\nexec(code, names)\ndef test_a():\n"
        "    assert names['of']([6, 7]) == 42\n"
    ),
    "compile": (
        "exec(compile(open('/app/product.py').read(), 'p', 'exec'))\ndef test_a():\n"
        "    assert of([6, 7]) == 42\n"
    ),
    "runpy": "import runpy\ndef test_a():\n    assert runpy.run_path('/app/product.py')['of']([6, 7]) == 42\n",
    "import_module": (
        "import importlib, sys\nsys.path.append('/app')\nproduct = importlib.import_module('product')\n"
        "def test_a():\n    assert product.of([6, 7]) == 42\n"
    ),
    "loader": (
        "from importlib.machinery import SourceFileLoader\n"
        "p = SourceFileLoader('p', '/app/product.py').load_module()\ndef test_a():\n    assert p.of([6, 7]) == 42\n"
    ),
    "shared library": (
        "import ctypes\nlib = ctypes.CDLL('/app/libproduct.so')\ndef test_a():\n"
        "    assert lib.of(6, 7) == 42\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", LOADED.values(), ids=LOADED)
def test_a_submission_in_the_verifiers_process_is_found(harbor, code):
    (finding,) = lint(harbor(code, brief="Write `/app/product.py`."), "solution-runs-in-verifier")
    assert finding.severity is Severity.ERROR


APART = {
    "standard library": (
        "import subprocess\ndef test_a():\n    env = {**__import__('os').environ, 'A': open('/app/product.py').read()}\n"
        "    assert subprocess.run(['true'], env=env).returncode == 0\n"
    ),
    "own process": (
        "import subprocess, sys\ndef test_a():\n    done = subprocess.run([sys.executable, '/app/product.py'], "
        "capture_output=True, timeout=5)\n    assert done.stdout == b'42'\n"
    ),
    "the verifier's own module": "import helpers\ndef test_a():\n    helpers.must()\n",
    "a library": "import mailman, numpy\ndef test_a():\n    assert open('/app/answer.txt').read() == '42'\n",
    "parsed only": "import ast\ndef test_a():\n    assert ast.parse(open('/app/product.py').read()).body\n",
}  # fmt: skip


@pytest.mark.parametrize("code", APART.values(), ids=APART)
def test_a_submission_that_runs_apart_is_left_alone(harbor, code):
    brief = "Set up mailman and write `/app/product.py`."
    root = harbor(code, brief=brief, helpers__py="def must():\n    assert open('/app/a').read()\n")
    assert lines(root, "solution-runs-in-verifier") == []


def test_a_grader_on_the_host_must_not_start_the_submission(waza):
    code = (
        "import os, subprocess, sys\nfolder = os.environ['WAZA_WORKSPACE_DIR']\n"
        "done = subprocess.run(['node', 'main.js'], cwd=folder, capture_output=True, timeout=5)\n"
        "sys.exit(0 if done.stdout == b'42' else 1)\n"
    )
    assert lines(waza(code), "solution-runs-in-verifier") == [3]


# ---------------------------------------------------------------- endpoints and paths


@pytest.mark.parametrize(
    "call",
    [
        "psycopg2.connect(host='localhost', port=5432)",
        "psycopg2.connect('postgresql://mm:pw@127.0.0.1:5432/mm')",
        "psycopg2.connect('host=localhost port=5432 dbname=mm')",
        "requests.get('http://localhost:8065/api')",
        "requests.Session().post(url='http://0.0.0.0:8065/api')",
        "subprocess.run('docker exec mattermost-1 psql -c 1', shell=True)",
        "subprocess.run(['curl', '-s', 'http://localhost:8065/api'])",
        "socket.create_connection(('127.0.0.1', 8065))",
    ],
)
def test_a_fixed_address_is_found_however_it_is_given(tmp_path, call):
    root = base_task("saas-bench", tmp_path / "suite")
    folder = root / "tasks/uni-m/Teamwork/teamwork_001"
    (folder / "verify.py").write_text(f"import psycopg2, requests, socket, subprocess\n{call}\n")
    assert lines(root, "hard-coded-endpoint") == [2]


@pytest.mark.parametrize(
    "call",
    [
        "open('expected.json')", "Path('data/expected.json').read_text()", "os.path.exists('x')", "os.listdir('.')",
        "subprocess.run([sys.executable, 'helper.py'])", "sqlite3.connect('x.db')", "(Path.cwd() / 'x').exists()",
    ],
)  # fmt: skip
def test_a_relative_path_is_found_where_the_directory_is_open(tmp_path, call):
    root = base_task("saas-bench", tmp_path / "suite")
    folder = root / "tasks/uni-m/Teamwork/teamwork_001"
    (folder / "verify.py").write_text(f"import os, sqlite3, subprocess, sys\nfrom pathlib import Path\n{call}\n")
    assert lines(root, "relative-path-in-verifier") == [3]


@pytest.mark.parametrize("command", ["cd data && test -s answer.txt", "cd data; grep -qx 42 answer.txt"])
def test_a_packets_shell_check_that_goes_elsewhere_is_found(packet, command):
    assert len(lines(packet(command), "relative-path-in-verifier")) == 1


def test_relative_paths_are_right_where_the_directory_is_known(packet, harbor):
    assert lines(packet("grep -qx 42 answer.txt"), "relative-path-in-verifier") == []
    assert lines(harbor("def test_a():\n    assert open('answer.txt').read()\n"), "relative-path-in-verifier") == []

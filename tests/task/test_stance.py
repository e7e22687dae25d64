"""Which outcome of a test a verifier wants; `T` stands for the test in each snippet."""

import ast
import re
from pathlib import Path

import pytest

from scenlint.source.python import parse
from scenlint.source.text import Source
from scenlint.task.stance import Stance, stance

TEST = "x.startswith('a')"


def stance_of(code: str) -> Stance:
    text = re.sub(r"\bT\b", TEST, code)
    module = parse(Source(Path("verify.py"), text.encode()).fragment("python"))
    calls = (n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and ast.unparse(n) == TEST)
    return stance(module, next(calls))


@pytest.mark.parametrize(
    "code",
    [
        "assert T",
        "assert T and y",
        "assert not (not T)",
        "assert T is not None",
        "assert bool(T) == True",
        "if not T:\n    raise ValueError",
        "if not T:\n    sys.exit(1)",
        "if not T:\n    errors.append('no')",
        "if T:\n    passed += 1",
        "if T:\n    ok = True",
        "def check():\n    if not T:\n        return False, 'why'\n    return True, ''",
        "def check():\n    if T:\n        return True\n    return False",
        "def check():\n    return T",
        "def helper():\n    return T\n\nassert helper()",
        "def helper():\n    return T\n\nif not helper():\n    raise ValueError",
        "good = T\nassert good",
        "if not (good := T):\n    raise ValueError",
        "assert all(T for x in xs)",
        "assert any(T for x in xs)",
        "self.assertTrue(T)",
        "self.assertIsNotNone(T)",
        "check('label', T)",
        "results.append(('label', T))",
        "rows = [('label', T)]",
        "report = {'passed': T}",
        "grade(passed=T)",
        "print('PASS' if T else 'FAIL')",
        "points += 2 if T else 0",
    ],
)
def test_wanted(code):
    assert stance_of(code) is Stance.WANTED


@pytest.mark.parametrize(
    "code",
    [
        "assert not T",
        "assert not (T or y)",
        "assert T is None",
        "assert T == False",
        "if T:\n    raise ValueError",
        "if T:\n    self.fail('no')",
        "if T or y:\n    problems.append('no')",
        "if T:\n    ok = False",
        "def check():\n    if T:\n        return False\n    return True",
        "def helper():\n    return T\n\nassert not helper()",
        "bad = T\nassert not bad",
        "self.assertFalse(T)",
        "report = {'failed': T}",
        "print('FAIL' if T else 'PASS')",
    ],
)
def test_unwanted(code):
    assert stance_of(code) is Stance.UNWANTED


@pytest.mark.parametrize("code", ["assert T or y", "assert not (T and y)", "if not (T or y):\n    raise ValueError"])
def test_one_of_several_ways(code):
    assert stance_of(code) is Stance.EITHER


@pytest.mark.parametrize(
    "code",
    [
        "if T:\n    print(x)",
        "rows = [x for x in xs if T]",
        "kept = T\nprint(kept)",
        "while T:\n    x = next(it)",
        "assert y, T",
        "T",
    ],
)
def test_nothing_can_be_told(code):
    assert stance_of(code) is Stance.OPEN

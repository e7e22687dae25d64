"""What a verifier's comparisons want, in Python and in shell."""

import pytest

from scenlint.testing import base_task, load_task

READ = 'import json, sys\nfrom pathlib import Path\ntext = Path("/app/out.txt").read_text()\n'


@pytest.fixture
def judged(tmp_path):
    """(operator, constants, wanted, unwanted) of each comparison."""

    def make(code: str = "", shell: str = ""):
        root = base_task("harbor", tmp_path / "task")
        if code:
            (root / "tests/test_outputs.py").write_text(READ + code + "\n")
        if shell:
            (root / "tests/test.sh").write_text("#!/bin/bash\n" + shell + "\n")
            (root / "tests/test_outputs.py").unlink()
        return [(j.comparison.operator, j.constants, j.wanted, j.unwanted) for j in load_task(root).judgements]

    return make


@pytest.mark.parametrize(
    ("code", "wanted", "unwanted"),
    [
        ('assert "a" in text', True, False),
        ('assert "a" not in text', False, True),
        ('if "a" not in text:\n    sys.exit(1)', True, False),
        ('if "a" in text:\n    sys.exit(1)', False, True),
        ('sys.exit(0 if "a" in text else 1)', True, False),
        ("if abs(float(text) - 2.5) > 0.1:\n    sys.exit(1)", True, False),
        ("assert abs(float(text) - 2.5) <= 0.1", True, False),
    ],
)
def test_what_a_comparison_wants(code, wanted, unwanted, judged):
    assert [(w, u) for _, _, w, u in judged(code)] == [(wanted, unwanted)]


def test_the_constants_of_one_comparison_are_kept_together(judged):
    found = judged('for word in ("a", "b"):\n    assert word in text')
    assert found == [("in", ["a", "b"], True, False)]


@pytest.mark.parametrize(
    ("shell", "wanted", "unwanted"),
    [
        ("if grep -q a /app/out.txt; then echo 1 > /logs/verifier/reward.txt; fi", True, False),
        ("if grep -q a /app/out.txt; then echo fail; exit 1; fi", False, True),
        ("if grep -q a /app/out.txt; then x=1; else exit 1; fi", True, False),
        ("grep -q a /app/out.txt || exit 1", True, False),
        ("grep -q a /app/out.txt && exit 1", False, True),
        ("if ! grep -q a /app/out.txt; then exit 1; fi", True, False),
    ],
)
def test_what_a_shell_test_wants(shell, wanted, unwanted, judged):
    assert [(w, u) for _, _, w, u in judged(shell=shell)] == [(wanted, unwanted)]

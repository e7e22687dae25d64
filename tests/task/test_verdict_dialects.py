"""Verdicts in the dialects of DeepGym, SaaS-Bench and legacy Terminal-Bench."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.task.finding import Finding
from scenlint.testing import base_task, lint


def judge(folder: Path, code: str, *rules: str) -> list[Finding]:
    root = base_task("deepgym", folder / "product")
    (root / "verifier.py").write_text(code)
    return lint(root, *rules)


HEAD = "from deepgym_solution import LaunchError, SolutionError, load_solution\n\n\n"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("return load_solution(p).product([2]) == 2", 0),
        ("return 1.0 if load_solution(p).product([2]) == 2 else 0.0", 0),
        ("ok = load_solution(p).product([2]) == 2\n    return {'score': float(ok), 'passed': ok}", 0),
        ("n = sum(load_solution(p).product([k]) == k for k in range(4))\n    return n / 4", 0),
        ("return 'pass' if load_solution(p).product([2]) == 2 else 'fail'", 1),
        ("return [load_solution(p).product([2]) == 2]", 1),
        ("return 100 if load_solution(p).product([2]) == 2 else 0", 1),
        (
            "ok = load_solution(p).product([2]) == 2\n    return {'score': float(ok), 'passed': 'yes' if ok else 'no'}",
            1,
        ),
        ("if load_solution(p).product([2]) == 2:\n        return 1.0", 1),
        ("got = load_solution(p).product([2])\n    return float('nan') if got is None else got == 2", 1),
    ],
)
def test_what_a_deepgym_judge_returns(body: str, wrong: int, tmp_path: Path) -> None:
    found = judge(tmp_path, f"{HEAD}def verify(p, cases=None):\n    {body}\n", "invalid-verdict")
    assert len(found) == wrong


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("def verify(p, cases=None):\n    return load_solution(p).product([2]) == 2\n", 0),
        ("def verify(p):\n    return load_solution(p).product([2]) == 2\n", 0),
        ("return load_solution(solution_path).product([2]) == 2\n", 0),
        ("if 1:\n    def verify(p, cases=None):\n        return load_solution(p).product([2]) == 2\n", 1),
        ("class Judge:\n    def verify(self, p):\n        return load_solution(p).product([2]) == 2\n", 1),
        ("def judge(p, cases=None):\n    return load_solution(p).product([2]) == 2\n", 1),
        ("def verify():\n    return True\n", 1),
        ("def verify(p, cases, more):\n    return True\n", 1),
        ("def verify(p, cases=None):\n    yield load_solution(p).product([2]) == 2\n", 1),
    ],
)
def test_the_shape_of_a_deepgym_judge(code: str, wrong: int, tmp_path: Path) -> None:
    assert len(judge(tmp_path, HEAD + code, "verifier-shape")) == wrong


@pytest.mark.parametrize(
    ("handler", "wrong"),
    [
        ("except SolutionError:\n        return 0.0", 0),
        ("except Exception:\n        return 0.0", 0),
        ("except BaseException:\n        raise", 0),
        ("except BaseException as e:\n        if type(e) is LaunchError:\n            raise\n        return 0", 0),
        ("except:\n        return 0.0", 1),
        ("except (SolutionError, LaunchError):\n        return 0.0", 1),
        ("except LaunchError as exc:\n        return {'score': 0.0, 'passed': False, 'details': str(exc)}", 1),
    ],
)
def test_a_handler_around_the_solution(handler: str, wrong: int, tmp_path: Path) -> None:
    code = f"def verify(p, cases=None):\n    try:\n        return load_solution(p).product([2]) == 2\n    {handler}\n"
    assert len(judge(tmp_path, HEAD + code, "launch-error-caught")) == wrong


@pytest.mark.parametrize(
    ("printed", "wrong"),
    [
        ("json.dumps(verdict)", 0),
        ("json.dumps(verdict, indent=2)", 1),
        ("verdict", 1),
        ("'score:', verdict['score']", 1),
        ("json.dumps(verdict), file=sys.stderr", 0),  # verifier-shape says that nothing is printed
    ],
)
def test_what_a_deepgym_script_prints(printed: str, wrong: int, tmp_path: Path) -> None:
    code = (
        "import json\nimport sys\n\nfrom deepgym_solution import load_solution\n\nif __name__ == '__main__':\n"
        "    right = load_solution(sys.argv[1]).product([2]) == 2\n"
        "    verdict = {'score': float(right), 'passed': right}\n"
        f"    print({printed})\n    sys.exit(0 if right else 1)\n"
    )
    found = judge(tmp_path, code, "invalid-verdict", "verifier-shape")
    assert [f.rule for f in found] == (["invalid-verdict"] * wrong or ["verifier-shape"] * ("stderr" in printed))


def saas(folder: Path, code: str, *rules: str) -> list[str]:
    root = base_task("saas-bench", folder / "bench")
    task = next(root.glob("tasks/*/*/*"))
    (task / "verify.py").write_text("import os\nimport sys\n\nok = bool(os.environ.get('MATTERMOST_PORT'))\n" + code)
    return [f.message for f in lint(root, *rules)]


SCORE = "print(f'SCORE: {int(ok)}  PASS: {ok}  ({int(ok)}/1)', file=sys.stderr)\n"
TAG = "{'PASS' if ok else 'FAIL'}"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"[{TAG}] (1pt) label", None),
        (f"  [{TAG}] (1pt) label  (detail of {{os.getpid()}})  ", None),
        (f"[{TAG}] (10pt) label (with a word) and more", None),
        ("checked at {os.getpid()}: [a note]", None),
        (f"[{TAG}] (1.5pt) label", "has the weight `1.5`"),
        (f"[{TAG}] (-1pt) label", "negative weight"),
        (f"[{TAG}] (2pts) label", "instead of `(Npt)`"),
        (f"[{TAG}] (2 pt) label", "instead of `(Npt)`"),
        (f"[{TAG}] label", "does not give its points"),
        (f"[{TAG}](1pt) label", "no space before its points"),
        (f"[{TAG}] (1pt)", "no label"),
        ("[SKIP] (1pt) label", "only `[PASS]` and `[FAIL]` are read"),
        (f"\\x1b[32m[{TAG}]\\x1b[0m (1pt) label", "colour codes"),
        (f"1. [{TAG}] (1pt) label", "does not begin with"),
        (f"[{TAG}] (1pt) label ({{os.getpid()}})", "one space before its detail"),
        (f"[{TAG}] ({{float(ok):.1f}}pt) label", "only whole numbers are read"),
        ("SCORE: {int(ok)}  PASS: true  (0/1)", "another word than `True` or `False`"),
        ("SCORE: {int(ok):.2f}  PASS: {ok}  ({int(ok):.1f}/{1:.1f})", "reads whole numbers"),
        ("SCORE: {int(ok)} of 1, PASS: {ok}", "is not `SCORE:"),
    ],
)
def test_a_line_of_the_saas_bench_protocol(line: str, reason: str | None, tmp_path: Path) -> None:
    sound = f'print(f"[{TAG}] (1pt) Step 1: the port", file=sys.stderr)\n' + SCORE
    found = saas(tmp_path, f'print(f"{line}", file=sys.stderr)\n' + sound, "malformed-protocol-line")
    assert [reason in message for message in found] == ([True] if reason else []), found


@pytest.mark.parametrize(
    "printed",
    [
        f'print(f"[{TAG}] (1pt) a", end=" ", file=sys.stderr)',
        f'sys.stderr.write(f"[{TAG}] (1pt) a")',
    ],
)
def test_lines_that_run_into_each_other(printed: str, tmp_path: Path) -> None:
    (found,) = saas(tmp_path, printed + "\n" + SCORE, "malformed-protocol-line")
    assert "is not ended" in found


def test_protocol_lines_on_stdout_are_found_where_stderr_has_none(tmp_path: Path) -> None:
    line = f'print(f"[{TAG}] (1pt) Step 1: the port")\n'
    assert "goes to stdout" in saas(tmp_path, line + SCORE, "malformed-protocol-line")[0]


def test_a_copy_of_the_protocol_on_stdout_is_left_alone(tmp_path: Path) -> None:
    code = f'line = f"[{TAG}] (1pt) Step 1: the port"\nprint(line)\nprint(line, file=sys.stderr)\n'
    assert saas(tmp_path, code + SCORE, "malformed-protocol-line") == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("if not ok:\n    sys.exit(1)\nCHECK\nSCORE", 0),  # before the first check: no verdict, and rightly so
        ("CHECK\nif not os.path.exists('/x'):\n    sys.exit(1)\nSCORE", 1),
        ("if ok:\n    CHECK\nelse:\n    sys.exit(1)\nSCORE", 0),
        ("CHECK\nSCORE\nsys.exit(0 if ok else 1)", 0),
        ("CHECK\nif not os.path.exists('/x'):\n    SCORE\n    sys.exit(1)\nSCORE", 0),
        ("print('nothing')", 1),
    ],
)
def test_a_saas_bench_verifier_that_ends_early(code: str, wrong: int, tmp_path: Path) -> None:
    check = f'print(f"[{TAG}] (1pt) Step 1: the port", file=sys.stderr)'
    text = code.replace("CHECK", check).replace(
        "SCORE", SCORE.strip().replace("SC", "SC"), 1 if code.count("SCORE") == 1 else -1
    )
    assert len(saas(tmp_path, text + "\n", "verdict-not-written")) == wrong


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("uv run pytest $TEST_DIR/test_outputs.py -rA", 0),
        ("pytest -v -rap $TEST_DIR/test_outputs.py | tee /tmp/log", 0),
        ("pytest $TEST_DIR/test_outputs.py > /tmp/log -rA\ncat /tmp/log", 0),
        ("pytest $TEST_DIR/test_outputs.py", 1),
        ("make test", 1),
        ("make test && r=PASSED || r=FAILED\necho '==== short test summary info ===='\necho \"$r all\"", 0),
        ("set -e\nmake test\npytest $TEST_DIR/test_outputs.py -rA", 1),
    ],
)
def test_a_legacy_script_prints_a_summary(script: str, wrong: int, tmp_path: Path) -> None:
    root = base_task("terminal-bench", tmp_path / "task")
    (root / "run-tests.sh").write_text("#!/bin/bash\n" + script + "\n")
    assert len(lint(root, "verdict-not-written")) == wrong

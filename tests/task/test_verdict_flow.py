"""How a verdict comes about: which scripts have a constant one, lose a status, leave none, or swallow a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.task.finding import Finding
from scenlint.task.model import Contract, Task
from scenlint.task.verdict_flow import Flow, flows, swallowed_failures
from scenlint.testing import base_task, lint, load_task

REWARD = "/logs/verifier/reward.txt"
CHECK = "python3 -I /tests/test_outputs.py"


def harbor(folder: Path, script: str, **files: str) -> Task:
    """A sound Harbor task with another test.sh; `C` stands for a check and `R` for the reward file."""
    root = base_task("harbor", folder / "task")
    text = script.replace("{C}", CHECK).replace("{R}", REWARD)
    (root / "tests" / "test.sh").write_text("#!/bin/bash\n" + text + "\n")
    for name, content in files.items():
        (root / "tests" / name.replace("_py", ".py").replace("_sh", ".sh")).write_text(content)
    return load_task(root)


def flow(task: Task) -> Flow:
    (only,) = flows(task)
    assert only.complete
    return only


def verdict(task: Task) -> set[str]:
    """What is wrong with the way to the verdict, in words."""
    found = flow(task)
    out = {f"masked {use.mask.kind}" for use in found.masked}
    out |= {"constant"} if found.constant is not None and not found.masked else set()
    out |= {"missing"} if found.missing else set()
    return out | {"swallowed" for _ in swallowed_failures(task)}


BRANCH = "then echo 1 > {R}; else echo 0 > {R}; fi"

SOUND = {
    "if": f"if {{C}}; {BRANCH}",
    "status asked for": f"{{C}}\nif [ $? -eq 0 ]; {BRANCH}",
    "status kept": f"{{C}}\nstatus=$?\necho done\nif [ $status -eq 0 ]; {BRANCH}",
    "double brackets": f"{{C}}\nif [[ $? == 0 ]]; {BRANCH}",
    "arithmetic": f"{{C}}; s=$?\nif (( s == 0 )); {BRANCH}",
    "inverted": "if ! {C}; then echo 0 > {R}; else echo 1 > {R}; fi",
    "not equal": "{C}\nif [ $? -ne 0 ]; then echo 0 > {R}; exit 1; fi\necho 1 > {R}",
    "and or": "{C} && echo 1 > {R} || echo 0 > {R}",
    "zero first": "echo 0 > {R}\n{C} && echo 1 > {R}",
    "variable": "r=0\n{C} && r=1\necho $r > {R}",
    "or status": "s=0\n{C} || s=$?\n[ $s -eq 0 ] && echo 1 > {R} || echo 0 > {R}",
    "case on the status": "{C}\ncase $? in 0) echo 1;; *) echo 0;; esac > {R}",
    "case with two failures": "{C}\ncase $? in\n 0) r=1;;\n 1) r=0;;\n *) r=0;;\nesac\necho $r > {R}",
    "group": "{ if {C}; then echo 1; else echo 0; fi; } > {R}",
    "tee": "if {C}; then echo 1; else echo 0; fi | tee {R} > /dev/null",
    "printf": "{C} && r=1 || r=0\nprintf '%d\\n' \"$r\" > {R}",
    "heredoc": '{C} && r=1 || r=0\ncat > /logs/verifier/reward.json <<EOF\n{"reward": $r}\nEOF',
    "function": 'write() { echo "$1" > {R}; }\nif {C}; then write 1; else write 0; fi',
    "function that ends the script": "fail() { echo 0 > {R}; exit 0; }\n{C} || fail\necho 1 > {R}",
    "exit trap": "set -e\nr=0\ntrap 'echo $r > {R}' EXIT\n{C}\nr=1",
    "exit trap with a function": "set -e\nr=0\ndone_() { echo $r > {R}; }\ntrap done_ EXIT\n{C}\nr=1",
    "trap that fills in": "set -e\ntrap '[ -f {R} ] || echo 0 > {R}' EXIT\n{C}\necho 1 > {R}",
    "trap on errors": "set -e\ntrap 'echo 0 > {R}; exit 1' ERR\n{C}\necho 1 > {R}",
    "set -e and if": f"set -euo pipefail\nif {{C}}; {BRANCH}",
    "set +e around it": f"set -e\nset +e\n{{C}}\ns=$?\nset -e\nif [ $s -eq 0 ]; {BRANCH}",
    "pipefail": f"set -o pipefail\nif {{C}} | tee log; {BRANCH}",
    "pipestatus": f"{{C}} | tee log\nif [ ${{PIPESTATUS[0]}} -eq 0 ]; {BRANCH}",
    "pipe into a search": f"if {{C}} 2>&1 | grep -q OK; {BRANCH}",
    "search in the log": f"{{C}} > log 2>&1\ncat log\nif grep -q OK log; {BRANCH}",
    "output compared": f'out=$(/app/run.sh)\nif [ "$out" = 42 ]; {BRANCH}',
    "moved": "{C} && echo 1 > /tmp/r || echo 0 > /tmp/r\nmv /tmp/r {R}",
    "folder in a variable": "d=${OUT:-/logs/verifier}\n{C} && echo 1 > $d/reward.txt || echo 0 > $d/reward.txt",
    "relative after cd": "cd /logs/verifier\n{C} && echo 1 > reward.txt || echo 0 > reward.txt",
    "loop": f"bad=0\nfor t in a b; do {{C}} $t || bad=1; done\nif [ $bad -eq 0 ]; {BRANCH}",
    "counted": "n=0\nfor t in a b; do {C} $t && n=$((n + 1)); done\necho $n > {R}",
    "the machine's exit": f'if [ "$PWD" = / ]; then exit 1; fi\ncommand -v python3 || exit 1\nif {{C}}; {BRANCH}',
    "setup that fails": f"set -e\napt-get update\ncurl -LsSf https://x/y.sh | sh\nif {{C}}; {BRANCH}",
    "swallowed setup": f"pip install x || true\nif {{C}}; {BRANCH}",
    "report read": f"{{C}} || true\nif grep -q ok /tmp/report; {BRANCH}",
    "printed score": "s=$(python3 /tests/score.py) || s=0\necho $s > {R}",
    "told by a variable": "export REWARD={R}\npython3 /tests/score.py",
    "told by an argument": "python3 /tests/score.py --out {R}",
    "an unseen program": "/opt/grader/run --all",
    "an unseen helper": ". /tests/lib.sh\n{C} && pass || fail",
}  # fmt: skip

UNSOUND = {
    "constant": ("echo 1 > {R}", {"constant"}),
    "constant behind a check": ("{C}\nprintf 1 > {R}", {"constant"}),
    "constant on both branches": ("if {C}; then echo 1 > {R}; else echo 1 > {R}; fi", {"constant"}),
    "constant through a variable": ("r=1\n{C}\necho $r | tee {R}", {"constant"}),
    "constant json": ("{C}\necho '{\"reward\": 1}' > /logs/verifier/reward.json", {"constant"}),
    "constant, failure swallowed": ("{C} || true\necho 1 > {R}", {"constant", "swallowed"}),
    "swallowed and asked for": (f"{{C}} || true\nif [ $? -eq 0 ]; {BRANCH}", {"swallowed"}),
    "swallowed by echo": (f'{{C}} || echo "some failed"\nif [ $? -eq 0 ]; {BRANCH}', {"swallowed"}),
    "pipe": (f"{{C}} | tee log\nif [ $? -eq 0 ]; {BRANCH}", {"masked pipe"}),
    "pipe in the condition": (f"if {{C}} 2>&1 | tee log; {BRANCH}", {"masked pipe"}),
    "pipe in a substitution": (f"out=$({{C}} | tail -n 3)\nif [ $? -eq 0 ]; {BRANCH}", {"masked pipe"}),
    "pipe in bash -c": (f"bash -c '{{C}} | tee log'\nif [ $? -eq 0 ]; {BRANCH}", {"masked pipe"}),
    "pipe under set -e": ("set -e\n{C} | tee log\necho 1 > {R}", {"masked pipe"}),
    "wrong stage": (f"{{C}} | tee log\nif [ ${{PIPESTATUS[1]}} -eq 0 ]; {BRANCH}", {"masked status"}),
    "status of echo": (f"{{C}}\necho done\nif [ $? -eq 0 ]; {BRANCH}", {"masked status"}),
    "status of echo, kept": (f"{{C}}\necho done\ns=$?\nif [ $s -eq 0 ]; {BRANCH}", {"masked status"}),
    "status of the log": (f"{{C}} > log 2>&1\ncat log\nif [ $? -eq 0 ]; {BRANCH}", {"masked status"}),
    "status of local": (f"f() {{ local o=$({{C}}); if [ $? -eq 0 ]; {BRANCH}; }}\nf", {"masked status"}),
    "status of wait": (f"{{C}} &\nwait\nif [ $? -eq 0 ]; {BRANCH}", {"masked status"}),
    "set -e": (f"set -e\n{{C}}\nif [ $? -eq 0 ]; {BRANCH}", {"missing"}),
    "set -e in the first line's stead": ("set -euo pipefail\n{C}\necho 1 > {R}", {"missing"}),
    "early exit": ("[ -f /app/answer.txt ] || exit 1\n{C} && echo 1 > {R} || echo 0 > {R}", {"missing"}),
    "one branch": ("if {C}; then echo 1 > {R}; fi", {"missing"}),
    "left empty": ("{C} && r=1\necho $r > {R}\n: > {R}\n{C} && echo 1 > {R}", {"missing"}),
    "never": ("{C}\nexit $?", {"missing"}),
    "another name": ("{C} && echo 1 > /logs/verifier/rewards.txt", {"missing"}),
    "replaced by exec": (f"exec {{C}}\nif [ $? -eq 0 ]; {BRANCH}", {"missing"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_way_to_the_verdict(name: str, tmp_path: Path) -> None:
    score = "import sys\nprint(sum(1 for _ in open('/app/answer.txt')) / 2)\n"
    if name.startswith("told"):
        score = "import os, sys\nopen(os.environ.get('REWARD') or sys.argv[2], 'w').write(str(len(sys.argv) / 9))\n"
    assert verdict(harbor(tmp_path, SOUND[name], score_py=score)) == set()


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_way_to_the_verdict(name: str, tmp_path: Path) -> None:
    script, wrong = UNSOUND[name]
    assert verdict(harbor(tmp_path, script)) == wrong


def test_a_sourced_helper_is_followed(tmp_path: Path) -> None:
    task = harbor(tmp_path, ". /tests/lib.sh\n{C}\npass", lib_sh=f"pass() {{ echo 1 > {REWARD}; }}\n")
    assert verdict(task) == {"constant"}


def test_a_script_that_a_script_runs_is_followed(tmp_path: Path) -> None:
    task = harbor(
        tmp_path,
        "bash /tests/run.sh",
        run_sh=f"{CHECK} | tee log\n[ $? -eq 0 ] && echo 1 > {REWARD} || echo 0 > {REWARD}\n",
    )
    assert verdict(task) == {"masked pipe"}


OPENS = "ok = open('/app/x').read() == 'a'"
WRITES = "R.write_text(str(int(ok)))"
GRADERS = {
    "breaks off at a missing file": (f"{OPENS}\n{WRITES}", {"missing"}),
    "breaks off in a helper": (
        f"def got():\n    return open('/app/x').read()\n\n\nok = got() == 'a'\n{WRITES}",
        {"missing"},
    ),
    "caught": (f"try:\n    {OPENS}\nexcept OSError:\n    ok = False\n{WRITES}", set()),
    "asked first": (f"p = Path('/app/x')\nok = p.exists() and p.read_text() == 'a'\n{WRITES}", set()),
    "zero first": (f"R.write_text('0')\n{OPENS}\nif ok:\n    R.write_text('1')", set()),
    "in finally": (f"ok = False\ntry:\n    {OPENS}\nfinally:\n    {WRITES}", set()),
    "constant": ("R.write_text('1')", {"constant"}),
    "constant in a function": ("def main():\n    score = 1.0\n    R.write_text(str(score))\n\n\nmain()", {"constant"}),
}


@pytest.mark.parametrize("name", GRADERS)
def test_a_python_grader_that_writes_the_reward(name: str, tmp_path: Path) -> None:
    code, wrong = GRADERS[name]
    grader = f"from pathlib import Path\n\nR = Path('{REWARD}')\n{code}\n"
    assert verdict(harbor(tmp_path, "python3 -I /tests/grade.py", grade_py=grader)) == wrong


def test_a_grader_that_breaks_off_is_harmless_where_the_script_fills_in(tmp_path: Path) -> None:
    code, _ = GRADERS["breaks off at a missing file"]
    grader = f"from pathlib import Path\n\nR = Path('{REWARD}')\n{code}\n"
    task = harbor(tmp_path, "python3 -I /tests/grade.py || echo 0 > {R}", grade_py=grader)
    assert verdict(task) == set()


def test_a_program_that_cannot_fail_decides_nothing(tmp_path: Path) -> None:
    code = "import sys\n\nCASES = []\nsys.exit(0 if all(CASES) else 1)\n"
    assert verdict(harbor(tmp_path, f"if python3 /tests/judge.py; {BRANCH}", judge_py=code)) == {"constant"}


def test_a_program_that_reads_the_logs_may_decide(tmp_path: Path) -> None:
    code = "import json, sys\n\nreport = json.load(open('/logs/verifier/ctrf.json'))\nsys.exit(report['failed'])\n"
    assert verdict(harbor(tmp_path, f"{{C}}\nif python3 /tests/judge.py; {BRANCH}", judge_py=code)) == set()


def test_a_script_with_too_many_paths_is_not_judged(tmp_path: Path) -> None:
    lines = "\n".join(f"if check{n} /app/{n}; then v{n}=1; fi" for n in range(12))
    (found,) = flows(harbor(tmp_path, lines + "\necho 1 > {R}"))
    assert not found.complete
    assert (found.constant, found.missing, found.masked) == (None, [], [])


def test_a_script_that_cannot_be_parsed_is_not_judged(tmp_path: Path) -> None:
    (found,) = flows(harbor(tmp_path, "if then fi"))
    assert not found.complete


def packet(folder: Path, command: str) -> Task:
    import json

    root = base_task("packet", folder / "packet")
    data = json.loads((root / "packet.json").read_text())
    data["verification"]["checks"][0]["command"] = command
    (root / "packet.json").write_text(json.dumps(data, indent=1))
    return load_task(root)


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("test -f answer.txt", set()),
        ('python3 "$SCENLINT_VERIFIER/check_product.py"', set()),
        ("cd . && diff answer.txt want.txt", set()),
        ("diff answer.txt want.txt | head -n 5", set()),  # run with pipefail
        ("diff answer.txt want.txt || exit 1", set()),
        ("diff answer.txt want.txt || true", {"swallowed"}),
        ("diff answer.txt want.txt || echo differs", {"swallowed"}),
        ("diff answer.txt want.txt; exit 0", {"swallowed"}),
        ("set +e; diff answer.txt want.txt; echo checked", {"swallowed"}),
    ],
)
def test_a_packets_check(command: str, wrong: set[str], tmp_path: Path) -> None:
    task = packet(tmp_path, command)
    assert flow(task).contract is Contract.EXIT_STATUS
    assert verdict(task) == wrong


def test_where_a_failure_is_swallowed_and_which(tmp_path: Path) -> None:
    (found,) = swallowed_failures(packet(tmp_path, "diff answer.txt want.txt || true"))
    assert found.span.text == "true"
    assert found.check is not None
    assert found.check.text == "diff answer.txt want.txt"


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
        (
            "except BaseException as exc:\n        if isinstance(exc, LaunchError):\n            raise\n        return 0.0",
            0,
        ),
        ("except:\n        return 0.0", 1),
        ("except (SolutionError, LaunchError):\n        return 0.0", 1),
        ("except LaunchError as exc:\n        return {'score': 0.0, 'passed': False, 'details': str(exc)}", 1),
    ],
)
def test_a_handler_around_the_solution(handler: str, wrong: int, tmp_path: Path) -> None:
    code = f"def verify(p, cases=None):\n    try:\n        return load_solution(p).product([2]) == 2\n    {handler}\n"
    assert len(judge(tmp_path, HEAD + code, "launch-error-caught")) == wrong


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
        ("SCORE: {int(ok)}  PASS: true  (0/1)", "another word than `True` or `False`"),
        ("SCORE: {int(ok):.2f}  PASS: {ok}  ({int(ok):.1f}/{1:.1f})", "reads whole numbers"),
        ("SCORE: {int(ok)} of 1, PASS: {ok}", "is not `SCORE:"),
    ],
)
def test_a_line_of_the_saas_bench_protocol(line: str, reason: str | None, tmp_path: Path) -> None:
    sound = f'print(f"[{TAG}] (1pt) Step 1: the port", file=sys.stderr)\n' + SCORE
    found = saas(tmp_path, f'print(f"{line}", file=sys.stderr)\n' + sound, "malformed-protocol-line")
    assert [reason in message for message in found] == ([True] if reason else []), found


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

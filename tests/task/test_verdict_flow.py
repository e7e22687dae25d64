"""How a verdict comes about: which scripts have a constant one, lose a status, leave none, or swallow a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.task.model import Contract, Task
from scenlint.task.verdict_flow import Flow, flows, swallowed_failures
from scenlint.task.verdict_flow.rewards import reward_problems
from scenlint.testing import base_task, load_task

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


@pytest.mark.parametrize(
    "code",
    [
        "import sys\n\nCASES = []\nsys.exit(0 if all(CASES) else 1)\n",
        "import sys\n\nCASES = []\nsys.exit(0 if sum(c() for c in CASES) == len(CASES) else 1)\n",
        "failed = []\nraise SystemExit(len(failed))\n",
        "def test_answer():\n    assert open('/app/answer.txt').read() == '42'\n",
        "try:\n    assert open('/app/answer.txt').read() == '42'\nexcept Exception as exc:\n    print(exc)\n",
    ],
)
def test_a_program_that_cannot_fail_decides_nothing(code: str, tmp_path: Path) -> None:
    assert verdict(harbor(tmp_path, f"if python3 /tests/judge.py; {BRANCH}", judge_py=code)) == {"constant"}


@pytest.mark.parametrize(
    "code",
    [
        "import runpy\n\nrunpy.run_path('/tests/test_outputs.py')\n",
        "exec(open('/tests/test_outputs.py').read())\n",
        "import subprocess, sys\n\nsys.exit(subprocess.run(['/app/run.sh']).returncode)\n",
        "import pytest, sys\n\nsys.exit(pytest.main(['/tests']))\n",
        "import sys\nsys.path.insert(0, '/app')\nimport answer\n\nassert answer.value() == 42\n",
    ],
)
def test_a_program_that_cannot_be_seen_through_may_decide(code: str, tmp_path: Path) -> None:
    assert verdict(harbor(tmp_path, f"if python3 /tests/judge.py; {BRANCH}", judge_py=code)) == set()


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


@pytest.mark.parametrize(
    ("reward", "problem"),
    [
        ("1.0 if n else 0.0", None),
        ("round(n / 3, 2)", None),
        ("f'{n / 3:.2f}'", None),
        ("n / 3 if n else float('nan')", "not a finite number"),
        ("n / 3 if n else math.nan", "not a finite number"),
        ("'pass' if n else 'fail'", "is not a number"),
        ("f'{n}/3'", "is not a number"),
        ("100 if n == 3 else 0", "outside 0 to 1"),
        ("-1 if not n else 1", "outside 0 to 1"),
        ("None if not n else 1", "is not a number"),
    ],
)
@pytest.mark.parametrize("way", ["printed", "written"])
def test_a_reward_that_is_no_number(reward: str, problem: str | None, way: str, tmp_path: Path) -> None:
    last = "print(reward)" if way == "printed" else f"open('{REWARD}', 'w').write(str(reward))"
    code = f"import math, os\n\nn = len(os.listdir('/app/out'))\nreward = {reward}\n{last}\n"
    run = (
        "r=$(python3 /tests/score.py) || r=0\necho $r > {R}"
        if way == "printed"
        else "echo 0 > {R}\npython3 /tests/score.py"
    )
    found = [why for _, why in reward_problems(harbor(tmp_path, run, score_py=code))]
    assert [problem in why for why in found if problem][:1] == ([True] if problem else [])
    assert problem or not found


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

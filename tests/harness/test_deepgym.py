"""DeepGym verifiers with real processes: the module `deepgym_solution`, the judge around it, and hostile solutions."""

import json
import os
import textwrap
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scenlint.harness import bubblewrap, trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.deepgym_runtime import wire
from scenlint.harness.deepgym_runtime.errors import CallTimeoutError, PatchError, SolutionError, raised
from scenlint.harness.deepgym_runtime.judge import shape_of
from scenlint.harness.deepgym_runtime.patch import apply_patch
from scenlint.harness.engine import Options
from scenlint.harness.identity import Identity
from scenlint.task.plan import (
    SUBMISSION,
    VERIFIER,
    Check,
    Command,
    Limits,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)
from scenlint.task.record import FailureClass, Status, TrialRecord

ROOT = os.geteuid() == 0
LIMITS = Limits(memory_mb=512, storage_mb=256, pids=128)


def plan(
    folder: Path,
    verifier: str,
    solution: str = "",
    *,
    timeout: float = 20,
    support: Mapping[str, str] | None = None,
    mode: str = "auto",
    case: float = 5,
) -> RunPlan:
    folder.mkdir(parents=True, exist_ok=True)
    overlay = []
    for name, text in {"verifier.py": verifier, **(support or {})}.items():
        (folder / name).write_text(textwrap.dedent(text))
        overlay.append(Upload(folder / name, f"{VERIFIER}/{name}"))
    (folder / "reference_solution.py").write_text(textwrap.dedent(solution))
    env = (("SCENLINT_VERIFIER_MODE", mode), ("SCENLINT_CASE_TIMEOUT", str(case)))
    command = Command(("python3", "verifier.py", SUBMISSION), env=env, cwd=VERIFIER, timeout=timeout)
    verify = Verify(
        Where.LOCAL, (Check("verifier.py", command),), Reader.JSON_LINE, tuple(overlay), helper="deepgym_solution"
    )
    step = Step("Solve it.", verify, oracle=Oracle(submission=folder / "reference_solution.py"))
    return RunPlan("product", "deepgym", folder, (step,), limits=LIMITS)


class Judged:
    """One graded solution: the record, and what the verifier printed."""

    def __init__(self, record: TrialRecord, folder: Path) -> None:
        self.record = record
        log = folder / "verify-verifier.py.log"
        self.output = log.read_text("utf-8", "replace") if log.exists() else ""

    @property
    def reward(self) -> float | None:
        return self.record.reward

    @property
    def line(self) -> dict[str, Any]:
        return dict(json.loads([x for x in self.output.splitlines() if x.startswith("{") and x.endswith("}")][-1]))

    @property
    def code(self) -> int | None:
        return next(p.exit_code for p in self.record.phases if p.name == "verify")


@pytest.fixture
def judge(tmp_path: Path):
    def run(verifier: str, solution: str = "", **more: Any) -> Judged:
        folder = tmp_path / f"trial{len(list(tmp_path.iterdir()))}"
        record = trial.run(
            plan(tmp_path / "task", verifier, solution, **more), OracleAgent(), folder, options=Options()
        )
        return Judged(record, folder)

    return run


ADD = """
    from deepgym_solution import SolutionError, load_solution

    def verify(solution_path, test_cases_path=None):
        sol = load_solution(solution_path)
        cases = []
        for a, b in ((2, 3), (-1, 1), (10**30, 1)):
            try:
                passed = sol.add(a, b) == a + b
            except SolutionError as error:
                cases.append({"id": f"{a}+{b}", "passed": False, "error": repr(error)})
            else:
                cases.append({"id": f"{a}+{b}", "passed": passed, "error": None if passed else "wrong"})
        score = sum(c["passed"] for c in cases) / len(cases)
        return {"score": score, "passed": score == 1.0, "cases": cases}
"""


# ---------------------------------------------------------------- the three shapes


def test_right_solution_passes_and_wrong_one_keeps_its_share(judge) -> None:
    good = judge(ADD, "def add(a, b):\n    return a + b\n")
    assert (good.record.status, good.reward, good.code) == (Status.PASSED, 1.0, 0)
    assert [c.passed for c in good.record.checks] == [True, True, True]
    bad = judge(ADD, "def add(a, b):\n    return abs(a) + abs(b)\n")
    assert (bad.record.status, bad.reward, bad.code) == (Status.FAILED, pytest.approx(2 / 3), 1)
    assert [c.passed for c in bad.record.checks] == [True, False, True]


def test_nop_is_an_empty_solution_and_a_command_agent_writes_its_own(tmp_path: Path) -> None:
    task = plan(tmp_path / "task", ADD)
    assert trial.run(task, Nop(), tmp_path / "nop").reward == 0.0
    writes = CommandAgent(("bash", "-c", "echo 'def add(a, b): return a + b' > solution.py"))
    assert trial.run(task, writes, tmp_path / "agent").reward == 1.0
    link = CommandAgent(("bash", "-c", f"ln -s {VERIFIER}/verifier.py solution.py"))
    assert trial.run(task, link, tmp_path / "link").reward == 0.0


BODY = """
    from __future__ import annotations
    from deepgym_solution import load_solution
    sol = load_solution(solution_path)
    return 1.0 if hasattr(sol, "add") and sol.add(2, 3) == 5 else 0.0
"""
SCRIPT = """
    import json, sys
    from deepgym_solution import load_solution

    if __name__ == "__main__":
        ok = load_solution(sys.argv[1]).add(2, 3) == 5
        print("some talk")
        print(json.dumps({"schema_version": "1.0", "score": float(ok), "passed": ok}))
        sys.exit(0 if ok else 1)
"""


@pytest.mark.parametrize("verifier", [ADD, BODY, SCRIPT], ids=["verify_function", "body", "script"])
def test_each_shape_judges(judge, verifier: str) -> None:
    assert judge(verifier, "def add(a, b):\n    return a + b\n").reward == 1.0
    bad = judge(verifier, "def add(a, b):\n    return None\n")
    assert (bad.reward, bad.code) == (0.0, 1)


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("def verify(p, c=None):\n    return 1.0\n", "verify_function"),
        ("def verify(p):\n    return 1\nif __name__ == '__main__':\n    pass\n", "script"),
        ("if '__main__' == __name__:\n    pass\n", "script"),
        ("if __name__ in ('__main__',):\n    pass\n", "body"),
        ("if '__main__' in __name__:\n    pass\n", "body"),
        ("if True:\n    if __name__ == '__main__':\n        pass\n", "body"),
        ("def verify(p):\n    return 1\nreturn 0.5\n", "body"),
        ("x = 1\nreturn x\n", "body"),
        ("async def verify(p):\n    return 1.0\n", "body"),
        ("if TYPE_CHECKING:\n    def verify(p): ...\n", "body"),
        ("x = = 1\n", "body"),
        ("", "body"),
        ("x = '\0'", "body"),
    ],
)
def test_shape_is_told_by_the_syntax_tree(source: str, shape: str) -> None:
    assert shape_of(source.encode()) == shape


def test_stated_shape_is_taken_at_its_word(judge) -> None:
    verifier = "def verify(path):\n    return 0.0\nreturn 1.0\n"
    assert judge(verifier, mode="body").reward == 1.0


# ---------------------------------------------------------------- what is returned

TOUCH = "from deepgym_solution import solution_source\nsolution_source(solution_path)\n"


@pytest.mark.parametrize(
    ("value", "reward", "passed"),
    [
        ("True", 1.0, True),
        ("False", 0.0, False),
        ("0.5", 0.5, True),
        ("0.49", 0.49, False),
        ("1", 1.0, True),
        ("1.0000001", 1.0, True),
        ("{'score': 0.85, 'passed': True, 'details': 'x', 'other': 1}", 0.85, True),
        ("{'score': 0.3, 'passed': False, 'error_type': 'invalid_patch'}", 0.0, False),
    ],
)
def test_return_value_becomes_a_verdict(judge, value: str, reward: float, passed: bool) -> None:
    told = judge(f"return {value}\n")
    assert (told.reward, told.record.harness.reward, told.record.harness.passed) == (reward, reward, passed)
    assert "other" not in told.line


@pytest.mark.parametrize(
    "value",
    [
        *("None", "'1.0'", "float('nan')", "float('inf')", "1.5", "-0.1", "[1]"),
        "{'score': 1, 'passed': 1}",
        "{'score': 1, 'passed': True, 'truncated': 'no'}",
        "{'score': '1', 'passed': True}",
        "{'score': {1}, 'passed': True}",
        "{'score': 1, 'passed': True, 'metrics': {1}}",
    ],
)
def test_what_is_no_verdict_is_the_verifiers_error_until_the_solution_was_consulted(judge, value: str) -> None:
    before = judge(f"return {value}\n")
    assert (before.reward, before.code, before.record.failure_class) == (None, 2, FailureClass.VERIFIER_ERROR)
    after = judge(f"{TOUCH}return {value}\n")
    assert (after.reward, after.code, after.line["error_type"]) == (0.0, 1, "solution_error")


def test_dict_without_passed_is_a_failure_for_the_format_and_a_contradiction_here(judge) -> None:
    told = judge("return {'score': 1.0}\n")
    assert (told.reward, told.record.harness.reward, told.record.harness.passed) == (None, 1.0, False)
    assert "passed: false" in told.record.strict.reason


# ---------------------------------------------------------------- crashes


@pytest.mark.parametrize("crash", ["raise KeyError('x')", "import no_such_module"])
@pytest.mark.parametrize("shape", ["body", "function", "script"])
def test_crash_overrides_what_was_printed(judge, crash: str, shape: str) -> None:
    said = 'print(\'{"score": 1.0, "passed": true}\')\n'
    for consult in (False, True):
        text = said + (TOUCH if consult else "") + crash + "\n"
        if shape == "function":
            text = "def verify(solution_path, cases=None):\n" + textwrap.indent(text, "    ")
        elif shape == "script":
            text = "import sys\nsolution_path = sys.argv[1]\nif __name__ == '__main__':\n" + textwrap.indent(
                text, "    "
            )
        told = judge(text)
        if consult:
            assert (told.reward, told.code, told.line["error_type"]) == (0.0, 1, "solution_error")
        else:
            assert (told.reward, told.code, told.line["error_type"]) == (None, 2, "runtime_error")


def test_a_verifier_that_cannot_be_compiled_is_its_own_fault(judge) -> None:
    told = judge("def verify(path:\n    return 1.0\n")
    assert (told.reward, told.code) == (None, 2)
    assert "SyntaxError" in told.line["details"]


@pytest.mark.parametrize(
    "look",
    [
        "open(solution_path).read()",
        "import os; os.listdir(os.path.dirname(solution_path))",
        "import subprocess, sys; subprocess.run([sys.executable, solution_path])",
        "import runpy; runpy.run_path(solution_path)",
        "import deepgym_solution; deepgym_solution.load_solution(solution_path)",
        "import deepgym_solution; deepgym_solution.run_solution(solution_path)",
    ],
)
def test_solution_counts_as_consulted_however_the_verifier_looks_at_it(judge, look: str) -> None:
    told = judge(
        f"from deepgym_solution import consulted\nassert not consulted()\n{look}\nassert consulted()\nraise KeyError\n"
    )
    assert (told.reward, told.line["error_type"]) == (0.0, "solution_error")
    assert "KeyError" in told.line["details"]


@pytest.mark.parametrize("code", [2, 3, 42])
def test_other_exit_statuses_are_no_verdict_whatever_was_printed(judge, code: int) -> None:
    line = json.dumps({"score": 1.0, "passed": True})
    told = judge(f"import sys\nif __name__ == '__main__':\n    print('{line}')\n    sys.exit({code})\n")
    assert (told.reward, told.record.harness.reward) == (None, None)


def test_killed_verifier_is_no_verdict(judge) -> None:
    told = judge('import os\nprint(\'{"score": 1.0, "passed": true}\', flush=True)\nos.kill(os.getpid(), 9)\n')
    assert (told.reward, told.record.failure_class) == (None, FailureClass.VERIFIER_ERROR)


def test_verifier_that_hangs_is_its_own_fault_until_the_solution_was_consulted(judge) -> None:
    before = judge("while True: pass\n", timeout=1)
    assert (before.reward, before.code, before.line["error_type"]) == (None, 2, "timeout")
    after = judge(f"{TOUCH}while True: pass\n", timeout=1)
    assert (after.reward, after.line["error_type"]) == (0.0, "solution_timeout")
    dead = judge(
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\nwhile True: pass\n", timeout=0.5
    )
    assert (dead.reward, dead.code) == (None, None)


# ---------------------------------------------------------------- load_solution


def test_plain_data_crosses_without_loss_and_subclasses_become_their_base(judge) -> None:
    solution = """
        import collections, enum

        class Text(str):
            def __eq__(self, other): return True
            def __hash__(self): return 0

        class Number(int):
            def __eq__(self, other): return True

        class Colour(enum.IntEnum):
            RED = 7

        Point = collections.namedtuple("Point", "x y")
        VALUE = {"a": [1, 2.5, None, True, b"x", (1, 2), {3}, frozenset([4])], ("k", 1): "v"}
        NAN, INF, BIG, NEG = float("nan"), float("-inf"), 2**4000, -(10**40)

        def echo(*args, **kwargs): return [args, kwargs]
        def odd():
            counted, ordered = collections.Counter("a"), collections.OrderedDict(a=1)
            return [Text("t"), Number(5), Colour.RED, Point(1, 2), ordered, counted]
        def strange(): return ["\\ud800", "\\x00", "ü", ""]
    """
    verifier = """
        from deepgym_solution import load_solution
        s = load_solution(solution_path)
        assert s.VALUE == {"a": [1, 2.5, None, True, b"x", (1, 2), {3}, frozenset([4])], ("k", 1): "v"}
        assert s.NAN != s.NAN and s.INF == float("-inf") and s.BIG == 2**4000 and s.NEG == -(10**40)
        assert s.echo(1, "a", k=[{2}]) == [(1, "a"), {"k": [{2}]}]
        odd = s.odd()
        assert [type(x) for x in odd] == [str, int, int, tuple, dict, dict], odd
        assert odd[0] != "other" and odd[1] != 6 and odd[3] == (1, 2)
        assert s.strange() == ["\\ud800", "\\x00", "ü", ""]
        return 1.0
    """
    assert judge(verifier, solution).reward == 1.0


def test_objects_stay_there_and_are_used_through_handles(judge) -> None:
    solution = """
        class Stack:
            limit = 3
            def __init__(self, items=()): self.items = list(items)
            def push(self, x): self.items.append(x); return self
            def pop(self): return self.items.pop()
            def __len__(self): return len(self.items)
            def __getitem__(self, i): return self.items[i]
            def __iter__(self): return iter(self.items)
            def __contains__(self, x): return x in self.items
            def __eq__(self, other): return True
            def _hidden(self): return 1
            @classmethod
            def of(cls, *items): return cls(items)

        def count(n):
            yield from range(n)

        def total(stack): return sum(stack.items)
        _private = 1
    """
    verifier = """
        from deepgym_solution import SolutionError, load_solution, solution_namespace
        s = load_solution(solution_path)
        stack = s.Stack([1])
        assert stack.push(2).push(3).pop() == 3
        assert len(stack) == 2 and stack[0] == 1 and list(stack) == [1, 2] and 2 in stack and 9 not in stack
        assert stack and stack.limit == 3 and s.Stack.of(4, 5)[1] == 5
        assert stack != 5 and stack != stack.push(1) and stack == stack  # equality is never asked for over there
        assert s.total(stack) == 4
        assert list(s.count(4)) == [0, 1, 2, 3]
        assert dir(s) == ["Stack", "count", "total"] == sorted(solution_namespace(s))
        assert not hasattr(s, "_private") and not hasattr(stack, "_hidden") and not hasattr(s, "nothing")
        try:
            s.total(object())
        except TypeError as error:
            assert not isinstance(error, SolutionError)
        else:
            raise AssertionError("an object crossed")
        return 1.0
    """
    told = judge(verifier, solution)
    assert told.reward == 1.0, told.output


@pytest.mark.parametrize(
    ("body", "caught"),
    [
        ("raise ValueError('bad')", "ValueError"),
        ("raise KeyError('bad')", "KeyError"),
        ("raise UnicodeDecodeError('utf-8', b'', 0, 1, 'bad')", "UnicodeDecodeError"),
        ("raise FileNotFoundError(2, 'bad')", "OSError"),
        ("class E(ZeroDivisionError): pass\n    raise E('bad')", "ZeroDivisionError"),
        ("raise StopIteration('bad')", "StopIteration"),
        ("raise ExceptionGroup('bad', [ValueError()])", "SolutionError"),
        ("raise SystemExit(0)", "SolutionError"),
        ("raise KeyboardInterrupt", "SolutionError"),
        ("import os; os._exit(0)", "SolutionError"),
        ("import os; os.kill(os.getpid(), 9)", "SolutionError"),
        ("import os; os.kill(-1, 9)", "SolutionError"),
        ("import os\n    os.closerange(0, 100)", "SolutionError"),
        ("f()", "RecursionError"),
        ("x = []\n    for _ in range(200): x = [x]\n    return x", "ValueError"),
        ("x = []; x.append(x); return x", "ValueError"),
        ("return bytearray(1 << 29)", "SolutionError"),
        ("return 'x' * (80 << 20)", "ValueError"),
    ],
)
def test_whatever_the_solution_does_is_a_solution_error_of_its_builtin_type(judge, body: str, caught: str) -> None:
    verifier = f"""
        from deepgym_solution import SolutionError, load_solution
        s = load_solution(solution_path)
        try:
            got = s.f()
        except {caught} as error:
            assert isinstance(error, SolutionError)
            return s.g() == 5
        return 0.0
    """
    told = judge(verifier, f"def f():\n    {body}\ndef g():\n    return 5\n")
    assert told.reward == 1.0, told.output


@pytest.mark.parametrize(
    ("solution", "kind"),
    [
        ("def f(:\n", "SyntaxError"),
        ("raise ValueError('at import')", "ValueError"),
        ("import sys; sys.exit(0)", "SolutionError"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("import os; os._exit(0)", "SolutionError"),
        ("\x00", "SolutionError"),
    ],
)
def test_solution_that_cannot_be_loaded(judge, solution: str, kind: str) -> None:
    verifier = f"""
        from deepgym_solution import SolutionError, load_solution
        try:
            load_solution(solution_path)
        except {kind} as error:
            return 0.25 if isinstance(error, SolutionError) else 0.0
        return 0.0
    """
    assert judge(verifier, solution).reward == 0.25
    assert judge("from deepgym_solution import load_solution\nload_solution(solution_path)\n", solution).reward == 0.0


def test_slow_case_is_a_timeout_and_the_next_one_still_counts(judge) -> None:
    verifier = """
        from deepgym_solution import SolutionError, SolutionTimeoutError, load_solution
        s = load_solution(solution_path)
        score = 0
        for n in range(4):
            try:
                score += s.f(n) == n
            except TimeoutError as error:
                assert isinstance(error, SolutionError) and isinstance(error, SolutionTimeoutError)
        return score / 4
    """
    solution = "import time\ndef f(n):\n    if n == 1: time.sleep(60)\n    return n\n"
    began = time.monotonic()
    told = judge(verifier, solution, case=1)
    assert told.reward == 0.75
    assert time.monotonic() - began < 10


def test_uncaught_timeout_is_a_judged_zero(judge) -> None:
    verifier = "from deepgym_solution import load_solution\nreturn load_solution(solution_path).f()\n"
    told = judge(verifier, "def f():\n    while True: pass\n", case=1)
    assert (told.reward, told.code, told.line["error_type"]) == (0.0, 1, "solution_timeout")


def test_calls_share_the_time_of_the_run_and_partial_credit_is_reported_in_time(judge) -> None:
    verifier = """
        from deepgym_solution import SolutionError, load_solution
        s = load_solution(solution_path)
        done = 0
        for n in range(50):
            try:
                done += s.f(n) == n
            except SolutionError:
                pass
        return 0.5 if done else 0.0
    """
    told = judge(verifier, "import time\ndef f(n):\n    time.sleep(0.5)\n    return n\n", timeout=2)
    assert (told.reward, told.code) == (0.5, 0)


def test_load_files_imports_several_and_refuses_paths(judge) -> None:
    verifier = """
        from deepgym_solution import load_files
        main = "from pkg.part import N\\ndef f(): return N\\n"
        s = load_files({"pkg/__init__.py": "", "pkg/part.py": "N = 4\\n", "main.py": main}, "main.py")
        for files, entry in (({"/etc/x": ""}, "/etc/x"), ({"../x.py": ""}, "../x.py"), ({}, "main.py")):
            try:
                load_files(files, entry)
            except ValueError:
                continue
            return 0.0
        return s.f() == 4
    """
    assert judge(verifier).reward == 1.0


# ---------------------------------------------------------------- run_solution


def test_run_solution_runs_it_as_a_script_on_a_copy_of_the_folder(judge) -> None:
    solution = """
        import os, sys, pathlib
        text = sys.stdin.read()
        pathlib.Path("out").mkdir()
        pathlib.Path("out/result.txt").write_text(pathlib.Path("in.txt").read_text().upper() + text)
        os.symlink("result.txt", "out/alias")
        os.remove("in.txt")
        print(sys.argv[1:], sorted(k for k in os.environ if k != "LC_CTYPE"), os.getcwd())
        print("oops", file=sys.stderr)
        sys.exit(3)
    """
    verifier = """
        import pathlib, tempfile
        from deepgym_solution import SolutionError, read_output, read_output_bytes, run_solution
        cwd = tempfile.mkdtemp()
        pathlib.Path(cwd, "in.txt").write_text("abc")
        done = run_solution(solution_path, ["a b", 7], cwd=cwd, env={"X": "1"}, input="in\\n")
        assert done.returncode == 3 and done.stderr == "oops\\n", done
        assert done.stdout == f"['a b', '7'] ['X'] {cwd}\\n", done
        assert read_output("out/result.txt", cwd) == "ABCin\\n"
        assert read_output_bytes("out/result.txt", cwd) == b"ABCin\\n"
        assert not pathlib.Path(cwd, "in.txt").exists()
        for path in ("out/alias", "../etc/passwd", "/etc/passwd", "out", "nothing"):
            try:
                read_output(path, cwd)
            except SolutionError:
                continue
            raise AssertionError(path)
        done = run_solution(solution_path, input=b"")
        assert type(done.stderr) is bytes and done.returncode == 1
        return 1.0
    """
    told = judge(verifier, solution)
    assert told.reward == 1.0, told.output


def test_run_solution_that_hangs_leaves_a_timeout_of_both_kinds(judge) -> None:
    verifier = """
        import subprocess
        from deepgym_solution import SolutionTimeoutError, run_solution
        try:
            run_solution(solution_path, timeout=1)
        except subprocess.TimeoutExpired as error:
            return isinstance(error, SolutionTimeoutError) and b"begun" in error.output
    """
    told = judge(verifier, "import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    assert told.reward == 1.0, told.output


def test_run_solution_reaches_the_verifiers_server_and_nothing_else(judge) -> None:
    verifier = """
        import http.server, threading
        from deepgym_solution import run_solution
        class Hello(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
            def log_message(self, *args): pass
        servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello) for _ in range(2)]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        ports = [server.server_address[1] for server in servers]
        done = run_solution(solution_path, ports, loopback_port=ports[0])
        assert done.stdout.split() == ["hello", "hello", "refused", "refused"], done
        assert run_solution(solution_path, ports).stdout.split() == ["refused"] * 4
        return 1.0
    """
    solution = """
        import sys, urllib.request
        for port in sys.argv[1:]:
            for _ in range(2):
                try:
                    print(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read().decode())
                except OSError:
                    print("refused")
    """
    told = judge(verifier, solution)
    assert told.reward == 1.0, told.output


def test_solution_source_reads_without_running(judge) -> None:
    verifier = """
        from deepgym_solution import SolutionError, solution_source
        assert "raise SystemExit" in solution_source(solution_path)
        assert solution_source(solution_path, "f") == "def f():\\n    return 1"
        try:
            solution_source(solution_path, "g")
        except LookupError as error:
            return isinstance(error, SolutionError)
    """
    assert judge(verifier, "raise SystemExit\ndef f():\n    return 1\n").reward == 1.0


# ---------------------------------------------------------------- patches

TEXT = "one\ntwo\nthree\nfour\n"


def diff(*lines: str, name: str = "a.txt") -> str:
    return "\n".join([f"--- a/{name}", f"+++ b/{name}", *lines]) + "\n"


@pytest.mark.parametrize(
    ("lines", "want"),
    [
        (["@@ -1,2 +1,2 @@", " one", "-two", "+TWO"], "one\nTWO\nthree\nfour\n"),
        (["@@ -2 +2 @@", "-two", "+2"], "one\n2\nthree\nfour\n"),
        (["@@ -4,0 +5,1 @@", "+five"], "one\ntwo\nthree\nfour\nfive\n"),
        (["@@ -0,0 +1 @@", "+zero"], "zero\none\ntwo\nthree\nfour\n"),
        (["@@ -1,1 +0,0 @@", "-one", "@@ -3,2 +2,2 @@ def f", " three", "-four", "+4"], "two\nthree\n4\n"),
        (["@@ -4 +4 @@", "-four", "+four", "\\ No newline at end of file"], "one\ntwo\nthree\nfour"),
    ],
)
def test_patch_applies_exactly(lines: list[str], want: str) -> None:
    files = {"a.txt": TEXT, "b.txt": "same"}
    assert apply_patch(diff(*lines), files) == {"a.txt": want, "b.txt": "same"}
    assert files["a.txt"] == TEXT


@pytest.mark.parametrize(
    ("patch", "error_type"),
    [
        ("", "invalid_patch"),
        ("hello\n", "invalid_patch"),
        (diff(), "invalid_patch"),
        (diff("@@ -1 +1 @@", "-wrong", "+x"), "patch_apply_failed"),
        (diff("@@ -3 +3 @@", "-two", "+x"), "patch_apply_failed"),  # two lines off
        (diff("@@ -9 +9 @@", "-two", "+x"), "patch_apply_failed"),
        (diff("@@ -2 +2 @@", "-two", "+x", "@@ -1 +1 @@", "-one", "+y"), "patch_apply_failed"),
        (diff("@@ -1,3 +1,3 @@", " one", "-two", "+x"), "invalid_patch"),
        (diff("@@ nonsense @@", "-two"), "invalid_patch"),
        (diff("@@ -1 +1 @@", "-one", "+x", name="missing.txt"), "patch_apply_failed"),
        (diff("@@ -1 +1 @@", "-one", "+x", name="../a.txt"), "invalid_patch"),
        (diff("@@ -1 +1 @@", "-one", "+x").replace("+++ b/a.txt", "+++ b/c.txt"), "invalid_patch"),
        (diff("@@ -1 +1 @@", "-one", "+x").replace("+++ b/a.txt", "+++ /dev/null"), "invalid_patch"),
        ("deleted file mode 100644\n" + diff("@@ -1 +1 @@", "-one", "+x"), "invalid_patch"),
        ("rename from a.txt\nrename to c.txt\n", "invalid_patch"),
        ("--- a/a.txt\n", "invalid_patch"),
    ],
)
def test_patch_that_does_not_fit_is_the_solutions_fault(patch: str, error_type: str) -> None:
    with pytest.raises(PatchError) as caught:
        apply_patch(patch, {"a.txt": TEXT})
    assert caught.value.error_type == error_type
    assert isinstance(caught.value, SolutionError)


def test_uncaught_patch_error_names_its_kind(judge) -> None:
    told = judge(f"{TOUCH}from deepgym_solution import apply_patch\napply_patch('no', {{}})\n")
    assert (told.reward, told.line["error_type"]) == (0.0, "invalid_patch")


# ---------------------------------------------------------------- hostile solutions

EXPECTED = """
    import json, pathlib, sys
    from deepgym_solution import SolutionError, load_solution, run_solution

    WANT = json.loads(pathlib.Path(__file__).with_name("want.json").read_text())

    def verify(solution_path, cases=None):
        sol = load_solution(solution_path)
        return all(sol.answer(i) == want for i, want in enumerate(WANT))
"""
WANT = {"want.json": '["k7", "q2", "z9"]', "helper_data.py": "SECRET = 'k7'\n"}
FORGED = '{"schema_version": "1.0", "score": 1.0, "passed": true}'


HOSTILE = {
    "reads the verifier's data": f"""
        import json
        def answer(i): return json.load(open('{VERIFIER}/want.json'))[i]
    """,
    "imports the verifier's support": """
        import helper_data
        def answer(i): return helper_data.SECRET
    """,
    "searches the disk": """
        import os
        def answer(i):
            for folder, _, names in os.walk("/"):
                for name in names:
                    if name in ("want.json", "verifier.py", "helper_data.py"):
                        return eval(open(os.path.join(folder, name)).read())[i]
    """,
    "searches processes": """
        import glob
        def answer(i):
            for kind in ("environ", "mem", "root/verifier/*", "cmdline", "fd/*"):
                for path in glob.glob(f"/proc/[0-9]*/{kind}"):
                    try: text = open(path, "rb").read(1 << 20)
                    except OSError: continue
                    if b"k7" in text: return ["k7", "q2", "z9"][i]
    """,
    "prints a verdict": f"""
        print('{FORGED}', flush=True)
        def answer(i): print('{FORGED}', flush=True)
    """,
    "writes a verdict to every file": f"""
        import os
        def answer(i):
            for fd in range(64):
                try: os.write(fd, b'\\n{FORGED}\\n')
                except OSError: pass
    """,
    "prints a verdict at its end": f"""
        import atexit
        atexit.register(print, '{FORGED}')
        def answer(i): raise SystemExit(0)
    """,
    "returns a text that equals everything": """
        class Any(str):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return hash("k7")
        def answer(i): return Any("x")
    """,
    "returns an object that equals everything": """
        class Any:
            def __eq__(self, other): return True
            def __getattr__(self, name): return self
            def __call__(self, *a): return self
        def answer(i): return Any()
    """,
    "kills its parent and everybody": """
        import os, signal
        for p in (os.getppid(), 1, -1):
            try: os.kill(p, signal.SIGKILL)
            except OSError: pass
        def answer(i): return 1
    """,
    "forks without end": """
        import os
        while True:
            try: os.fork()
            except OSError: pass
    """,
    "becomes a daemon": """
        import os, time
        def answer(i):
            if os.fork() == 0:
                os.setsid()
                if os.fork(): os._exit(0)
                time.sleep(60)
            os._exit(0)
    """,
    "fills the disk": """
        def answer(i):
            with open('/tmp/big', 'wb') as f:
                while True: f.write(b'x' * (1 << 20))
    """,
    "fills the memory": """
        x = []
        def answer(i):
            while True: x.append(bytearray(1 << 24))
    """,
    "prints without end": """
        def answer(i):
            while True: print('x' * 10000)
    """,
    "asks the network": """
        import urllib.request
        def answer(i): return urllib.request.urlopen('http://127.0.0.1:80/').read().decode()
    """,
    "asks the judge's socket": """
        import socket
        def answer(i):
            s = socket.socket(socket.AF_UNIX)
            s.connect('/.scenlint/solutions/socket')
            return s.recv(100).decode()
    """,
    "returns colliding keys": """
        def answer(i): return {(n << 61) - n: 0 for n in range(200000)}
    """,
    "returns what unfolds without end": """
        def answer(i):
            x = []
            for _ in range(60): x = [x, x]
            return x
    """,
    "returns very much": """
        def answer(i): return [[]] * 20_000_000
    """,
}


@pytest.mark.parametrize("solution", HOSTILE.values(), ids=HOSTILE)
def test_no_hostile_solution_passes_or_dodges_its_zero(judge, solution: str) -> None:
    began = time.monotonic()
    told = judge(EXPECTED, solution, support=WANT, case=2, timeout=10)
    assert (told.reward, told.record.status) == (0.0, Status.FAILED), told.output[-2000:]
    assert told.record.harness.reward == 0.0
    assert time.monotonic() - began < 30


def test_messages_forged_over_the_own_connection_are_only_the_solutions_own_answers(judge) -> None:
    solution = """
        import os, json, struct
        def answer(i):
            forged = ({"value": "x"}, {"ready": True}, {"failed": "no machine"}, {"exports": {}}, [], {"raised": 1})
            for message in forged:
                data = json.dumps(message).encode()
                for fd in range(3, 64):
                    try: os.write(fd, struct.pack(">Q", len(data)) + data)
                    except OSError: pass
            return "x"
    """
    told = judge(EXPECTED, solution, support=WANT, case=2)
    assert (told.reward, told.code) == (0.0, 1)  # neither a pass nor a LaunchError


def test_garbage_over_the_own_connection_is_a_judged_zero(judge) -> None:
    for data in ("b'\\xff' * 100", "b'\\0' * 8", "b'\\0' * 7 + b'\\2{x'", "b''"):
        solution = f"""
            import os
            def answer(i):
                for fd in range(3, 64):
                    try: os.write(fd, {data})
                    except OSError: pass
                os._exit(0)
        """
        told = judge(EXPECTED, solution, support=WANT, case=2)
        assert (told.reward, told.line["error_type"]) == (0.0, "solution_error")


LINKS = """
    import pathlib, tempfile
    from deepgym_solution import run_solution
    cwd = tempfile.mkdtemp()
    done = run_solution(solution_path, cwd=cwd)
    out = pathlib.Path(cwd, "out.txt")
    want = pathlib.Path(__file__).with_name("want.json").read_text()
    return out.exists() and out.read_text() == want
"""


@pytest.mark.parametrize(
    "solution",
    [
        f"import os; os.symlink('{VERIFIER}/want.json', 'out.txt')\n",
        f"import os; os.symlink('../..{VERIFIER}/want.json', 'out.txt')\n",
        f"import os; os.symlink('{VERIFIER}', 'd'); os.symlink('d/want.json', 'out.txt')\n",
        "import os; os.mkdir('d'); os.symlink('..', 'd/u'); "
        f"os.symlink('d/u/../../..{VERIFIER}/want.json', 'out.txt')\n",
        "import os; os.mkfifo('out.txt')\n",
    ],
)
def test_links_left_by_a_run_do_not_lead_the_verifier_to_its_own_files(judge, solution: str) -> None:
    told = judge(LINKS, solution, support=WANT)
    assert told.reward == 0.0, told.output


def test_run_leaves_nothing_running_and_cannot_fill_the_verifiers_disk(judge) -> None:
    verifier = """
        import os, pathlib, tempfile, time
        from deepgym_solution import SolutionError, run_solution
        cwd = tempfile.mkdtemp()
        done = run_solution(solution_path, ["daemon"], cwd=cwd)
        assert done.returncode == 0
        time.sleep(1)
        assert not pathlib.Path(cwd, "late").exists()
        try:
            run_solution(solution_path, ["fill"], cwd=cwd)
        except SolutionError:
            return sum(f.stat().st_size for f in pathlib.Path(cwd).iterdir()) < 1 << 20
    """
    solution = """
        import os, sys, time
        if sys.argv[1] == "daemon":
            if os.fork() == 0:
                os.setsid()
                time.sleep(0.5)
                open("late", "w").close()
        else:
            for n in range(60):
                with open(f"f{n}", "wb") as f: f.write(b"x" * (1 << 20))
    """
    told = judge(verifier, solution)
    assert told.reward == 1.0, told.output


@pytest.mark.skipif(not ROOT, reason="root makes sandboxes in both ways")
def test_it_works_in_user_namespaces_too(judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "identity", Identity)
    assert judge(ADD, "def add(a, b):\n    return a + b\n").reward == 1.0
    assert judge(EXPECTED, f"def answer(i): return open('{VERIFIER}/want.json')\n", support=WANT).reward == 0.0


def test_a_machine_that_cannot_start_the_solution_is_no_verdict(judge) -> None:
    verifier = """
        from deepgym_solution import SolutionError, load_solution
        from deepgym_runtime.process import SESSION
        SESSION.socket = "/nonexistent"
        try:
            load_solution(solution_path)
        except Exception:
            return 1.0
    """
    told = judge(verifier)
    assert (told.reward, told.code, told.line["error_type"]) == (None, 2, "sandbox_error")


def test_two_trials_at_once_do_not_meet(tmp_path: Path) -> None:
    rewards: dict[int, float | None] = {}

    def one(n: int) -> None:
        task = plan(tmp_path / f"task{n}", ADD, f"def add(a, b):\n    return a + b + {n % 2}\n")
        rewards[n] = trial.run(task, OracleAgent(), tmp_path / f"trial{n}").reward

    threads = [threading.Thread(target=one, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rewards == {0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0}


def test_nothing_of_a_trial_is_left(judge, tmp_path: Path) -> None:
    told = judge(ADD, "def add(a, b):\n    return a + b\n")
    assert told.reward == 1.0
    assert [p for p in tmp_path.rglob("*") if p.name in ("sandbox", "socket", "want.json")] == []


# ---------------------------------------------------------------- the wire by itself


def no_handle(data: dict[str, Any]) -> Any:
    raise AssertionError(data)


@pytest.mark.parametrize(
    "data",
    [
        *({}, {"x": 1}, {"t": 1}, {"t": [], "s": []}, {"i": "12g"}, {"i": 5}, {"b": "*"}, {"f": "1"}),
        *({"d": [1]}, {"d": [[1, 2, 3]]}, {"d": [[{"d": []}, 1]]}, {"s": [[]]}),
    ],
)
def test_values_of_no_known_kind_are_garbage(data: Any) -> None:
    with pytest.raises(wire.GarbageError):
        wire.decode(data, no_handle)


def test_colliding_keys_end_at_the_deadline() -> None:
    data = {"d": [[(n << 61) - n, 0] for n in range(100_000)]}
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        wire.decode(data, no_handle, time.monotonic() + 0.5)
    assert time.monotonic() - began < 3


def test_errors_are_also_what_the_solution_raised() -> None:
    for base in ("ValueError", "KeyError", "OSError", "UnicodeEncodeError", "SyntaxError", "StopIteration"):
        error = raised("Own", base, "text")
        assert isinstance(error, SolutionError)
        assert type(error).__mro__[2].__name__ == base
        assert str(error) == "Own: text"
    assert isinstance(raised("TimeoutError", "TimeoutError", ""), CallTimeoutError)
    for base in (
        "SystemExit",
        "KeyboardInterrupt",
        "BaseException",
        "print",
        "__import__",
        "ExceptionGroup",
        "nonsense",
    ):
        assert type(raised("Own", base, "text")) is SolutionError

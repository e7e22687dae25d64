"""The commands of a task are found wherever they stand: RUNs, scripts that scripts call, and Python's subprocesses."""

from __future__ import annotations

from pathlib import Path

from scenlint.source.text import Fragment, Source
from scenlint.task.model import Task
from scenlint.task.runs import build_runs, oracle_runs, verifier_runs
from scenlint.task.subprocesses import started
from scenlint.testing import base_task, load_task


def task_with(tmp_path: Path, **files: str) -> Task:
    folder = base_task("harbor", tmp_path / "task")
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_task(folder)


def lines(code: str) -> list[str]:
    return [f.text for f in started(Fragment.of(Source(Path("t.py"), code.encode()), "python"))]


def test_run_steps_of_the_stages_in_use_and_the_scripts_they_call(tmp_path: Path) -> None:
    task = task_with(
        tmp_path,
        environment__Dockerfile="FROM a AS unused\nRUN one\nFROM b\nARG V=2\n"
        "COPY setup.sh /opt/\nRUN bash /opt/setup.sh && two\n",
        environment__setup_dot_sh="three\n",
    )
    runs = list(build_runs(task))
    assert [(r.command.program, r.script.path.name) for r in runs] == [
        ("bash", "Dockerfile"),
        ("three", "setup.sh"),
        ("two", "Dockerfile"),
    ]
    assert all(r.variables == {"V": "2"} for r in runs)
    assert {r.instruction.span.line for r in runs if r.instruction} == {6}


def test_verifier_scripts_are_followed(tmp_path: Path) -> None:
    task = task_with(
        tmp_path,
        tests__test_dot_sh='#!/bin/bash\nsource "$(dirname "$0")/lib.sh"\npython3 /tests/extra.py\n',
        tests__lib_dot_sh="two\n",
        tests__extra_dot_py='import subprocess\nsubprocess.run(["three", "x y"])\n',
        tests__never_dot_sh="four\n",
    )
    found = {(r.command.program, r.script.path.name) for r in verifier_runs(task)}
    assert ("two", "lib.sh") in found
    assert ("three", "extra.py") in found
    assert all(program != "four" for program, _ in found)


def test_scripts_that_call_each_other_end(tmp_path: Path) -> None:
    task = task_with(
        tmp_path,
        tests__test_dot_sh="bash /tests/a.sh\n",
        tests__a_dot_sh="bash /tests/b.sh\n",
        tests__b_dot_sh="bash /tests/a.sh\n",
    )
    assert [r.command.program for r in verifier_runs(task) if r.script.path.name != "test_outputs.py"] == ["bash"] * 3


def test_oracle_and_its_python(tmp_path: Path) -> None:
    task = task_with(
        tmp_path,
        solution__solve_dot_sh="python3 - <<'PY'\nimport os\nos.system('one two')\nPY\npython3 /solution/more.py\n",
        solution__more_dot_py="import subprocess\nsubprocess.check_call('three', shell=True)\n",
    )
    assert [r.command.program for r in oracle_runs(task)] == ["python3", "one", "python3", "three"]


def test_commands_of_python_code() -> None:
    assert lines("import subprocess\nsubprocess.run(['pip', 'install', 'a b'])\n") == ["pip install 'a b'"]
    assert lines("from subprocess import run as go\ngo('x && y', shell=True)\n") == ["x && y"]
    assert lines("import sys, subprocess as s\ns.Popen([sys.executable, '-m', 'pip'])\n") == ["python3 -m pip"]
    assert lines("import os\nCMD = ['a', 'b']\nos.popen(CMD)\n") == ["a b"]
    assert lines("import shlex, subprocess\nsubprocess.call(shlex.split('a b'))\n") == ["a b"]
    assert lines("print('subprocess', run('x'))\n") == []


def test_a_function_that_runs_what_it_gets_is_seen_through() -> None:
    code = "import subprocess\ndef sh(command):\n    return subprocess.run(command, shell=True)\nsh('one')\n"
    assert lines(code) == ["one"]


def test_unknown_parts_of_a_command_stay_unknown() -> None:
    (line,) = lines("import subprocess\nsubprocess.run(f'pip install {name}', shell=True)\n")
    assert line.startswith("pip install $")


def test_places_lead_back_into_the_code() -> None:
    code = 'import subprocess\nsubprocess.run(["é", "install", "x"])\nsubprocess.run("one two", shell=True)\n'
    first, second = started(Fragment.of(Source(Path("t.py"), code.encode()), "python"))
    at = first.text.index("install")
    assert first.span(at, at + 7).text == "install"
    assert second.span(4, 7).text == "two"
    assert second.span(4, 7).line == 3

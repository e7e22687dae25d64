"""DeepGym: which folders are tasks, the shape of a verifier, support files, sessions and patches."""

import json
from pathlib import Path

import pytest

from scenlint.formats.deepgym import FORMAT, verifier_shape
from scenlint.source.text import Fragment, Source
from scenlint.task.model import Contract, Isolation, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task


def claimed(folder: Path) -> bool:
    return bool(FORMAT.find(folder, frozenset(p.name for p in folder.iterdir())))


def load(folder: Path) -> Task:
    (ref,) = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    return FORMAT.load(ref, Policy())


@pytest.fixture
def folder(tmp_path):
    return base_task("deepgym", tmp_path / "product")


def describe(folder: Path, **changes) -> None:
    path = folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("lost", ["verifier.py", "reference_solution.py", "metadata.json"])
def test_a_task_that_lost_one_file_is_still_one(folder, lost):
    (folder / lost).unlink()
    assert claimed(folder)


@pytest.mark.parametrize(
    "files",
    [
        {"task.md": "Buy milk", "verifier.py": "class EmailVerifier: pass\n"},
        {"task.md": "x", "verifier.py": "def verify(): ...", "task.toml": ""},
        {"task.md": "x"},
        {"verifier.py": "def verify(solution_path): ...", "metadata.json": "{}"},
    ],
)
def test_lookalikes_are_left_alone(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert not claimed(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"support_files": "x", "type": [], "timeout": "1"}', '{"support_files": [1, ""]}']
)
def test_odd_metadata_are_read_without_a_crash(folder, text):
    (folder / "metadata.json").write_text(text)
    assert load(folder).verifier.graders[0].missing == []


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        ("def verify(p, c=None):\n    return 1.0\n", "verify_function"),
        ("if __name__ == '__main__':\n    print(1)\n", "script"),
        ("def verify(p): ...\nif '__main__' == __name__:\n    print(1)\n", "script"),
        ("return 1.0\n", "body"),
        ("def verify(p): ...\nreturn 1.0\n", "body"),
        ("async def verify(p):\n    return 1.0\n", "body"),
        ("if True:\n    def verify(p): ...\n", "body"),
        ("if '__main__' in __name__:\n    print(1)\n", "body"),
        ("def verify(:\n", "body"),
    ],
)
def test_the_shape_of_a_verifier_is_told_by_its_top_level(code, shape):
    script = Fragment.of(Source(Path("verifier.py"), code.encode()), "python")
    assert verifier_shape(script) == shape
    assert verifier_shape(script, "auto") == shape
    assert verifier_shape(script, "script") == "script"


def test_the_judge_and_its_support_files(folder):
    (folder / "cases.py").write_text("CASES = []\n")
    (folder / "cases.json").write_text("[]\n")
    shared = folder.parent / "_shared"
    shared.mkdir()
    (shared / "scoring.py").write_text("def score(): ...\n")
    describe(
        folder, support_files=["cases.py", "cases.json", "../_shared/scoring.py", "gone.py", "../gone.py"], timeout=12
    )
    task = load(folder)
    grader = task.verifier.graders[0]
    assert (task.verifier.contract, task.verifier.isolation) == (Contract.JSON_LINE, Isolation.JUDGE)
    assert (grader.kind, grader.timeout.value) == ("verify_function", 12)
    assert {f.path.name for f in task.verifier.files} == {"verifier.py", "cases.py", "cases.json", "scoring.py"}
    assert task.verifier.truth == ["cases.json"]
    assert [(v.value, v.span.text) for v in grader.missing] == [
        ("gone.py", '"gone.py"'),
        ("../gone.py", '"../gone.py"'),
    ]


def test_the_agent_of_a_single_turn_sees_no_files_and_that_of_a_session_sees_the_rest(folder):
    (folder / "buggy.py").write_text("x = 1\n")
    assert load(folder).environment.files == []
    describe(folder, type="multi-turn", max_steps=4, timeout_per_step=15)
    task = load(folder)
    assert task.environment.files == ["buggy.py"]
    assert {limit.name: limit.value.value for limit in task.budget.limits} == {"verifier": 30.0, "agent": 60.0}


def test_without_metadata_the_folder_names_the_task(folder):
    (folder / "metadata.json").unlink()
    task = load(folder)
    assert task.id == "product"
    assert task.lacks(Role.METADATA)
    assert task.requirements
    assert all(r.met for r in task.requirements)


def test_a_patch_of_tests_grades_a_repository(folder):
    (folder / "verifier.py").unlink()
    (folder / "test_patch.diff").write_text("--- a/t.py\n+++ b/t.py\n")
    (folder / "reference_solution.py").rename(folder / "reference_solution.diff")
    describe(folder, image="repo:1", test_command="pytest -q", repo_dir="/repo")
    task = load(folder)
    (grader,) = task.verifier.graders
    assert (grader.kind, [a.value for a in grader.argv]) == ("test_patch", ["pytest -q"])
    assert task.verifier.isolation is Isolation.SEPARATE
    assert task.environment.images[0].reference == "repo:1"
    assert task.oracle.entry.language == "diff"
    assert all(r.met for r in task.requirements)


def test_a_missing_reference_leaves_a_place_without_an_oracle(folder):
    (folder / "reference_solution.py").unlink()
    task = load(folder)
    assert task.oracle_place == "reference_solution.py"
    assert "missing" in task.lacks(Role.ORACLE)


def test_a_task_that_lost_its_prompt_or_its_verifier_is_still_one(folder):
    (folder / "task.md").unlink()
    assert claimed(folder)
    assert [r.path for r in load(folder).requirements if not r.met] == ["task.md"]
    (folder / "verifier.py").write_text("print('no judge')\n")
    assert not claimed(folder)

"""Terminal-Bench tasks before Harbor: which folders are some, and what is read from them."""

from pathlib import Path

import pytest

from scenlint.formats.terminal_bench import FORMAT
from scenlint.task.model import Contract, Place, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task


def claimed(folder: Path) -> bool:
    return bool(FORMAT.find(folder, frozenset(p.name for p in folder.iterdir())))


def load(folder: Path) -> Task:
    (ref,) = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    return FORMAT.load(ref, Policy())


@pytest.fixture
def folder(tmp_path):
    return base_task("terminal-bench", tmp_path / "product")


@pytest.mark.parametrize(
    "lost", ["task.yaml", "run-tests.sh", "solution.sh", "docker-compose.yaml", "tests", "Dockerfile"]
)
def test_a_task_that_lost_one_part_is_still_one(folder, lost):
    (folder / lost).rename(folder.parent / lost)
    assert claimed(folder)


def test_broken_yaml_hides_no_task(folder):
    (folder / "task.yaml").write_text("instruction: [\n\t: x")
    assert claimed(folder)
    assert load(folder).lacks(Role.BRIEF) == "task.yaml states no instruction that could be read"


@pytest.mark.parametrize(
    "files",
    [
        {
            "task.yaml": "version: '3'\ntasks:\n  build: make\n",
            "Dockerfile": "",
            "docker-compose.yaml": "",
            "tests": "",
        },
        {"task.yaml": "version: '3'\ntasks:\n  test: ./run-tests.sh\n", "run-tests.sh": ""},
        {"task.yaml": "id: a\nname: b\ninputs: {prompt: x}\n"},
        {"task.yaml": "instruction: x\n"},
        {"run-tests.sh": "", "Dockerfile": ""},
        {"task.yaml": "instruction: x\n", "run-tests.sh": "", "task.toml": ""},
    ],
)
def test_lookalikes_are_left_alone(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert not claimed(tmp_path)


def test_every_role(folder):
    task = load(folder)
    assert all(r.met for r in task.requirements)
    assert {r for r in Role if task.lacks(r)} == {Role.STEPS, Role.SITES}
    brief = task.briefs[0].prose
    assert brief.text.startswith("/app/factors.txt holds whole numbers")
    assert brief.span(0, len("/app/factors.txt")).line == 2
    assert brief.span(0, len("/app/factors.txt")).text == "/app/factors.txt"
    (build,) = task.environment.builds
    assert (build.context, build.place, build.service) == ("", Place.AGENT, "client")
    assert task.environment.files == ["Dockerfile", "factors.txt"]
    assert task.environment.workdir == "/app"
    verifier = task.verifier
    assert verifier.contract is Contract.TEST_SUMMARY
    assert (verifier.folder, verifier.mount) == ("tests", "/tests")
    assert [f.path.name for f in verifier.files] == ["run-tests.sh", "test_outputs.py"]
    assert verifier.env["TEST_DIR"].value == "/tests"
    assert task.oracle.entry.path.name == "solution.sh"
    assert [(x.name, x.value.value) for x in task.budget.limits] == [("agent", 300.0), ("verifier", 60.0)]


def test_a_folded_brief_leads_back_to_its_lines(folder):
    (folder / "task.yaml").write_text("difficulty: easy\ninstruction: >\n  Write é\n  to /app/x.\n\n  Then stop.\n")
    prose = load(folder).briefs[0].prose
    assert prose.text == "Write é to /app/x.\nThen stop.\n"
    at = prose.text.index("/app/x")
    assert (prose.span(at).line, prose.span(at).column) == (4, 6)


def test_limits_that_are_not_set_are_the_formats(folder):
    (folder / "task.yaml").write_text("instruction: x\ndifficulty: easy\n")
    assert [(x.value.value, x.value.span) for x in load(folder).budget.limits] == [(360, None), (60, None)]


def test_a_solution_in_yaml_is_read_command_by_command(folder):
    (folder / "solution.sh").unlink()
    (folder / "solution.yaml").write_text('- command: "echo \\"a\\""\n  min_timeout_sec: 1\n- command: |\n    exit 0\n')
    oracle = load(folder).oracle
    assert [(f.text, f.language) for f in oracle.files] == [('echo "a"', "shell"), ("exit 0\n", "shell")]
    assert oracle.files[1].span().line == 4


def test_what_is_missing_is_named(folder):
    for name in ("docker-compose.yaml", "run-tests.sh"):
        (folder / name).unlink()
    task = load(folder)
    assert [r.path for r in task.requirements if not r.met] == ["docker-compose.yaml", "run-tests.sh"]
    assert task.lacks(Role.ENVIRONMENT) == "docker-compose.yaml is missing or cannot be read"


def test_a_missing_dockerfile_is_named(folder):
    (folder / "Dockerfile").unlink()
    assert [r.path for r in load(folder).requirements if not r.met] == ["Dockerfile"]


def test_a_file_that_no_build_copies_is_not_known(folder):
    (folder / "notes.txt").write_text("x")
    assert "notes.txt" not in load(folder).known_files
    assert "factors.txt" in load(folder).known_files
    dockerfile = folder / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text().replace("COPY factors.txt /app/factors.txt", "COPY . /app"))
    assert "notes.txt" in load(folder).known_files

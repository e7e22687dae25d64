"""Copies of hidden files in the agent's image are found by what they say, not by what they are called."""

from __future__ import annotations

from pathlib import Path

from scenlint.task.leaks import ANSWERLIKE, copies, fingerprint, in_briefs
from scenlint.task.model import Task
from scenlint.testing import base_task, lint, load_task

ROWS = "id,name,amount\n1,alpha,1250\n2,beta,975\n3,gamma,3100\n4,delta,18\n"
SHUFFLED = "id,name,amount\n4,delta,18\n2,beta,975\n1,alpha,1250\n3,gamma,3100\n"


def task_with(tmp_path: Path, files: dict[str, str]) -> Path:
    folder = base_task("harbor", tmp_path / "task")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def leaks(task: Task) -> list[tuple[str, str, str]]:
    return [(leak.secret, leak.given.file or "", leak.given.path) for leak in copies(task)]


def test_table_with_its_rows_in_another_order(tmp_path: Path) -> None:
    dockerfile = "FROM debian:12\nWORKDIR /app\nCOPY warm.csv /var/cache/\n"
    files = {"environment/Dockerfile": dockerfile, "environment/warm.csv": SHUFFLED, "tests/expected.csv": ROWS}
    task = load_task(task_with(tmp_path, files))
    assert leaks(task) == [("tests/expected.csv", "environment/warm.csv", "/var/cache/warm.csv")]
    assert [f.location.line for f in lint(task.folder, "answer-in-environment")] == [3]


def test_file_that_is_not_copied_is_none(tmp_path: Path) -> None:
    files = {"environment/Dockerfile": "FROM debian:12\n", "environment/warm.csv": ROWS, "tests/expected.csv": ROWS}
    assert leaks(load_task(task_with(tmp_path, files))) == []


def test_clean_copy_of_an_input_is_no_answer(tmp_path: Path) -> None:
    dockerfile = "FROM debian:12\nCOPY orders.csv /data/\n"
    files = {"environment/Dockerfile": dockerfile, "environment/orders.csv": ROWS, "tests/data/orders.csv": ROWS}
    assert lint(task_with(tmp_path, files), "answer-in-environment", "answer-in-image") == []


def test_computed_numbers_in_a_file_of_another_name(tmp_path: Path) -> None:
    test = (
        "import json\n\n\ndef test_report():\n    d = json.load(open('/app/report.json'))\n"
        "    assert d['input'] == 14032\n    assert d['output'] == 13887\n    assert d['removed'] == 145\n"
    )
    dockerfile = "FROM debian:12\nCOPY metrics.yaml /etc/app/\n"
    files = {
        "environment/Dockerfile": dockerfile,
        "environment/metrics.yaml": "last:\n  in: 14032\n  out: 13887\n  gone: 145\n",
        "tests/test_outputs.py": test,
        "tests/test.sh": "pytest /tests/test_outputs.py\n",
    }
    (found,) = lint(task_with(tmp_path, files), "answer-in-environment")
    assert (found.location.line, found.severity) == (2, "warning")


def test_short_files_are_equal_by_chance(tmp_path: Path) -> None:
    task = load_task(task_with(tmp_path, {"environment/x.txt": "42\n"}))
    assert fingerprint(task, "environment/x.txt") == ""


def test_brief_names_a_file_by_its_path_or_its_bare_name(tmp_path: Path) -> None:
    brief = "Read `/app/in/data.csv` and rules.txt; write `/app/answer.txt`.\n"
    task = load_task(task_with(tmp_path, {"instruction.md": brief}))
    assert in_briefs(task, "/app/in/data.csv")
    assert in_briefs(task, "/opt/rules.txt")
    assert not in_briefs(task, "/opt/answer.txt")
    assert not in_briefs(task, "/app/data.csv.bak")


def test_names_that_say_answer() -> None:
    for name in ("answer.txt", "expected_output.json", "ground-truth.csv", "golden.png", "reference_solution.py"):
        assert ANSWERLIKE.search(name), name
    for name in ("reference.md", "resolver.py", "unexpectedly.txt", "corrections.csv", "marigold.txt"):
        assert not ANSWERLIKE.search(name), name

"""Waza: which eval.yaml is one, the tasks it names, graders of both scopes, scripts and inline code."""

import os
from pathlib import Path

import pytest
import yaml

from scenlint.formats.base import load_schema
from scenlint.formats.waza import FORMAT
from scenlint.task.model import Contract, Isolation, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task, lint


def refs(folder: Path):
    return FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))


def load(folder: Path, number: int = 0) -> Task:
    return FORMAT.load(refs(folder)[number], Policy())


def edit(path: Path, change) -> None:
    value = yaml.safe_load(path.read_text())
    change(value)
    path.write_text(yaml.safe_dump(value, sort_keys=False))


@pytest.fixture
def folder(tmp_path):
    return base_task("waza", tmp_path / "product")


# ---------------------------------------------------------------- finding


@pytest.mark.parametrize(
    "text",
    [
        "prompts: [hello]\nproviders: [openai:gpt-4]\ntests: []\n",
        "name: x\ntask: lm_eval\nconfig: {batch: 1}\n",
        "name: x\nconfig: {a: 1}\ntasks:\n  - {id: a, prompt: b}\n",
        "name: x\nconfig: fast\ntasks: [a.yaml]\n",
        "name: x\nconfig: {a: 1}\ntasks: []\n",
        "- name: x\n",
        "",
    ],
)
def test_other_tools_keep_their_eval_yaml(tmp_path, text):
    (tmp_path / "eval.yaml").write_text(text)
    assert refs(tmp_path) == []


def test_every_file_that_a_pattern_matches_is_a_task(folder):
    (folder / "tasks" / "second.yaml").write_text("id: two\nname: Two\ninputs: {prompt: Do it.}\n")
    (folder / "tasks" / "notes.md").write_text("no task")
    edit(
        folder / "eval.yaml",
        lambda v: v.update(tasks=["tasks/*.yaml", "./tasks/second.yaml", "/etc/*.yaml", "../*.yaml"]),
    )
    assert [r.key for r in refs(folder)] == ["tasks/product.yaml", "tasks/second.yaml"]
    assert load(folder, 1).id == "two"


def test_an_eval_whose_patterns_match_nothing_is_a_task_that_lacks_its_files(folder):
    edit(folder / "eval.yaml", lambda v: v.update(tasks=["taks/*.yaml"]))
    task = load(folder)
    assert [(r.path, r.met) for r in task.requirements] == [("taks/*.yaml", False)]
    assert task.verifier is not None
    assert task.lacks(Role.BRIEF)


def test_tasks_from_a_table_are_no_missing_files(folder):
    def change(value):
        del value["tasks"]
        value["tasks_from"] = "cases.csv"

    edit(folder / "eval.yaml", change)
    assert load(folder).requirements == []


@pytest.mark.parametrize("broken", ["eval.yaml", "tasks/product.yaml"])
def test_broken_yaml_hides_no_task(folder, broken):
    with (folder / broken).open("a") as file:
        file.write("\n]}: [\n")
    task = load(folder)
    assert any(d.data.error for d in task.documents)
    assert {d.name for d in task.documents} == {"eval.yaml", "tasks/product.yaml"}


@pytest.mark.parametrize(
    "change",
    [
        {"graders": {"a": 1}},
        {"graders": ["text", None, {"type": 3, "name": []}, {"type": "program", "config": "x"}]},
        {"graders": [{"type": "program", "name": "p", "config": {"command": 5, "args": "x"}}]},
        {"graders": [{"type": "program", "name": "p", "config": {"command": "sh", "args": [None, 3, "-c", "exit 1"]}}]},
        {"graders": [{"type": "code", "name": "c", "config": {"assertions": [1, None, "output"]}}]},
        {"graders": [{"type": "diff", "name": "d", "config": {"expected_files": [1, {"snapshot": 2}]}}]},
        {"inputs": "prompt"},
        {"inputs": {"prompt": 5, "files": {"path": "x"}}},
        {
            "inputs": {
                "prompt": "x",
                "files": ["a", {"content": "b"}, {"path": 1}],
                "follow_up_prompts": [1, "and now?"],
            }
        },
        {"id": 12, "timeout_seconds": "soon"},
    ],
)
def test_odd_values_are_read_without_a_crash(folder, change):
    edit(folder / "tasks" / "product.yaml", lambda v: v.update(change))
    task = load(folder)
    assert task.verifier is not None


# ---------------------------------------------------------------- what is read


def test_the_prompt_is_read_at_its_place(folder):
    (brief,) = load(folder).briefs
    at = brief.prose.text.index("Write their product")
    assert brief.prose.span(at, at + 5).text == "Write"
    assert brief.prose.span(at, at + 5).source.path.name == "product.yaml"


def test_files_are_inline_or_lie_in_the_fixtures(folder):
    (folder / "fixtures").mkdir()
    (folder / "fixtures/there.csv").write_text("a\n")
    files = [{"path": "x.txt", "content": "6\n7\n"}, {"path": "there.csv"}, {"path": "gone.csv"}]
    edit(folder / "tasks/product.yaml", lambda v: v["inputs"].update(files=files))
    task = load(folder)
    assert task.environment.inline["x.txt"].text == "6\n7\n"
    assert task.environment.files == ["fixtures/there.csv"]
    assert [r.path for r in task.requirements if not r.met] == ["fixtures/gone.csv"]


def test_graders_of_both_scopes_are_kept_apart(folder):
    grader = {"name": "says", "type": "text", "weight": 2, "config": {"contains": ["42"]}}
    edit(folder / "tasks/product.yaml", lambda v: v.update(graders=[grader]))
    verifier = load(folder).verifier
    assert [(g.name, g.kind, g.scope, g.weight) for g in verifier.graders] == [
        ("product", "program", "suite", None),
        ("says", "text", "task", 2.0),
    ]
    assert verifier.graders[1].config == {"contains": ["42"]}
    assert (verifier.contract, verifier.isolation) == (Contract.EXIT_STATUS, Isolation.HOST)
    assert [a.value for a in verifier.graders[0].argv] == ["python3", "graders/check_product.py"]
    assert verifier.graders[0].script.path.name == "check_product.py"


def test_a_timeout_comes_from_the_grader_else_from_the_settings_of_waza(folder):
    (folder / ".waza.yaml").write_text("graders:\n  programTimeout: 45\n")

    def timeout() -> tuple:
        value = load(folder).verifier.graders[0].timeout
        return value.value, value.span.source.path.name

    assert timeout() == (30, "eval.yaml")
    edit(folder / "eval.yaml", lambda v: v["graders"][0]["config"].pop("timeout"))
    assert timeout() == (45, ".waza.yaml")


def test_assertions_become_one_text_that_leads_back_to_each_string(folder):
    edit(
        folder / "eval.yaml",
        lambda v: v["graders"].append(
            {"type": "code", "name": "words", "config": {"assertions": ["len(output) > 3", "'42' in output"]}}
        ),
    )
    script = load(folder).verifier.graders[1].script
    assert script.language == "python"
    assert script.text == "len(output) > 3\n'42' in output\n"
    at = script.text.index("'42'")
    assert script.span(at, at + 4).text.strip("'") == "42"


def test_a_shell_line_is_code_and_so_are_the_scripts_it_starts(folder):
    (folder / "graders/also.sh").write_text("exit 1\n")
    (folder / "graders/orphan.sh").write_text("exit 1\n")
    line = 'for s in graders/also.sh; do bash "$s"; done'
    program = {"type": "program", "name": "sh", "config": {"command": "bash", "args": ["-c", line]}}
    edit(folder / "eval.yaml", lambda v: v["graders"].append(program))
    task = load(folder)
    assert task.verifier.graders[1].script.text == line
    assert {f.path.name for f in task.verifier.files} == {"check_product.py", "eval.yaml", "also.sh"}
    assert "graders/orphan.sh" not in task.known_files
    assert "graders/also.sh" in task.known_files


def test_a_script_is_found_from_the_root_of_the_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    folder = base_task("waza", tmp_path / "evals" / "product")
    (tmp_path / "shared.py").write_text("raise SystemExit(1)\n")
    edit(folder / "eval.yaml", lambda v: v["graders"][0]["config"].update(args=["shared.py"]))
    grader = load(folder).verifier.graders[0]
    assert grader.script.path == (tmp_path / "shared.py").resolve()
    assert grader.missing == []


def missing(folder: Path, command: str, *args: str) -> list[str]:
    edit(folder / "eval.yaml", lambda v: v["graders"][0].update(config={"command": command, "args": list(args)}))
    return [str(v.value) for v in load(folder).verifier.graders[0].missing]


@pytest.mark.parametrize(
    ("argv", "gone"),
    [
        (["python3", "graders/check-product.py"], ["graders/check-product.py"]),
        (["python3", "-I", "-X", "utf8", "check.py", "out.json"], ["check.py"]),
        (["python3", "-m", "graders.check"], ["graders.check"]),
        (["bash", "graders/run.sh", "graders/expected.json"], ["graders/run.sh", "graders/expected.json"]),
        (["./graders/run"], ["./graders/run"]),
        (["pwsh", "-File", "graders/run.ps1"], ["graders/run.ps1"]),
        (["python3", "graders/check_product.py", "graders/expected.json"], ["graders/expected.json"]),
        # what only a run shows, what lies in the workspace, what is on PATH
        (["python3", "graders/check_product.py", "out/report.json"], []),
        (["python3", "-m", "pytest", "tests/test_report.py"], []),
        (["python3", "-c", "print('graders/x.py')"], []),
        (["bash", "-c", "cd $WAZA_WORKSPACE_DIR && python3 graders/x.py"], []),
        (["npm", "test"], []),
        (["mypy", "src/report.py"], []),
        (["/usr/bin/python3", "${HOME}/graders/x.py"], []),
        (["python3", "-m", "graders.check_product"], []),
    ],
)
def test_files_that_a_program_grader_names_and_that_are_not_there(folder, argv, gone):
    assert missing(folder, *argv) == gone


def test_both_schemas_share_what_they_say_of_graders():
    suite, task = load_schema("waza_eval")["$defs"], load_schema("waza_task")["$defs"]
    assert {k: v for k, v in suite.items() if k != "hooks"} == task


def test_a_task_under_a_relative_folder_reads_the_same(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    there = FORMAT.load(FORMAT.find(Path("product"), frozenset(os.listdir("product")))[0], Policy())
    assert there.verifier.graders[0].script.path == Path("product/graders/check_product.py")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null\n",
        "[]\n",
        "name: x\n  - [\n",
        "\x01",
        "name: x\nconfig:\n",
        "name: x\ntasks: tasks/*.yaml\nconfig: {a: 1}\n",
    ],
)
def test_an_eval_that_cannot_be_used_is_claimed_by_its_tasks(folder, text):
    (folder / "eval.yaml").write_text(text)
    assert [ref.format for ref in refs(folder)] == ["waza"]
    rules = [f.rule for f in lint(folder)]
    assert {"unreadable-file", "metadata-schema"} & {*rules}
    if "name: x\n" not in text:  # what it names and sets is not known
        assert not {"unexpected-file", "missing-budget"} & {*rules}


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_an_eval_with_other_line_ends_is_found(folder, end):
    text = (folder / "eval.yaml").read_text().replace("\n", end)
    (folder / "eval.yaml").write_bytes(text.encode())
    assert [ref.key for ref in refs(folder)] == ["tasks/product.yaml"]


def test_an_eval_in_utf_16_is_found(folder):
    (folder / "eval.yaml").write_text((folder / "eval.yaml").read_text(), "utf-16")
    assert [ref.key for ref in refs(folder)] == ["tasks/product.yaml"]


@pytest.mark.parametrize("task", ["steps: []\n", "id: one\ninputs: {}\n", "prompt: no inputs\n"])
def test_tasks_of_another_tool_make_no_eval(tmp_path, task):
    (tmp_path / "eval.yaml").write_text("")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "one.yaml").write_text(task)
    assert refs(tmp_path) == []


def test_a_pattern_with_many_stars_is_answered_soon(folder):
    deep = folder.joinpath(*"abcdefghijklmnopqrstuvwxyz")
    deep.mkdir(parents=True)
    (deep / "last.yaml").write_text("id: last\nname: Last\ninputs: {prompt: Do it.}\n")
    edit(folder / "eval.yaml", lambda v: v.update(tasks=["**/" * 30 + "last.yaml", "**/a/**/b/**/*.yaml"]))
    assert [ref.key.endswith("z/last.yaml") for ref in refs(folder)] == [True]

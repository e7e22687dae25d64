"""Packets: which folders are some, checks at their places in the JSON, and what lies where."""

import json
from pathlib import Path

import pytest

from scenlint.formats.packet import FORMAT
from scenlint.task.model import Contract, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task, lint


def load(folder: Path) -> Task:
    (ref,) = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    return FORMAT.load(ref, Policy())


def check(*commands: str, **more) -> str:
    checks = [{"type": "test", "command": c, "required": True} for c in commands]
    return json.dumps({"id": "packet", "verification": {"checks": checks}, **more})


@pytest.fixture
def folder(tmp_path):
    return base_task("packet", tmp_path / "packet")


def test_a_packet_of_another_kind_is_left_alone(tmp_path):
    (tmp_path / "packet.json").write_text('{"source": "eth0", "payload": "00ff"}')
    assert FORMAT.find(tmp_path, frozenset({"packet.json"})) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"verification": {"checks": []}}',
        '{"verification": [1, 2]}',
        '{"verification": {"checks": [1, {"command": 5}, {}]}, "brief": 4, "budget": [], "image": {}}',
        '{"verification": {"checks": [',
    ],
)
def test_odd_packets_are_read_without_a_crash(folder, text):
    (folder / "packet.json").write_text(text)
    task = load(folder)
    assert task.id == "packet"
    assert task.briefs


def test_commands_lead_back_into_the_json_string(folder):
    (folder / "packet.json").write_text(check('python3 -c "assert \'a\\tb\'" && test "é" = "🎉"'))
    (grader,) = load(folder).verifier.graders
    for inner, written in (("assert", "assert"), ("a\\tb", "a\\\\tb"), ("🎉", "\\ud83c")):
        at = grader.script.span(grader.script.text.index(inner)).start
        assert grader.script.source.text[at:].startswith(written)
    assert grader.script.span(0, 7).text == "python3"
    assert grader.script.language == "shell"


def test_only_what_says_so_is_required(folder):
    checks = [{"type": "test", "command": "true", "required": r} for r in (True, False, "yes")]
    (folder / "packet.json").write_text(json.dumps({"id": "packet", "verification": {"checks": checks}}))
    assert [g.required for g in load(folder).verifier.graders] == [True, False, False]


def test_what_the_agent_sees_and_what_it_does_not(folder):
    (folder / "checks" / "expected.json").write_text("{}")
    task = load(folder)
    assert task.environment.files == ["work/factors.txt"]
    assert task.environment.workdir == "."
    assert task.verifier.contract is Contract.EXIT_STATUS
    assert task.verifier.truth == ["checks/expected.json"]
    assert task.verifier.mount == "$SCENLINT_VERIFIER"
    assert set(task.environment.variables.given) == {"SCENLINT_VERIFIER"}
    assert {limit.name: limit.value.value for limit in task.budget.limits} == {"agent": 300, "verifier": 60}
    assert task.oracle.entry.path.name == "solve.sh"


def test_defaults_hold_where_the_packet_names_nothing(folder):
    (folder / "packet.json").write_text(check("test -f answer.txt"))
    task = load(folder)
    assert task.environment.files == ["work/factors.txt"]
    assert task.oracle_place == "solve.sh"
    assert task.environment.variables.given == {}
    assert [limit.value.value for limit in task.budget.limits] == [None, None]


def test_named_parts_that_are_not_there_are_required(folder):
    (folder / "packet.json").write_text(
        check("true", brief="task.md", oracle="do.sh", verifier="grading", workdir="start")
    )
    task = load(folder)
    assert [r.path for r in task.requirements if not r.met] == ["task.md", "start", "do.sh", "grading"]
    assert "task.md" in task.lacks(Role.BRIEF)


@pytest.mark.parametrize(
    ("command", "gone"),
    [
        ("python3 check_sum.py", ["check_sum.py"]),
        ("cd data && bash ./run.sh", ["./run.sh"]),
        ("python3 factors.py", []),  # the brief tells the agent to write it
        ("bash ../checks/x.sh", []),
        ("cd /tmp && bash run.sh", []),
        ("pytest -q", []),
        ("python3 -c 'import json'", []),
    ],
)
def test_scripts_of_the_working_directory_that_nobody_is_told_to_write(folder, command, gone):
    with (folder / "brief.md").open("a") as file:
        file.write("\n2. Write factors.py, which prints them.\n")
    (folder / "packet.json").write_text(check(command))
    assert [v.value for v in load(folder).verifier.graders[0].missing] == gone


@pytest.mark.parametrize("text", ["", "{}", "null", "[]", '{"id": "x", "br', "\0", '{"id": "x", "verification": 5}'])
def test_a_packet_that_cannot_be_used_is_claimed_by_what_lies_beside_it(folder, text):
    (folder / "packet.json").write_text(text)
    rules = {f.rule for f in lint(folder)}
    assert {"unreadable-file", "metadata-schema"} & rules
    assert "missing-budget" not in rules or text.endswith("}")


@pytest.mark.parametrize(
    ("text", "beside"),
    [("", []), ("", ["work"]), ('{"source": "eth0"}', ["brief.md", "work"]), ('{"a": ', ["readme.md"])],
)
def test_a_file_of_that_name_alone_makes_no_packet(tmp_path, text, beside):
    (tmp_path / "packet.json").write_text(text)
    assert FORMAT.find(tmp_path, frozenset({"packet.json", *beside})) == []


def test_the_schema_of_packets_is_none_but_a_packet_may_name_a_schema(tmp_path):
    file, names = tmp_path / "packet.json", frozenset({"packet.json"})
    file.write_text('{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"checks": {}}}')
    assert FORMAT.find(tmp_path, names) == []
    file.write_text('{"$schema": "../packet.schema.json", "id": "x", "verification": {"checks": []}}')
    assert len(FORMAT.find(tmp_path, names)) == 1

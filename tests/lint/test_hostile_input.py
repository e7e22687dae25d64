"""Whatever a task holds, the run ends soon, says something, and every output stays well-formed."""

import json
import os
import re
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from mutations import FORMATS, Maker

from scenlint.config import ConfigError, Settings
from scenlint.lint import fix
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.run import check
from scenlint.report import FORMATS as OUTPUTS
from scenlint.report import render
from scenlint.report.model import Report
from scenlint.task.plan import NotRunnableError
from scenlint.task.policy import Policy
from scenlint.testing import base_task, lint

SARIF = json.loads((Path(__file__).parents[1] / "report" / "sarif-2.1.0-rtm.5.json").read_text())
SECRET = "ghp_" + "a1B2" * 10
SOON = 20  # seconds of this process; no case needs the tenth part


def checked(folder: Path) -> Report:
    began = time.process_time()
    report = check([folder], Settings(root=folder), jobs=1)
    assert report.crashes == []
    assert time.process_time() - began < SOON
    return report


def well_formed(report: Report) -> None:
    shown = {name: render(report, name, verbose=True) for name in OUTPUTS}
    for text in shown.values():
        text.encode()
        assert "\x1b" not in text
        assert SECRET not in text
    ElementTree.fromstring(shown["junit"])
    for name in ("json", "sarif", "gitlab"):
        json.loads(shown[name])
    jsonschema.Draft7Validator(SARIF).validate(json.loads(shown["sarif"]))
    annotations = [line for line in shown["github"].splitlines() if line.startswith("::")]
    assert len(annotations) == len(report.findings)
    for line in annotations:
        assert re.fullmatch(r"::(?:error|warning|notice) (?:\w+=[^,:]*,?)+::[^\r\n]*", line), line


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a#b",
        "100%",
        "x:y",
        "[red]t[bold]",
        "-t",
        "ünï",
        "t\nn",
        "t\x1b[31mx",
        "a,b::c",
        "q'\"",
        "a\\b",
        "\udcff",
        SECRET,
    ],
)
def test_any_name_of_a_folder_and_of_files_is_printed_safely(tmp_path, name):
    task = base_task("harbor", tmp_path / name)
    (task / "tests" / f"test_{name}.py").write_text("def test_x():\n    assert True\n")
    (task / "environment" / f"{name}.md").write_text("x")
    (task / "environment" / "Dockerfile").write_text("FROM python:latest\n")
    report = checked(tmp_path)
    assert {"tautology", "latest-tag"} <= {f.rule for f in report.findings}
    well_formed(report)


def test_what_is_no_regular_file_is_not_waited_for(tmp_path, monkeypatch):
    for name, files in (
        ("harbor", ["instruction.md", "task.toml", "tests/test_outputs.py", "environment/Dockerfile"]),
        ("waza", ["tasks/product.yaml"]),
        ("terminal-bench", ["task.yaml"]),
        ("deepgym", ["metadata.json"]),
    ):
        task = base_task(name, tmp_path / name)
        for file in files:
            (task / file).unlink()
            os.mkfifo(task / file)
    os.mkfifo(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("harbor/environment/end.sock")
        report = checked(tmp_path)
    assert report.tasks == 4
    assert {"unreadable-file"} <= {f.rule for f in report.findings}
    well_formed(report)


def test_links_and_folders_in_the_place_of_files_are_said(tmp_path):
    task = base_task("harbor", tmp_path / "task")
    (task / "environment" / "loop").symlink_to("..")
    (task / "environment" / "out").symlink_to("/etc/passwd")
    (task / "environment" / "self").symlink_to("self")
    for file in ("task.toml", "tests/test.sh", "solution/solve.sh"):
        (task / file).unlink()
        (task / file).mkdir()
    report = checked(tmp_path)
    assert {"missing-file", "unreadable-file"} <= {f.rule for f in report.findings}
    well_formed(report)


DEEP = {
    "tests/test_outputs.py": "x = " + "(" * 5000 + ")" * 5000,
    "tests/sums.py": "x = " + "1+" * 50_000 + "1",
    "tests/names.py": "x" + ".a" * 50_000,
    "tests/test.sh": "if true; then " * 2000 + "$(" * 2000,
    "solution/solve.sh": '"${a:-' * 2000 + "a | " * 5000,
    "instruction.md": "> " * 2000 + "\n" + "- " * 2000 + "\n" + "[" * 20_000 + "\n" + "*" * 20_000 + "\n" + "`" * 5001,
    "environment/Dockerfile": "FROM a\nRUN " + "(" * 10_000 + "\n" + "ARG A=$A$A\n" * 60 + "RUN echo $A\n",
    "environment/docker-compose.yaml": "[" * 50_000,
    "environment/data.json": "[" * 50_000 + "]" * 50_000,
    "task.toml": "a = " + "[" * 50_000,
}


def test_deep_nesting_is_survived(tmp_path):
    task = base_task("harbor", tmp_path / "task")
    for path, text in DEEP.items():
        (task / path).write_text(text)
    well_formed(checked(tmp_path))


@pytest.mark.parametrize("unit", ["*", "$a", "{a}", "<a", "[", "x[0]", "**a", " ", "../", "a=", "`a` "])
def test_long_runs_of_one_mark_are_read_in_time(tmp_path, unit):
    task = base_task("harbor", tmp_path / "task")
    run = (unit * 20_000)[:20_000]
    (task / "instruction.md").write_text(f"Write the number 42 to /app/answer.txt.\n\n{run}\n")
    for path in ("tests/test.sh", "environment/Dockerfile", "solution/solve.sh"):
        with (task / path).open("a") as file:
            file.write(f"\n# {run}\n")
    (task / "tests" / "test_outputs.py").write_text(f"def test_x():\n    assert x == {run!r}  # {run}\n")
    checked(tmp_path)


def test_two_slashes_at_the_beginning_of_a_path_end_no_search(tmp_path):
    task = base_task("harbor", tmp_path / "task")
    (task / "environment" / "Dockerfile").write_text(
        "FROM a\nCOPY factors.txt //data/factors.txt\nVOLUME //x\nWORKDIR //\n"
    )
    (task / "tests" / "test_outputs.py").write_text(
        "def test_x():\n    assert open('//data/factors.txt').read() == '7'\n"
    )
    checked(tmp_path)


def test_secrets_are_shown_nowhere(tmp_path):
    task = base_task("harbor", tmp_path / "task")
    for path in [p for p in task.rglob("*") if p.is_file()]:
        path.write_text(path.read_text() + f"\n# {SECRET}\n")
    (task / "task.toml").write_text(f'[{SECRET}]\n[agent]\n{SECRET} = "{SECRET}"\ntimeout_sec = "{SECRET}"\n')
    (task / "environment" / "Dockerfile").write_text(f"FROM {SECRET}\nCOPY {SECRET} /x\nRUN pip install {SECRET}\n")
    (task / "instruction.md").write_text(f"Write {SECRET} to /app/{SECRET} and `{SECRET}`.\n\n1. `{SECRET}`\n")
    (task / "tests" / "test_outputs.py").write_text(
        f"def test_x():\n    assert open('/app/{SECRET}').read() == '{SECRET}'\n    requests.get('http://u:{SECRET}@h.example')\n"
    )
    report = checked(tmp_path)
    assert report.findings
    well_formed(report)


def test_bytes_that_are_no_text_hide_no_metadata(tmp_path):
    for name, file in (("packet", "packet.json"), ("deepgym", "metadata.json"), ("terminal-bench", "task.yaml")):
        task = base_task(name, tmp_path / name)
        (task / file).write_bytes(b"\0\1\2")
        assert "unreadable-file" in [f.rule for f in lint(task)]


def test_warnings_of_the_parser_are_kept_from_the_user(harbor_task, scenlint):
    (harbor_task / "tests" / "test_outputs.py").write_text(
        "x = 1if 1else 2\ny = '\\d'\nassert (x, 1)\nz = 0x1for x in ()\n"
    )
    result = scenlint("check", harbor_task)
    assert "Warning" not in result.stderr


WRONG = [None, 5, True, "x", [], {}, [None, 5], {"a": 1}, [{}]]
SERVICE = (
    "image build volumes environment env_file ports expose command entrypoint depends_on networks extends healthcheck"
)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_compose_files_may_hold_anything_anywhere(tmp_path, value):
    for n, key in enumerate([*SERVICE.split(), *(f"build.{k}" for k in ("context", "args", "additional_contexts"))]):
        outer, _, inner = key.partition(".")
        service = {"image": "x", outer: {inner: value} if inner else value}
        file = base_task("harbor", tmp_path / str(n)) / "environment" / "docker-compose.yaml"
        file.write_text(json.dumps({"services": {"main": service, "other": service}, "volumes": value}))
    checked(tmp_path)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_graders_may_be_configured_with_anything(tmp_path, value):
    keys = [
        "content_patterns",
        "contains_any",
        "contains",
        "must_exist",
        "assertions",
        "args",
        "expected_files",
        "schema",
    ]
    for kind in ("text", "file", "code", "program", "diff", "json_schema"):
        file = base_task("waza", tmp_path / kind) / "eval.yaml"
        graders = [{"type": kind, "name": key, "config": {key: value}} for key in keys]
        text = re.sub(
            r"graders:.*(?=^tasks:)", f"graders: {json.dumps(graders)}\n", file.read_text(), flags=re.S | re.M
        )
        file.write_text(text)
    checked(tmp_path)


IGNORED = "!\n\\\na\\\n[z-a]\n[[:x:]]\n" + "*a" * 30 + "b\n" + "**/" * 100 + "x\nkept-out/\n"


def test_ignore_files_may_hold_what_is_no_pattern(tmp_path):
    (tmp_path / ".gitignore").write_text(IGNORED)
    task = base_task("harbor", tmp_path / "task")
    base_task("harbor", tmp_path / "kept-out" / "other")
    for folder in ("environment", "tests", "solution"):
        (task / folder / ".dockerignore").write_text(IGNORED)
        (task / folder / ".harborignore").write_text(IGNORED)
        (task / folder / ("a" * 200)).write_text("")
    report = checked(tmp_path)
    assert report.tasks == 1


def test_a_configured_pattern_that_is_none_is_refused(tmp_path):
    for settings in (
        Settings(root=tmp_path, exclude=("!",)),
        Settings(root=tmp_path, per_path_ignores=(("a\\", ()),)),
    ):
        with pytest.raises(ConfigError, match="is no pattern of paths"):
            check([tmp_path], settings, jobs=1)


def plan_all(folder: Path) -> None:
    """Plans are made, or refused in words."""
    began = time.process_time()
    for ref in Finder(Settings(root=folder)).discover([folder]).refs:
        form = format_named(ref.format)
        with suppress(NotRunnableError):
            form.plan(form.load(ref, Policy()))
    assert time.process_time() - began < SOON


@pytest.mark.parametrize("value", [*WRONG, 10**400, -1, float("inf")], ids=lambda value: repr(value)[:9])
def test_a_time_limit_may_be_anything(tmp_path, value):
    for name, file in (("terminal-bench", "task.yaml"), ("packet", "packet.json")):
        task = base_task(name, tmp_path / name)
        keys = {"max_agent_timeout_sec": value, "budget": {"agent_sec": value, "verifier_sec": value}}
        data = yaml.safe_load((task / file).read_text()) | keys
        data |= {"instruction": "Write 42 to /app/answer.txt. You have 10 minutes.\n"} if name != "packet" else {}
        (task / file).write_text(json.dumps(data) if name == "packet" else yaml.safe_dump(data))
    (tmp_path / "packet" / "brief.md").write_text("Write 42 to `answer.txt`. You have 10 minutes.\n")
    checked(tmp_path)
    plan_all(tmp_path)


VAST = "9" * 400
ASSERTIONS = [
    "x == {}", "x <= {}", "{} <= x <= {}", "abs(x - {}) < 1e-9", "abs(x - 1) < {}", "round(x, 2) == {}", "len(x) == {}",
    "x in range({})", "x == pytest.approx(1, rel={})", "sum(range({})) > x", "{{'a': {}}} == x", "-{} < x * 1.5",
]  # fmt: skip


@pytest.mark.parametrize("line", ["docker", "docker run", "docker run -d", "docker run --name", "podman create", "run"])
def test_an_app_may_be_started_with_less_than_a_command(tmp_path, line):
    task = base_task("saas-bench", tmp_path / "saas-bench")
    apps = task / "apps.yaml"
    text, found = re.subn(r"docker run(?:.*\n)(?:\s{6,}.*\n)*", f"{line}\n", apps.read_text())
    assert found == 1
    apps.write_text(text)
    checked(tmp_path)
    plan_all(tmp_path)


def test_numbers_may_be_larger_than_a_float(tmp_path):
    lines = [f"    assert {text.replace('{}', VAST).replace('{{', '{').replace('}}', '}')}\n" for text in ASSERTIONS]
    body = "import pytest\nx = float(open('/app/answer.txt').read())\n\ndef test_x():\n" + "".join(lines)
    for name in FORMATS:
        task = base_task(name, tmp_path / name)
        for file in task.rglob("*.py"):
            file.write_text(
                f"{body}\nw = {VAST}\nprint(f'[PASS] ({{w}}pt) a')\nscore = x * {VAST}\n" + file.read_text()
            )
        for file in task.rglob("*.md"):
            file.write_text(
                f"{file.read_text()}\nAt most {VAST} MB within {VAST} seconds, {VAST}.5 % or {VAST}e{VAST}.\n"
            )
    checked(tmp_path)
    plan_all(tmp_path)


def test_empty_lines_and_long_names_hold_up_no_plan(tmp_path):
    harbor, waza = base_task("harbor", tmp_path / "harbor"), base_task("waza", tmp_path / "waza")
    for file in ("environment/Dockerfile", "tests/test.sh", "instruction.md", "solution/solve.sh"):
        (harbor / file).write_text((harbor / file).read_text() + "\n" * 99_999)
    text = (waza / "eval.yaml").read_text()
    (waza / "eval.yaml").write_text(text.replace("check_product", "check_" + "x" * 5000) + "\n" * 99_999)
    checked(tmp_path)
    plan_all(tmp_path)


# ---------------------------------------------------------------- mutations


@pytest.mark.parametrize("part", range(4))
def test_mutated_tasks_are_judged_without_a_fault(tmp_path, part):
    maker = Maker(seed=1)
    for number in range(part * 75, part * 75 + 75):
        (tmp_path / str(number)).mkdir()
        maker.make(number, tmp_path / str(number))
    report = checked(tmp_path)
    assert report.tasks > 60
    well_formed(report)
    fix.plan(report.findings, unsafe=True)
    plan_all(tmp_path)
    subprocess.run(["rm", "-rf", tmp_path], check=True)  # deeper than Python's `rmtree` can go


def test_the_same_number_makes_the_same_task(tmp_path):
    for name in ("one", "other"):
        maker = Maker(seed=2)
        for number in range(15):
            (tmp_path / name / str(number)).mkdir(parents=True)
            maker.make(number, tmp_path / name / str(number))
    assert listed(tmp_path / "one") == listed(tmp_path / "other")


def listed(top: Path) -> list[tuple[str, bytes]]:
    files = [p for p in sorted(top.rglob("*")) if p.is_file() and not p.is_symlink() and p.stat().st_size < 1 << 24]
    return [(str(p.relative_to(top)), p.read_bytes()) for p in files]

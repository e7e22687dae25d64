"""Rules about a task's files, metadata and its neighbours, beyond what their pages show."""

import shutil
from pathlib import Path

import pytest

from scenlint.task.finding import Severity
from scenlint.testing import base_task, lint


@pytest.fixture
def harbor(tmp_path):
    return base_task("harbor", tmp_path / "product")


@pytest.fixture
def suite(tmp_path):
    """Two sound Harbor tasks that ask for different things."""
    base_task("harbor", tmp_path / "suite/product")
    other = base_task("harbor", tmp_path / "suite/totals")
    (other / "instruction.md").write_text(
        "orders.csv lists every order of the year with its customer, its date and its amount in cents. "
        "Write /app/totals.json, which maps each customer to the sum of the amounts, without cancelled orders."
    )
    (other / "tests/test_outputs.py").write_text(
        "import json\n\n\ndef test_totals():\n    totals = json.load(open('/app/totals.json'))\n"
        "    assert totals == {'north harbour': 1200, 'south pier': 880, 'old mill': 4}\n"
    )
    (other / "solution/solve.sh").write_text(
        "awk -F, '$4 != \"cancelled\" { sum[$2] += $3 } END { for (c in sum) print c, sum[c] }' /app/orders.csv\n"
    )
    return tmp_path / "suite"


def messages(folder: Path, rule: str) -> list[str]:
    return [f.message for f in lint(folder, rule)]


# ---------------------------------------------------------------- metadata-schema


@pytest.mark.parametrize(
    ("text", "says", "quote"),
    [
        ("[agent]\ntimeout_sec = true\n", "must be a number, not `true`", "true"),
        ('[environment]\nnetwork_mode = "pubic"\n', "it may be `no-network`, `public`, `allowlist`", '"pubic"'),
        ("[environment]\ncpus = -1\n", "it must be above 0", "-1"),
        ('[[steps]]\nmin_reward = "x"\nname = "a"\n', "`steps[0].min_reward` must be a number or a table", '"x"'),
        ("[[environment.mcp_servers]]\nurl = 'http://x'\n", "`name` is missing in `environment.mcp_servers[0]`", None),
        ('artifacts = [{ destination = "x" }]\n', "`source` is missing in `artifacts[0]`", None),
        ('[environment]\nallowed_hosts = ["https://x.org"]\n', "has not the form", '"https://x.org"'),
        ("[verifier.env]\nROWS = 3\n", "`verifier.env.ROWS` must be text, not `3`", "3"),
    ],
)
def test_schema_errors_say_what_is_wrong_in_the_authors_words(harbor, text, says, quote):
    (harbor / "task.toml").write_text(text)
    (finding,) = lint(harbor, "metadata-schema")
    assert says in finding.message
    assert quote is None or finding.quote == quote


def test_the_nearest_allowed_value_is_offered(harbor):
    (harbor / "task.toml").write_text('[environment]\nos = "Linux "\n')
    (finding,) = lint(harbor, "metadata-schema")
    assert finding.help == "did you mean `linux`?"


def test_a_table_where_a_list_is_due_is_one_finding(harbor):
    (harbor / "task.toml").write_text("[steps]\nname = 'a'\n")
    assert messages(harbor, "metadata-schema") == ['`steps` must be a list, not `{"name": "a"}`']


def test_every_missing_key_is_named_once(tmp_path):
    task = base_task("terminal-bench", tmp_path / "task")
    (task / "task.yaml").write_text("category: x\n")
    assert messages(task, "metadata-schema") == ["`instruction` is missing", "`difficulty` is missing"]


def test_yaml_keys_that_are_no_text_are_survived(tmp_path):
    task = base_task("terminal-bench", tmp_path / "task")
    (task / "task.yaml").write_text("instruction: x\ndifficulty: easy\n2: a\ntrue: b\n2020-01-01: c\n")
    assert messages(task, "metadata-schema") == []
    assert [m.split("`")[1] for m in messages(task, "unknown-metadata-key")] == ["2", "True", "2020-01-01"]


def test_a_file_that_cannot_be_parsed_is_left_to_another_rule(harbor):
    (harbor / "task.toml").write_text("[agent\n")
    assert messages(harbor, "metadata-schema") == []
    assert messages(harbor, "unknown-metadata-key") == []


# ---------------------------------------------------------------- unknown-metadata-key


@pytest.mark.parametrize(
    ("text", "key", "help"),
    [
        ("[agent]\ntimeout-sec = 1\n", "timeout-sec", "did you mean `timeout_sec`?"),
        ("[agents]\ntimeout_sec = 1\n", "agents", "did you mean `agent`?"),
        ("[verifier]\ndocker_image = 'x'\n", "docker_image", "`docker_image` is read in `environment`; move it there"),
        ("[[steps]]\nname = 'a'\ntimeout_sec = 3\n", "timeout_sec", "remove it"),
        ("[verifier.environment]\nmemry_mb = 3\n", "memry_mb", "did you mean `memory_mb`?"),
        ("artifacts = [{ source = '/a', destinaton = 'b' }]\n", "destinaton", "did you mean `destination`?"),
    ],
)
def test_unknown_keys_come_with_a_way_out(harbor, text, key, help):
    (harbor / "task.toml").write_text(text)
    (finding,) = lint(harbor, "unknown-metadata-key")
    assert finding.quote == key
    assert finding.help.startswith(help)


def test_alternatives_and_free_tables_are_not_mistaken_for_unknown_keys(harbor):
    (harbor / "task.toml").write_text(
        '[metadata]\nanything = { deep = [1] }\n[metadata.harbor.lint]\nignore = ["x"]\n'
        '[environment.env]\nA = "b"\n[[environment.mcp_servers]]\nname = "x"\nheaders = { Accept = "y" }\n'
        '[[steps]]\nname = "a"\nmin_reward = { speed = 1 }\n'
    )
    assert messages(harbor, "unknown-metadata-key") == []


# ---------------------------------------------------------------- files


def test_a_missing_file_with_a_twin_in_other_letters_is_to_be_renamed(harbor):
    (harbor / "instruction.md").rename(harbor / "INSTRUCTION.md")
    (finding,) = lint(harbor, "missing-file")
    assert finding.help == "rename `INSTRUCTION.md`"
    assert finding.location.path == harbor / "instruction.md"


def test_a_missing_verify_py_is_a_warning(tmp_path):
    suite = base_task("saas-bench", tmp_path / "suite")
    next(suite.rglob("verify.py")).unlink()
    (finding,) = lint(suite, "missing-file")
    assert finding.severity is Severity.WARNING


def test_unexpected_files_are_counted_by_folder_and_spared_when_named(harbor):
    for path in ("scratch/a.txt", "scratch/deep/b.txt", "notes.txt", "helper.py", "data/x.csv", ".env", "LICENSE"):
        (harbor / path).parent.mkdir(parents=True, exist_ok=True)
        (harbor / path).write_text("x")
    (harbor / "tests/test_outputs.py").write_text("import helper\nopen('/data/x.csv')\n")
    found = {f.location.path.name: f.message for f in lint(harbor, "unexpected-file")}
    assert set(found) == {"scratch", "notes.txt"}
    assert "(2 files)" in found["scratch"]


def test_a_format_without_a_place_for_an_oracle_is_not_assessed(tmp_path):
    from scenlint.config import Settings
    from scenlint.lint.run import check

    suite = base_task("saas-bench", tmp_path / "suite")
    report = check([suite], Settings(root=suite).override(select=["missing-oracle"]), jobs=1)
    assert report.findings == []
    assert [n.reason for n in report.not_assessed] == ["the format has no place for a reference solution"]


@pytest.mark.parametrize("text", ["#!/bin/bash\nset -euo pipefail\n", "", "# later\ntrue\n", ":\nexit 0\n"])
def test_a_solution_that_does_nothing_is_none(harbor, text):
    (harbor / "solution/solve.sh").write_text(text)
    assert len(messages(harbor, "missing-oracle")) == 1


def test_limits_that_nothing_sets_are_one_finding_for_one_place(tmp_path):
    packet = base_task("packet", tmp_path / "packet")
    text = (packet / "packet.json").read_text()
    (packet / "packet.json").write_text(text.replace('"budget"', '"notes"'))
    assert messages(packet, "missing-budget") == [
        "nothing limits the agent and the verifier, so every runner decides for itself and results cannot be compared"
    ]


# ---------------------------------------------------------------- the suite


def test_two_harbor_tasks_of_one_name_are_duplicates_and_one_named_twice_is_not(suite):
    for task in ("product", "totals"):
        path = suite / task / "task.toml"
        path.write_text(path.read_text() + '\n[task]\nname = "org/same"\n')
    (finding,) = lint(suite, "duplicate-task-id")
    assert "`product`" in finding.message
    assert finding.location.path == suite / "totals/task.toml"
    assert finding.related[0].path == suite / "product/task.toml"
    assert lint(suite / "product", "duplicate-task-id") == []


def test_the_same_folder_name_in_two_suites_is_no_duplicate(tmp_path):
    base_task("harbor", tmp_path / "one/product")
    base_task("harbor", tmp_path / "two/product")
    assert lint(tmp_path, "duplicate-task-id") == []


def test_different_tasks_are_no_near_duplicates(suite):
    assert messages(suite, "near-duplicate-task") == []


def test_a_copy_with_other_numbers_is_a_near_duplicate(suite):
    copy = suite / "totals-2"
    shutil.copytree(suite / "totals", copy)
    brief = (copy / "instruction.md").read_text()
    (copy / "instruction.md").write_text(brief.replace("of the year", "of 2024"))
    (message,) = messages(suite, "near-duplicate-task")
    assert message.endswith("stands in task `totals` as well, so one skill counts twice")


def test_the_template_of_a_suite_makes_no_duplicates(suite):
    preamble = " ".join(
        f"Rule number {n} of the house is that order {n} comes before order {n + 1}." for n in range(40)
    )
    for n in range(10):
        task = base_task("harbor", suite / f"task-{n}")
        (task / "instruction.md").write_text(f"{preamble} Now write the number {n} times {n * 7} to /app/{n}.txt.")
        (task / "solution/solve.sh").write_text(f"echo {n * n * 7} > /app/{n}.txt\n")
        (task / "tests/test_outputs.py").write_text(f"assert open('/app/{n}.txt').read() == '{n * n * 7}'\n")
    assert messages(suite, "near-duplicate-task") == []


def test_one_brief_with_two_kinds_of_checks_is_two_tasks(suite):
    phase = suite / "totals-tests"
    shutil.copytree(suite / "totals", phase)
    brief = (phase / "instruction.md").read_text()
    (phase / "instruction.md").write_text(brief + " Only write the unit tests for it.")
    (phase / "tests/test_outputs.py").write_text(
        "import subprocess\n\n\ndef test_the_tests_find_the_planted_faults():\n    for fault in range(1, 9):\n"
        "        run = subprocess.run(['pytest', '/app/unit', '-q'], env={'FAULT': str(fault)}, check=False)\n"
        "        assert run.returncode == 1, f'fault {fault} was not found by any unit test of the agent'\n"
    )
    (phase / "solution/solve.sh").write_text(
        "cp -r /opt/unit_tests /app/unit && pytest /app/unit -q --maxfail 1 || exit 1\n"
    )
    assert messages(suite, "near-duplicate-task") == []


def test_canaries_are_asked_for_under_one_profile(harbor):
    assert [f for f in lint(harbor, profile="seed") if f.rule == "missing-canary"] == []
    (finding,) = [f for f in lint(harbor, profile="terminal-bench-3") if f.rule == "missing-canary"]
    assert (finding.severity, finding.policy) == (Severity.INFO, "terminal-bench-3")


# ---------------------------------------------------------------- shared-verifier


def test_only_a_task_with_a_container_is_told_that_its_agent_is_root_there(harbor, tmp_path):
    (told,) = messages(harbor, "shared-verifier")
    assert told.endswith("in the agent's container after the agent, who is root there")
    (told,) = messages(base_task("packet", tmp_path / "packet"), "shared-verifier")
    assert "working directory" in told
    assert "root" not in told


def test_the_place_of_a_packets_check_is_its_shell_line(tmp_path):
    (found,) = lint(base_task("packet", tmp_path / "packet"), "shared-verifier")
    (place,) = found.related
    assert place.excerpt[0][place.column - 1 - place.shift :].startswith("python3 -I")

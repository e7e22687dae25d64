"""Rules about sites, harness variables, logins and the graders' files, beyond the examples on their pages."""

import json
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.lint.run import check
from scenlint.testing import base_task, lint


@pytest.fixture
def saas(tmp_path):
    """A SaaS-Bench suite with one task; call it with the verifier's code and the sites."""

    def make(code: str, *sites: str, brief: str | None = None) -> Path:
        root = base_task("saas-bench", tmp_path / "suite")
        folder = root / "tasks/uni-m/Teamwork/teamwork_001"
        (folder / "verify.py").write_text("import os, sys\nimport requests\n" + code)
        meta = {"task_id": "teamwork_001", "category_id": "Teamwork", "meta_data": {"sites": list(sites)}}
        (folder / "meta.json").write_text(json.dumps(meta))
        if brief is not None:
            (folder / "description.md").write_text(brief)
        return root

    return make


def names(root: Path, *rules: str) -> list[tuple[str, int]]:
    return [(f.rule, f.location.line) for f in lint(root, *rules)]


# ---------------------------------------------------------------- sites and variables


def test_a_misspelt_site_is_reported_once_and_not_through_its_variables(saas):
    root = saas("x = os.environ['MATTERMOST_PORT']\nrequests.get(x, timeout=5)\n", "matermost")
    assert names(root, "unknown-site", "undeclared-site") == [("unknown-site", 1)]


def test_without_an_apps_list_sites_are_not_assessed_and_variables_still_are(saas):
    root = saas("x = os.environ['GROCY_DB_CONTAINER']\nrequests.get(x, timeout=5)\n", "grocy", "our-own")
    (root / "apps.yaml").unlink()
    report = check([root], Settings(root=root).override(select=["unknown-site", "unknown-harness-variable"]), jobs=1)
    assert [f.rule for f in report.findings] == ["unknown-harness-variable"]
    assert report.findings[0].help.endswith("use `GROCY_CONTAINER`")
    assert [n.rule for n in report.not_assessed] == ["unknown-site"]


def test_each_missing_variable_is_reported_where_it_is_read_first(saas):
    code = "".join(f"os.environ['{n}']\n" for n in ("SERVER_NAME", "SERVER_NAME", "HOME", "JUDGE_KEY"))
    assert names(saas(code, "mattermost"), "unknown-harness-variable") == [("unknown-harness-variable", 3)]


@pytest.mark.parametrize(
    ("default", "lines"), [("OWN + '-db'", [4]), ("f'{OWN}-db'", [4]), ("OWN", []), ("'grocy'", [])]
)
def test_a_container_name_that_is_made_up_stands_for_nothing(saas, default, lines):
    code = f"OWN = os.environ['GROCY_CONTAINER']\nDB = os.getenv('GROCY_DB_CONTAINER', {default})\n"
    assert [n for _, n in names(saas(code, "grocy"), "unknown-harness-variable")] == lines


INSTALLS = "apk add --no-cache sqlite || apt-get install -y sqlite3"
RUNNER = (
    "import subprocess\ndef inside(name, *args, timeout=30):\n"
    "    return subprocess.run(['docker', 'exec', name, *args], timeout=timeout).returncode\n"
)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (f"inside(OWN, 'sh', '-c', '{INSTALLS}')", 1),
        (f"subprocess.run(['docker', 'exec', OWN, 'sh', '-c', '{INSTALLS}'], timeout=9)", 1),
        ("inside(OWN, 'sh', '-c', 'ls /data')", 0),
        (f"print('sh', '-c', '{INSTALLS}')", 0),
    ],
)
def test_what_a_verifier_installs_in_the_container_of_an_application(saas, call, found):
    code = RUNNER + f"OWN = os.environ['GROCY_CONTAINER']\n{call}\n"
    assert len(names(saas(code, "grocy"), "download-at-grading")) == found


def test_each_undeclared_site_is_reported_once(saas):
    code = (
        "for v in ('GROCY_PORT', 'GROCY_CONTAINER', 'MATTERMOST_PORT'):\n    requests.get(os.environ[v], timeout=5)\n"
    )
    assert names(saas(code, "mattermost"), "undeclared-site") == [("undeclared-site", 3)]


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nrequests.get(os.environ[sys.argv[1]], timeout=5)\n",
        "requests.get('http://localhost:8065/api', timeout=5)\n",
        "import subprocess\nsubprocess.run(['docker', 'exec', 'rollout_0_owncloud', 'ls'], timeout=5)\n",
        "def port(app):\n    return os.environ[f'{app}_PORT']\nrequests.get(port('OWNCLOUD'), timeout=5)\n",
        "this is no python\n",
    ],
)
def test_a_site_that_may_be_reached_by_other_ways_is_not_called_untouched(saas, code):
    assert names(saas(code, "owncloud"), "site-never-verified") == []


def test_an_unread_site_is_untouched(saas):
    root = saas("ok = requests.get(os.environ['MATTERMOST_PORT'], timeout=5).ok\nprint(ok)\n", "mattermost", "e-label")
    assert [f.message for f in lint(root, "site-never-verified")] == [
        "no check touches `e-label`, yet it is started for every trial"
    ]


# ---------------------------------------------------------------- logins

BRIEF = "**Steps:**\n1. Post.\n\n**Login Credentials:**\n\n{}\n"
LOGIN = "requests.post('http://x:' + os.environ['MATTERMOST_PORT'], json={}, timeout=5)\n"


@pytest.mark.parametrize(
    "line",
    [
        "- mattermost: crew@example.com / Open-9",
        "* **Mattermost** → `crew@example.com` / `Open-9`",
        "- Mattermost -> user: crew@example.com, password: Open-9",
        "| Mattermost | crew@example.com | Open-9 |",
    ],
)
def test_logins_are_read_in_the_ways_that_briefs_write_them(saas, line):
    wrong = LOGIN.format("{'login_id': 'crew@example.com', 'password': 'Open-8'}")
    root = saas(wrong, "mattermost", brief=BRIEF.format(line))
    assert names(root, "credentials-mismatch") == [("credentials-mismatch", 3)]


@pytest.mark.parametrize(
    "code",
    [
        LOGIN.format("{'login_id': 'crew@example.com', 'password': 'Open-9'}"),
        LOGIN.format("{'login_id': 'root', 'password': 'other'}"),
        LOGIN.format("{'host': 'db', 'user': 'crew@example.com', 'password': 'other'}"),
        LOGIN.format("{'login_id': 'crew@example.com', 'password': os.environ.get('P', 'Open-9')}"),
        "for secret in ('Open-8', 'Open-9'):\n    "
        + LOGIN.format("{'login_id': 'crew@example.com', 'password': secret}"),
        LOGIN.format("{'login_id': 'crew@example.com', 'password': 'Changed-1'}"),
        "import pymysql\npymysql.connect(user='crew@example.com', password='other')\n",
    ],
)
def test_logins_that_contradict_nothing(saas, code):
    brief = BRIEF.format("- mattermost: crew@example.com / Open-9").replace("Post.", "Set the password to Changed-1.")
    assert names(saas(code, "mattermost", brief=brief), "credentials-mismatch") == []


def test_a_user_name_that_is_nearly_the_briefs(saas):
    code = LOGIN.format("{'login_id': 'crew@exampel.com', 'password': 'Open-9'}")
    root = saas(code, "mattermost", brief=BRIEF.format("- mattermost: crew@example.com / Open-9"))
    (finding,) = lint(root, "credentials-mismatch")
    assert "user name" in finding.message
    assert "Open-9" not in finding.message


def test_an_access_code_without_a_user(saas):
    code = "requests.post('http://x:' + os.environ['SIYUAN_PORT'], json={'authCode': 'river6'}, timeout=5)\n"
    told = BRIEF.format("- siyuan: accessAuthCode={}")
    assert names(saas(code, "siyuan", brief=told.format("river7")), "credentials-mismatch")


# ---------------------------------------------------------------- the graders' files

SCRIPT = "#!/bin/bash\nmkdir -p /logs/verifier\n{}\necho $((! $?)) > /logs/verifier/reward.txt\n"


def test_script(folder: Path, text: str) -> list[tuple[int, str]]:
    (folder / "tests/test.sh").write_text(SCRIPT.format(text))
    return [(f.location.line, f.help) for f in lint(folder, "grader-not-found")]


test_script.__test__ = False


@pytest.mark.parametrize(
    "text",
    [
        "pytest /tests/test_output.py",
        "python3 -m pytest -q /tests/test_output.py::test_a",
        "uvx --with pytest==8.4.1 pytest --ctrf /logs/verifier/ctrf.json /tests/test_output.py -rA",
        "cd /tests && pytest test_output.py",
        'TESTS=/tests\nbash "$TESTS/run.sh"',
        'cp /tests/data.json "$PWD/data.json"',
        "source $(dirname $0)/env.sh",
        "python3 /tests/check.py || exit 1",
    ],
)
def test_files_of_the_tests_folder_that_are_not_there(harbor_task, text):
    assert len(test_script(harbor_task, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "pytest /tests/test_outputs.py",
        "pytest /tests/test_*.py",
        "pytest /tests",
        "cd /app && pytest test_output.py",
        "cat > /tests/made.py <<'PY'\nprint(1)\nPY\npython3 /tests/made.py",
        "git clone https://example.com/x /tests/x\npytest /tests/x/test_a.py",
        "curl -o /tests/tool.sh https://example.com/tool.sh\nbash /tests/tool.sh",
        "mkdir -p /tests/lib && cp -r /app/lib/. /tests/lib/\npython3 /tests/lib/a.py",
        "python3 /tests/extra.py || true",
        "[ -f /tests/extra.sh ] && bash /tests/extra.sh",
        'bash "$UNKNOWN/x.sh"',
        "python3 -c 'open(\"/tests/x.py\")'",
    ],
)
def test_what_the_script_finds_or_makes_is_left_alone(harbor_task, text):
    assert test_script(harbor_task, text) == []


def test_the_file_that_was_meant_is_offered(harbor_task):
    assert test_script(harbor_task, "pytest /tests/test_output.py") == [(3, "did you mean `tests/test_outputs.py`?")]


def test_a_packet_names_its_checks_by_the_variable(tmp_path):
    folder = base_task("packet", tmp_path / "packet")
    text = (folder / "packet.json").read_text()
    (folder / "packet.json").write_text(text.replace("check_product.py", "check_products.py"))
    (finding,) = lint(folder, "grader-not-found")
    assert finding.location.path.name == "packet.json"
    assert finding.help == "did you mean `checks/check_product.py`?"


def test_a_shared_support_file_may_lie_beside_the_task(tmp_path):
    folder = base_task("deepgym", tmp_path / "suite" / "product")
    (tmp_path / "suite" / "_shared").mkdir()
    (tmp_path / "suite" / "_shared" / "scoring.py").write_text("x = 1\n")
    meta = {"name": "product", "support_files": ["../_shared/scoring.py", "../_shared/scorign.py"]}
    (folder / "metadata.json").write_text(json.dumps(meta))
    assert [f.message for f in lint(folder, "grader-not-found")] == [
        "`../_shared/scorign.py`, which the grader `verifier.py` names, does not exist"
    ]


# ---------------------------------------------------------------- duplicate names


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("class TestA:\n    def test_x(self): ...\nclass TestB:\n    def test_x(self): ...\n", []),
        ("class TestA:\n    def test_x(self): ...\n    def test_x(self): ...\n", [3]),
        ("class TestA: ...\nclass TestA: ...\n", [2]),
        ("def helper(): ...\ndef helper(): ...\n", []),
        ("def test_x(): ...\ntest_x()\ndef test_x(): ...\n", []),
        ("@app.route('/a')\ndef test_x(): ...\n@app.route('/b')\ndef test_x(): ...\n", []),
        ("@pytest.mark.slow\ndef test_x(): ...\nasync def test_x(): ...\n", [3]),
    ],
)
def test_a_test_that_another_definition_replaces(harbor_task, code, lines):
    (harbor_task / "tests/test_outputs.py").write_text(code)
    assert [f.location.line for f in lint(harbor_task, "duplicate-grader")] == lines


POINTS = "def check(label, weight, ok):\n    print(label, weight, ok, file=sys.stderr)\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("check('a', 1, True)\ncheck('a', 1, False)\n", 1),
        ("if x:\n    check('a', 1, True)\nelse:\n    check('a', 1, False)\n", 0),
        ("def one():\n    check('a', 1, x)\ndef two():\n    check('a', 1, y)\none()\ntwo()\n", 1),
        ("def one():\n    check('a', 1, x)\ndef two():\n    check('a', 1, y)\nfor f in (one, two):\n    f()\n", 1),
        ("def one():\n    check('a', 1, x)\ndef two():\n    check('a', 1, y)\none() if x else two()\n", 0),
        ("def one():\n    if y:\n        check('a', 1, x)\n        return\n    check('a', 1, y)\none()\n", 0),
    ],
)
def test_labels_collide_only_where_both_are_printed(saas, code, found):
    assert len(lint(saas(POINTS + code, "mattermost"), "duplicate-grader")) == found


def test_a_command_that_stands_twice_in_a_packet(tmp_path):
    folder = base_task("packet", tmp_path / "packet")
    value = json.loads((folder / "packet.json").read_text())
    value["verification"]["checks"] *= 2
    (folder / "packet.json").write_text(json.dumps(value, indent=1))
    (finding,) = lint(folder, "duplicate-grader")
    assert finding.location.line > finding.related[0].line

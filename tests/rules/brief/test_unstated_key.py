"""The rule `unstated-key`, beyond the examples on its page."""

import pytest

BRIEF = "Describe the order in `/app/orders.txt` as a JSON object and save it as `/app/order.json`.\n"
SOLVE = """python3 - <<'PY'
import json
json.dump({"total_amount": 12, "items": 3}, open("/app/order.json", "w"))
PY
"""


def order(body: str) -> str:
    return (
        f"import csv, json, sqlite3, subprocess\n\n\ndef test_order():\n"
        f"    data = json.load(open('/app/order.json'))\n    {body}\n"
    )


READS = order("assert data['total_amount'] == 12")


def lines(found):
    return [f.location.line for f in found]


@pytest.mark.parametrize(
    "body",
    [
        "assert data['total_amount'] == 12",
        "assert 'total_amount' in data",
        "assert data.get('total_amount') == 12",
        "assert {'total_amount'} <= set(data) and data['total_amount'] > 3",
    ],
)
def test_a_key_that_only_verifier_and_solution_know(findings, body):
    assert lines(findings("unstated-key", brief=BRIEF, tests=order(body), solve=SOLVE)) == [6]


def test_naming_the_thing_is_not_naming_the_key(findings):
    assert findings("unstated-key", brief=BRIEF + "Give its total amount.", tests=READS, solve=SOLVE)
    assert not findings("unstated-key", brief=BRIEF + "Give `total_amount`.", tests=READS, solve=SOLVE)


def test_a_key_of_one_word_is_told_by_that_word(findings):
    reads = order("assert data['items'] == 3")
    assert not findings("unstated-key", brief=BRIEF + "Give the number of items.", tests=reads, solve=SOLVE)
    assert findings("unstated-key", brief=BRIEF, tests=reads, solve=SOLVE)


def test_a_form_in_the_brief_tells_its_fillings(findings):
    brief = BRIEF + "For each of total and net there is a key `<which>_amount`.\n"
    assert not findings("unstated-key", brief=brief, tests=READS, solve=SOLVE)


def test_an_input_or_a_shipped_schema_tells_the_key(findings):
    files = {
        "environment/schema.json": '{"required": ["total_amount"]}\n',
        "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY schema.json /app/\n",
    }
    assert not findings("unstated-key", brief=BRIEF, tests=READS, solve=SOLVE, files=files)


@pytest.mark.parametrize(
    "body",
    [
        "assert data.get('note', '') is not None",  # it may be missing
        "assert (data['sum'] if 'sum' in data else data['total_amount']) == 12",  # tried in turn
        "data['gap'] = 3; assert data['gap'] == 3",  # the verifier's own
        "assert data['2024-01'] == 3",  # no name but a value
        "assert json.load(open('/app/package.json'))['devDependencies']",  # what a format fixes
    ],
)
def test_no_demand_on_the_agent(findings, body):
    solve = SOLVE + "# note gap sum 2024-01 devDependencies\n"
    found = findings("unstated-key", brief=BRIEF, tests=order(body), solve=solve)
    assert not [f for f in found if "total_amount" not in f.message]


def test_without_a_solution_only_a_data_file_of_the_brief_counts(findings):
    assert lines(findings("unstated-key", brief=BRIEF, tests=READS, solve=None)) == [6]
    elsewhere = READS.replace("/app/order.json", "/app/other.json")
    assert not findings("unstated-key", brief=BRIEF, tests=elsewhere, solve=None)


def test_columns_and_sheets(findings):
    reads = "import csv\nimport openpyxl\n\n\ndef test():\n    for row in csv.DictReader(open('/app/out.csv')):\n"
    reads += (
        "        assert row['unit_price']\n"
        "    book = openpyxl.load_workbook('/app/out.xlsx')\n    assert book['Sums by year']\n"
    )
    solve = "echo 'unit_price' > /app/out.csv\npython3 -c 'book.create_sheet(\"Sums by year\")'\n"
    brief = "Write the prices to `/app/out.csv` and `/app/out.xlsx`.\n"
    assert lines(findings("unstated-key", brief=brief, tests=reads, solve=solve)) == [7, 9]


def test_tables_and_columns_of_a_database(findings):
    reads = "import sqlite3\n\n\ndef test():\n    base = sqlite3.connect('/app/out.db')\n"
    reads += (
        "    rows = base.execute('SELECT meter, wh_total FROM usage ORDER BY meter').fetchall()\n"
        "    assert rows == [('m-1', 3)]\n"
    )
    solve = "sqlite3 /app/out.db 'CREATE TABLE usage (meter TEXT, wh_total INTEGER)'\n"
    brief = "Keep the consumption of each meter in the SQLite database `/app/out.db`"
    found = findings("unstated-key", brief=brief + ".\n", tests=reads, solve=solve)
    assert [f.message.split("`")[1] for f in found] == ["usage", "wh_total"]
    assert not findings(
        "unstated-key", brief=brief + ", table `usage` (`meter`, `wh_total`).\n", tests=reads, solve=solve
    )


def test_a_keyword_argument_in_a_driver_that_runs_apart(findings):
    brief = "Write the module `/app/rates.py` with the function `convert`, which takes an amount and a rate.\n"
    driver = "import sys\nsys.path.insert(0, '/app')\nfrom rates import convert\nprint(convert(10, rate=2, digits=1))\n"
    reads = (
        "import subprocess\n\n\ndef test():\n"
        "    run = subprocess.run(['python3', '-I', '/tests/drive.py'], user='nobody', capture_output=True)\n"
    )
    reads += "    assert run.stdout == b'20.0\\n'\n"
    solve = "printf 'def convert(amount, rate, digits=2):\\n    return 1\\n' > /app/rates.py\n"
    files = {"tests/drive.py": driver}
    found = findings("unstated-key", brief=brief, tests=reads, solve=solve, files=files)
    assert [(f.location.path.name, f.message.split("`")[1]) for f in found] == [("drive.py", "digits")]
    assert not findings("unstated-key", brief=brief + "`digits` are kept.", tests=reads, solve=solve, files=files)


def test_what_an_application_answers_is_no_demand(tmp_path):
    from scenlint.testing import base_task, lint

    root = base_task("saas-bench", tmp_path / "suite")
    verify = next(root.glob("tasks/*/*/*/verify.py"))
    verify.write_text(
        "import os, sys, requests\nreply = requests.get(os.environ['MATTERMOST_PORT'], timeout=5).json()\n"
        "ok = reply['last_modified_by'] == 'x'\nprint(f\"[{'PASS' if ok else 'FAIL'}] (1pt) saved\", file=sys.stderr)\n"
    )
    assert not lint(root, "unstated-key")


def test_arguments_spread_from_a_list_are_no_keyword(findings):
    tests = (
        "import sys\n\nsys.path.insert(0, '/app')\n\n\ndef test_it():\n    from solution import total\n"
        "    for case in open('/tests/cases.txt'):\n        given = eval(case)\n"
        "        assert total(*given, scale=2) == 4\n"
    )
    brief = "Write `total(numbers)` to `/app/solution.py`.\n"
    found = findings(
        "unstated-key", brief=brief, tests=tests, solve="echo 'def total(*n, scale): pass' > /app/solution.py\n"
    )
    assert [f.message.split("`")[1] for f in found] == ["scale"]

"""The rule `unstated-name`, beyond the examples on its page."""

import pytest

BRIEF = "Write the Python module `/app/rates.py`, which converts amounts of money.\n"
SOLVE = "printf 'def to_euro(amount):\\n    return amount\\n\\nclass Table:\\n    pass\\n' > /app/rates.py\n"


def names(found):
    return [f.message.split("`")[1] for f in found]


@pytest.mark.parametrize(
    "tests",
    [
        "import sys\nsys.path.insert(0, '/app')\nfrom rates import to_euro\n\n\n"
        "def test():\n    assert to_euro(3) == 3\n",
        "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\ndef test():\n    assert rates.to_euro(3) == 3\n",
        "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\ndef test():\n    assert hasattr(rates, 'to_euro')\n",
        "import importlib.util as u\n\n\ndef test():\n    spec = u.spec_from_file_location('rates', '/app/rates.py')\n"
        "    rates = u.module_from_spec(spec)\n    spec.loader.exec_module(rates)\n    assert rates.to_euro(3) == 3\n",
    ],
)
def test_a_function_that_only_verifier_and_solution_know(findings, tests):
    assert names(findings("unstated-name", brief=BRIEF, tests=tests, solve=SOLVE)) == ["to_euro"]
    assert not findings("unstated-name", brief=BRIEF + "Its function is `to_euro(amount)`.", tests=tests, solve=SOLVE)


def test_a_shipped_stub_tells_the_name(findings):
    tests = "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\ndef test():\n    assert rates.to_euro(3) == 3\n"
    files = {
        "environment/rates.py": "def to_euro(amount):\n    raise NotImplementedError\n",
        "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY rates.py /app/\n",
    }
    assert not findings("unstated-name", brief=BRIEF, tests=tests, solve=SOLVE, files=files)


def test_names_tried_in_turn_are_told_with_one_of_them(findings):
    tests = (
        "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\ndef test():\n"
        "    assert any(hasattr(rates, n) for n in ['to_euro', 'in_euro', 'convert'])\n"
    )
    assert len(findings("unstated-name", brief=BRIEF, tests=tests, solve=SOLVE)) == 1
    assert not findings("unstated-name", brief=BRIEF + "Call it `in_euro`.", tests=tests, solve=SOLVE)


def test_a_name_with_a_default_is_no_demand(findings):
    tests = (
        "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\n"
        "def test():\n    assert getattr(rates, 'to_euro', abs)(3) == 3\n"
    )
    assert not findings("unstated-name", brief=BRIEF, tests=tests, solve=SOLVE)


def test_what_the_solution_does_not_define_was_there_before(findings):
    tests = "import sys\nsys.path.insert(0, '/app')\nimport rates\n\n\ndef test():\n    assert rates.to_euro(3) == 3\n"
    assert not findings("unstated-name", brief=BRIEF, tests=tests, solve="sed -i s/floor/round/ /app/rates.py\n")


def test_an_option_of_the_agents_program(findings):
    brief = "Write the command line program `/app/convert.py`; it prints the amount in euro.\n"
    tests = (
        "import subprocess\n\n\ndef test():\n"
        "    run = subprocess.run(['python3', '/app/convert.py', '--amount', '3', '--from-currency', 'CHF'],"
        " capture_output=True)\n    assert run.stdout == b'3'\n"
    )
    solve = 'echo \'parser.add_argument("--amount"); parser.add_argument("--from-currency")\' > /app/convert.py\n'
    assert names(findings("unstated-name", brief=brief, tests=tests, solve=solve)) == ["--from-currency"]
    told = brief + "It takes `--amount` and `--from-currency`.\n"
    assert not findings("unstated-name", brief=told, tests=tests, solve=solve)


def test_what_any_module_of_a_network_has_is_no_name_of_the_agent(findings):
    tests = (
        "import sys\nsys.path.insert(0, '/app')\nfrom model import Net\n\n\n"
        "def test():\n    assert [n for n, _ in Net().named_modules()] and Net().forward(3).view(3, -1).mean() > 0\n"
    )
    brief = "Write a network `Net` in `/app/model.py`.\n"
    assert not findings("unstated-name", brief=brief, tests=tests, solve=None)

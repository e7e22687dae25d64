"""The rule `unstated-literal`, beyond the examples on its page."""

import pytest

from scenlint.testing import base_task, lint

BRIEF = "Find the broken night in `/app/nights.txt` and report it in `/app/report.txt`, in your own words.\n"
SOLVE = "echo 'FINDING:: tue is broken (code QX-12), state NEEDS_CARE' > /app/report.txt\n"


def report(body: str) -> str:
    return f"import re\n\n\ndef test_report():\n    text = open('/app/report.txt').read()\n    {body}\n"


def lines(found):
    return [f.location.line for f in found]


MARKER = report("assert text.startswith('FINDING::')")


@pytest.mark.parametrize(
    "body",
    [
        "assert text.startswith('FINDING::')",
        "assert 'FINDING::' in text",
        "assert re.search(r'^FINDING:: (.*)$', text, re.M)",
        "found = re.match(r'FINDING::(.*)', text)\n    if not found:\n        raise AssertionError('no line')",
        "assert re.search(r'^FINDING::(.*)', text)[1]",
        "assert any(line.startswith('FINDING::') for line in text.splitlines())",
        "pattern = re.compile(r'FINDING::.*')\n    assert pattern.match(text)",
        "assert 'NEEDS_CARE' in text",
    ],
)
def test_wording_that_only_verifier_and_solution_know(findings, body):
    found = findings("unstated-literal", brief=BRIEF, tests=report(body), solve=SOLVE)
    assert len(found) == 1, [f.message for f in found]
    assert found[0].location.line >= 6


@pytest.mark.parametrize(
    "told",
    [
        "Begin with `FINDING::`.",
        "Begin with FINDING followed by two colons.",
        "Example:\n\n    FINDING:: mon is broken\n",
    ],
)
def test_the_brief_may_tell_it_by_name_or_example(findings, told):
    assert not findings("unstated-literal", brief=BRIEF + told, tests=MARKER, solve=SOLVE)


@pytest.mark.parametrize(
    "body",
    [
        "assert not text.startswith('FINDING::')",  # forbidden
        "if text.startswith('FINDING::'):\n        raise AssertionError('no markers')",
        "assert any(m in text for m in ('FINDING::', 'RESULT::'))",  # tried in turn
        "assert text.startswith('FINDING::') or text.startswith('#')",
        "assert 'tue' in text",  # the answer
        # chooses lines
        "rows = [line for line in text.splitlines() if line.startswith('FINDING::')]\n    assert len(rows) < 9",
    ],
)
def test_no_demand_for_a_wording(findings, body):
    assert not findings("unstated-literal", brief=BRIEF, tests=report(body), solve=SOLVE)


def test_what_a_tool_prints_is_no_wording_of_the_agent(findings):
    tests = (
        "import re, subprocess\n\n\ndef test():\n"
        "    shown = subprocess.run(['openssl', 'x509', '-in', '/app/cert.pem', '-dates'],"
        " capture_output=True, text=True).stdout\n    assert re.search('^notAfter=(.*)', shown)\n"
    )
    solve = "openssl req -x509 -out /app/cert.pem\nopenssl x509 -in /app/cert.pem -dates | grep notAfter=\n"
    assert not findings("unstated-literal", brief="Make a certificate `/app/cert.pem`.\n", tests=tests, solve=solve)


def test_what_the_agents_program_prints_is(findings):
    tests = (
        "import subprocess\n\n\ndef test():\n"
        "    shown = subprocess.run(['/app/check.sh'], capture_output=True, text=True).stdout\n"
        "    assert 'all nights are sound' in shown\n"
    )
    solve = "echo 'echo all nights are sound' > /app/check.sh\n"
    brief = "Write `/app/check.sh`, which says whether the backups are complete.\n"
    assert lines(findings("unstated-literal", brief=brief, tests=tests, solve=solve)) == [6]
    assert not findings("unstated-literal", brief=brief + "It prints `all nights are sound`.", tests=tests, solve=solve)


def test_a_status_word_in_a_field(findings):
    tests = (
        "import json\n\n\ndef test():\n    data = json.load(open('/app/report.json'))\n"
        "    assert data['state'] == 'NEEDS_CARE'\n"
    )
    solve = 'echo \'{"state": "NEEDS_CARE"}\' > /app/report.json\n'
    brief = "Write the `state` of the backups to `/app/report.json`.\n"
    assert lines(findings("unstated-literal", brief=brief, tests=tests, solve=solve)) == [6]
    assert not findings("unstated-literal", brief=brief + "It is `FINE` or `NEEDS_CARE`.", tests=tests, solve=solve)
    computed = "python3 /app/judge.py > /app/report.json\n"  # then it is an answer that is worked out
    assert not findings("unstated-literal", brief=brief, tests=tests, solve=computed)


@pytest.mark.parametrize(
    ("brief", "found"),
    [
        ("Create a voucher and choose its code.", True),
        ("Create a voucher. Its code is `QB-`, four digits, a hyphen and two capitals.", False),
        ("Create a voucher with a code like QB-1234-AB.", False),
    ],
)
def test_the_form_of_a_code_in_an_application(tmp_path, brief, found):
    root = base_task("saas-bench", tmp_path / "suite")
    verify = next(root.glob("tasks/*/*/*/verify.py"))
    verify.write_text(
        "import os, re, sys, requests\nCODE = re.compile(r'QB-[0-9]{4}-[A-Z]{2}')\n"
        "rows = requests.get(os.environ['MATTERMOST_PORT'], timeout=5).json()\n"
        "ok = bool(rows) and CODE.fullmatch(rows[0]['code']) is not None\n"
        "print(f\"[{'PASS' if ok else 'FAIL'}] (1pt) code\", file=sys.stderr)\n"
    )
    verify.with_name("description.md").write_text(f"**Steps:**\n\n1. {brief}\n")
    assert lines(lint(root, "unstated-literal")) == ([2] if found else [])


FIELDS = "Find the broken night in `/app/nights.txt` and write its name and state to `/app/report.txt`, a line each.\n"


@pytest.mark.parametrize(
    "body",
    [
        "assert 'NIGHT_NAME=' in text",
        "assert text.splitlines()[0].startswith('NIGHT_NAME=')",
        "for field in ('NIGHT_NAME=', 'STATE='):\n        assert field in text",
        "assert all(f'{field}:' in text for field in ('night_name', 'night_state'))",
    ],
)
def test_the_fields_of_a_report_without_a_solution(findings, body):
    found = findings("unstated-literal", brief=FIELDS, tests=report(body), solve=None)
    assert found
    told = FIELDS + "The fields are NIGHT_NAME, STATE and `night_state`.\n"
    assert not findings("unstated-literal", brief=told, tests=report(body), solve=None)


@pytest.mark.parametrize(
    "body",
    [
        "assert any(field in text for field in ('NIGHT_NAME=', 'NIGHT='))",
        "assert 'NIGHT_NAME=' in open('/etc/nights.conf').read()",
        "assert re.search('^night 1.20', open('/app/nights.conf').read())",
    ],
)
def test_a_choice_of_fields_or_the_settings_of_a_program(findings, body):
    assert not findings("unstated-literal", brief=FIELDS, tests=report(body), solve=None)

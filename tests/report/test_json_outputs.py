"""The machine-readable outputs but SARIF: JSON, GitLab, JUnit."""

import json
from xml.etree import ElementTree

from scenlint.report import render
from scenlint.task.finding import Confidence, Kind, NotAssessed, Severity, related


def test_json_holds_every_field(desk):
    desk.card()
    brief = desk.span("a/instruction.md", "Use 3.12.\n", "3.12")
    desk.add(
        desk.span("a/Dockerfile", "\ufeff日 FROM x\n", "FROM x"),
        "no digest",
        help="pin it",
        related=[related(brief, "the brief says 3.12")],
        refute="a digest",
        kind=Kind.CLAIM,
        confidence=Confidence.LOW,
        policy="harbor",
    )
    desk.report.not_assessed = [NotAssessed("missing-oracle", "SL116", "a", "no place")]
    desk.report.skipped, desk.report.missing, desk.report.crashes = ["x is no task"], ["gone"], ["internal error"]
    desk.report.suppressed, desk.report.baselined = 2, 3
    assert json.loads(render(desk.report, "json")) == {
        "version": "1.2.3",
        "findings": [
            {
                "rule": "unpinned-image",
                "code": "SL301",
                "severity": "error",
                "confidence": "low",
                "kind": "claim",
                "task": "a",
                "path": "a/Dockerfile",
                "line": 1,
                "column": 3,
                "end_line": 1,
                "end_column": 9,
                "message": "no digest",
                "help": "pin it",
                "related": [
                    {
                        "path": "a/instruction.md",
                        "line": 1,
                        "column": 5,
                        "end_line": 1,
                        "end_column": 9,
                        "message": "the brief says 3.12",
                    }
                ],
                "quote": "FROM x",
                "refute": "a digest",
                "policy": "harbor",
                "byte": 7,
                "fix": None,
            }
        ],
        "not_assessed": [{"rule": "missing-oracle", "code": "SL116", "task": "a", "reason": "no place"}],
        "skipped": ["x is no task"],
        "missing": ["gone"],
        "crashes": ["internal error"],
        "summary": {
            "tasks": 1,
            "errors": 1,
            "warnings": 0,
            "infos": 0,
            "suppressed": 2,
            "baselined": 3,
            "not_assessed": 1,
            "rules": 1,
            "crashes": 1,
            "fixed": 0,
            "fixable": 0,
            "fixable_unsafely": 0,
        },
    }


def test_json_is_ascii_and_free_of_surrogates(desk):
    desk.add(desk.span("日本/b\udcff", "x", "x"), "`\udcfe` and 😀")
    out = render(desk.report, "json")
    assert out.isascii()
    found = json.loads(out)["findings"][0]
    assert (found["path"], found["message"]) == ("日本/b\\xff", "`\\xfe` and 😀")


def test_json_of_a_whole_folder_has_no_byte_offset(desk):
    desk.add(desk.root / "a")
    found = json.loads(render(desk.report, "json"))["findings"][0]
    assert (found["path"], found["line"], found["byte"], found["quote"]) == ("a", 1, None, "")


def test_gitlab_entry(desk, monkeypatch):
    monkeypatch.setenv("CI_PROJECT_DIR", str(desk.root.parent))
    desk.add(desk.span("a b/f", "x\ny\nz\n", "y\nz"), "no digest", severity=Severity.WARNING)
    (entry,) = json.loads(render(desk.report, "gitlab"))
    assert len(entry.pop("fingerprint")) == 32
    assert entry == {
        "description": "SL301 unpinned-image: no digest",
        "check_name": "unpinned-image",
        "severity": "minor",
        "location": {"path": f"{desk.root.name}/a b/f", "lines": {"begin": 2, "end": 3}},
    }


def test_gitlab_fingerprints_are_unique(desk):
    for _ in range(3):
        desk.add(desk.span("f", "x", "x"))
    marks = [entry["fingerprint"] for entry in json.loads(render(desk.report, "gitlab"))]
    assert len(set(marks)) == 3


def test_junit_has_a_suite_per_task_and_a_case_per_rule(desk):
    desk.add(desk.span("a/f", "x", "x"), "`\x01<b>&\udcff` 日", help="do this", task="a")
    desk.add(desk.root / "a", "a hint", rule="shared-verifier", code="SL415", severity=Severity.INFO, task="a")
    desk.report.ran = {"a": ["unpinned-image", "shared-verifier", "tautology"], "b": ["tautology"]}
    desk.report.not_assessed = [NotAssessed("missing-oracle", "SL116", "b", "no place")]
    assert render(desk.report, "junit") == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="scenlint" time="0.000" tests="5" failures="1" errors="0" skipped="1">\n'
        '  <testsuite name="a" tests="3" failures="1" errors="0" skipped="0">\n'
        '    <testcase classname="a" name="shared-verifier">\n'
        "      <system-out>a:1:1: info: a hint</system-out>\n"
        "    </testcase>\n"
        '    <testcase classname="a" name="tautology" />\n'
        '    <testcase classname="a" name="unpinned-image">\n'
        '      <failure message="`&#65533;&lt;b&gt;&amp;\\xff` &#26085;" type="error">'
        "a/f:1:1: error: `&#65533;&lt;b&gt;&amp;\\xff` &#26085;\n  help: do this</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="b" tests="2" failures="0" errors="0" skipped="1">\n'
        '    <testcase classname="b" name="missing-oracle">\n'
        '      <skipped message="not assessed: no place" />\n'
        "    </testcase>\n"
        '    <testcase classname="b" name="tautology" />\n'
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_junit_shows_internal_errors(desk):
    desk.report.crashes = ["internal error in rule tautology on a"]
    root = ElementTree.fromstring(render(desk.report, "junit"))
    assert root.get("errors") == "1"
    assert root.find(".//error").get("message") == "internal error in rule tautology on a"

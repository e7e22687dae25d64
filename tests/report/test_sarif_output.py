"""SARIF: valid by the standard's own schema, exact URIs and columns, fingerprints that survive moved lines."""

import json
from pathlib import Path

import jsonschema
import pytest

from scenlint.report import render
from scenlint.task.finding import Confidence, Kind, NotAssessed, Severity, related

SCHEMA = json.loads(Path(__file__).with_name("sarif-2.1.0-rtm.5.json").read_text("utf-8"))


def sarif(desk):
    """The one run of the log, once the whole log has been found valid."""
    out = render(desk.report, "sarif")
    assert out.isascii()
    log = json.loads(out)
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(log)
    return log["runs"][0]


def place(result):
    return result["locations"][0]["physicalLocation"]


def test_whole_run(desk):
    desk.card(help="# unpinned-image\n\nText.", aliases=("DL3007",), severity=Severity.WARNING, kind=Kind.FACT)
    desk.card("missing-oracle", "SL116", summary="No reference solution.", confidence=Confidence.HIGH)
    brief = desk.span("a/instruction.md", "Use 3.12.\n", "3.12")
    desk.add(
        desk.span("a/Dockerfile", "😀 FROM x\n", "x"),
        "`x` has no digest",
        help="pin it",
        related=[related(brief, "the brief says 3.12")],
        refute="a digest",
        policy="seed",
    )
    desk.report.not_assessed = [NotAssessed("missing-oracle", "SL116", t, "no place for one") for t in ("a", "b")]
    desk.report.skipped, desk.report.suppressed, desk.report.baselined, desk.report.tasks = ["x is no task"], 2, 1, 2
    run = sarif(desk)
    mark = run["results"][0].pop("partialFingerprints")
    assert list(mark) == ["scenlint/v1"]
    assert run == {
        "tool": {
            "driver": {
                "name": "scenlint",
                "version": "1.2.3",
                "rules": [
                    {
                        "id": "SL116",
                        "name": "missing-oracle",
                        "shortDescription": {"text": "No reference solution."},
                        "defaultConfiguration": {"level": "warning"},
                        "properties": {"precision": "high", "kind": "claim", "aliases": []},
                    },
                    {
                        "id": "SL301",
                        "name": "unpinned-image",
                        "shortDescription": {"text": "An image without a digest."},
                        "help": {"text": "# unpinned-image\n\nText.", "markdown": "# unpinned-image\n\nText."},
                        "defaultConfiguration": {"level": "warning"},
                        "properties": {"precision": "medium", "kind": "fact", "aliases": ["DL3007"]},
                    },
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": desk.root.as_uri() + "/"}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": "x is no task"}},
                    {
                        "level": "note",
                        "message": {"text": "missing-oracle not assessed for 2 tasks: no place for one"},
                        "associatedRule": {"id": "SL116", "index": 0},
                        "properties": {"tasks": ["a", "b"]},
                    },
                ],
            }
        ],
        "results": [
            {
                "ruleId": "SL301",
                "ruleIndex": 1,
                "level": "error",
                "message": {"text": "`x` has no digest\npin it"},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": "a/Dockerfile", "uriBaseId": "%SRCROOT%"},
                            "region": {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 9},
                        }
                    }
                ],
                "properties": {
                    "task": "a",
                    "kind": "fact",
                    "confidence": "high",
                    "policy": "seed",
                    "refute": "a digest",
                },
                "relatedLocations": [
                    {
                        "id": 0,
                        "physicalLocation": {
                            "artifactLocation": {"uri": "a/instruction.md", "uriBaseId": "%SRCROOT%"},
                            "region": {"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 9},
                        },
                        "message": {"text": "the brief says 3.12"},
                    }
                ],
            }
        ],
        "properties": {"tasks": 2, "suppressed": 2, "baselined": 1, "notAssessed": 2},
    }


def test_empty_run_is_valid(desk):
    assert sarif(desk)["results"] == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/f", "a%20b/f"),
        ("a#b/f", "a%23b/f"),
        ("100%/f", "100%25/f"),
        ("x:y", "./x%3Ay"),
        ("x:y/f", "./x%3Ay/f"),
        ("d/x:y", "d/x%3Ay"),
        ("a?b", "a%3Fb"),
        ("日本/f", "%E6%97%A5%E6%9C%AC/f"),
        ("b\udcff", "b%FF"),
    ],
)
def test_uri_names_exactly_the_file(desk, path, uri):
    desk.add(desk.span(path, "x", "x"))
    assert place(sarif(desk)["results"][0])["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_file_outside_the_root_is_absolute(desk):
    desk.add(desk.span("f g", "x", "x"))
    desk.report.root = desk.root / "inner"
    assert place(sarif(desk)["results"][0])["artifactLocation"] == {"uri": (desk.root / "f g").as_uri()}


def test_whole_folder_has_no_region(desk):
    desk.add(desk.root / "a")
    assert place(sarif(desk)["results"][0]) == {"artifactLocation": {"uri": "a", "uriBaseId": "%SRCROOT%"}}


def test_empty_span_and_span_over_lines(desk):
    desk.add(desk.span("empty", ""))
    desk.add(desk.span("two", "ab\ncd\n", "b\nc"))
    first, second = (place(result)["region"] for result in sarif(desk)["results"])
    assert first == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    assert second == {"startLine": 1, "startColumn": 2, "endLine": 2, "endColumn": 2}


def test_levels(desk):
    for severity in Severity:
        desk.add(desk.root / severity, severity=severity)
    levels = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: result["level"]
        for result in sarif(desk)["results"]
    }
    assert levels == {"error": "error", "warning": "warning", "info": "note"}


def test_internal_errors_make_the_invocation_unsuccessful(desk):
    desk.report.crashes, desk.report.missing = ["internal error in rule x"], ["gone"]
    (invocation,) = sarif(desk)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [n["level"] for n in invocation["toolExecutionNotifications"]] == ["error", "warning"]


def test_text_with_surrogates_is_valid(desk):
    desk.add(desk.span("f", b"\xff x", "x"), "`\udcff` and \U0001f600")
    assert sarif(desk)["results"][0]["message"]["text"] == "`\\xff` and \U0001f600"

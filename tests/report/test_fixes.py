"""Fixes in the outputs: what a person is told, and what a tool can apply."""

import json
from pathlib import Path

import jsonschema
import pytest

from scenlint.report import render
from scenlint.source.text import Edit, Span
from scenlint.task.fix import Fix

SARIF = json.loads(Path(__file__).with_name("sarif-2.1.0-rtm.5.json").read_text("utf-8"))
TEXT = "FROM x\r\nRUN é y\r\n"


@pytest.fixture
def fixed(desk):
    desk.card()
    span = desk.span("a/Dockerfile", TEXT, "x")
    inserted = Edit(Span(span.source, span.end, span.end), "@sha256:1")
    desk.add(span, "no digest", fix=Fix.of("pin it", inserted))
    other = Span(span.source, TEXT.index("y"), TEXT.index("y") + 1)
    desk.add(other, "no version", fix=Fix.of("guess it", Edit(other, "y==1"), safe=False, imports=("math",)))
    desk.add(desk.span("a/b", "z\n", "z"), "neither")
    return desk


def test_text_says_what_a_fix_does_and_how_it_is_had(fixed):
    out = render(fixed.report, "text")
    assert "  fix: pin it (fixable with `--fix`)\n" in out
    assert "  fix: guess it (fixable with `--fix --unsafe-fixes`)\n" in out
    assert out.splitlines()[-1].endswith("; 1 fixable with `--fix`, 1 more with `--unsafe-fixes`")


def test_the_summary_says_what_was_fixed(desk):
    desk.report.fixed = {"unpinned-image": 2, "latest-tag": 1}
    assert render(desk.report, "text").splitlines()[-1].endswith("; 3 fixed")
    data = json.loads(render(desk.report, "json"))
    assert data["fixed"] == {"latest-tag": 1, "unpinned-image": 2}
    assert data["summary"]["fixed"] == 3


def test_json_gives_edits_that_make_the_new_text(fixed):
    data = json.loads(render(fixed.report, "json"))
    fixes = [f["fix"] for f in data["findings"]]
    assert [f and (f["title"], f["safe"], f["imports"]) for f in fixes] == [
        ("pin it", True, []),
        ("guess it", False, ["math"]),
        None,
    ]
    text = TEXT
    for edit in reversed([e for f in fixes if f for e in f["edits"]]):
        text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
        assert edit["path"] == "a/Dockerfile"
    assert text == "FROM x@sha256:1\r\nRUN é y==1\r\n"
    assert fixes[1]["edits"][0] | {"path": ""} == {
        "path": "",
        "line": 2,
        "column": 7,
        "end_line": 2,
        "end_column": 8,
        "start": 14,
        "end": 15,
        "text": "y==1",
    }
    assert (data["summary"]["fixable"], data["summary"]["fixable_unsafely"]) == (1, 1)


def test_sarif_gives_them_as_fixes_of_the_result(fixed):
    log = json.loads(render(fixed.report, "sarif"))
    jsonschema.Draft4Validator(SARIF).validate(log)
    pinned, guessed, plain = log["runs"][0]["results"]
    assert "fixes" not in plain
    (fix,) = pinned["fixes"]
    assert fix["description"]["text"] == "pin it"
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == pinned["locations"][0]["physicalLocation"]["artifactLocation"]
    region = {"startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 7}
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "@sha256:1"}}]
    assert "unsafe" in guessed["fixes"][0]["description"]["text"]

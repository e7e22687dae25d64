"""Fingerprints: the same when lines move, different for different findings."""

from dataclasses import replace
from pathlib import Path

from scenlint.source.text import Source
from scenlint.task.finding import Finding
from scenlint.task.fingerprint import fingerprints

ROOT = Path("/suite")


def finding(text, needle, message="`x` is wrong", path="a/f.py", rule="tautology"):
    source = Source(ROOT / path, text.encode())
    begin = source.text.index(needle)
    return replace(Finding.at(source.span(begin, begin + len(needle)), message), rule=rule)


def mark(*arguments, **options):
    return fingerprints([finding(*arguments, **options)], ROOT)[0]


def test_moved_and_reindented_lines_keep_it():
    assert mark("assert True\n", "True") == mark("\n\n    assert  True\r\n", "True")


def test_line_numbers_in_the_message_do_not_count():
    assert mark("x", "x", "as on line 3") == mark("x", "x", "as on line 14")
    assert mark("x", "x", "lines 3-5: 3 keys") != mark("x", "x", "lines 4-6: 4 keys")


def test_rule_path_text_and_message_count():
    same = mark("x = 1\n", "x")
    others = [
        mark("x = 2\n", "x"),
        mark("x = 1\n", "x", path="b/f.py"),
        mark("x = 1\n", "x", rule="no-assertion"),
        mark("x = 1\n", "x", "`y` is wrong"),
    ]
    assert len({same, *others}) == 5


def test_equal_findings_are_numbered():
    twins = [finding("x\nx\n", "x"), finding("x\nx\n", "x")]
    first, second = fingerprints(twins, ROOT)
    assert first != second
    assert first == fingerprints(twins[:1], ROOT)[0]


def test_folder_and_undecodable_path_have_one():
    findings = [replace(Finding.at(ROOT / "b\udcff", "is missing"), rule="missing-file")]
    assert len(fingerprints(findings, ROOT)[0]) == 32

"""The text output: frames whose carets line up, related places, help, grounds, and the last line."""

from textwrap import dedent

import pytest

from scenlint.report import render
from scenlint.task.finding import Confidence, Kind, NotAssessed, Severity, related


def text(desk, **options):
    return render(desk.report, "text", **{"width": 80, **options})


def frame(desk, **options):
    """What is printed between the first line and the summary."""
    return text(desk, **options).split("\n\n")[0].split("\n")[1:]


def test_whole_output_with_related_place_help_and_grounds(desk):
    brief = desk.span("a/instruction.md", "# Task\n\nUse Python 3.12.\n", "Python 3.12")
    desk.add(
        desk.span("a/environment/Dockerfile", "ARG X\nFROM python:3.11\n", "python:3.11"),
        "`python:3.11` has no digest",
        help="pin it:\nFROM python@sha256:…",
        related=[related(brief, "the brief says 3.12")],
        refute="a digest that the build sets",
        confidence=Confidence.MEDIUM,
        kind=Kind.CLAIM,
        policy="seed",
    )
    desk.add(desk.root / "a", "`solution/` is missing", rule="missing-oracle", code="SL116", severity=Severity.WARNING)
    desk.report.suppressed = 2
    assert text(desk) == dedent("""\
        a: warning SL116 missing-oracle: `solution/` is missing

        a/environment/Dockerfile:2:6: error SL301 unpinned-image: `python:3.11` has no digest
          |
        2 | FROM python:3.11
          |      ^^^^^^^^^^^
          a/instruction.md:3:5: the brief says 3.12
            |
          3 | Use Python 3.12.
            |     -----------
          help: pin it:
                FROM python@sha256:…
          claim, medium confidence; under the profile `seed`; refuted by: a digest that the build sets

        1 task checked: 1 error, 1 warning (2 suppressed)
        """)


@pytest.mark.parametrize(
    ("line", "shown", "columns_before"),
    [
        ("\t\tgo(X)", "        go(X)", 11),
        ("ab\tgo(X)", "ab  go(X)", 7),
        ("日本語 X", "日本語 X", 7),
        ("😀 X", "😀 X", 3),
        ("👩‍👩‍👧 X", "👩‍👩‍👧 X", 3),
        ("👍🏽 X", "👍🏽 X", 3),
        ("❤️ X", "❤️ X", 3),
        ("🇩🇪 X", "🇩🇪 X", 3),
        ("e\u0301 X", "e\u0301 X", 2),
        ("a\u202eb X", "a<202e>b X", 9),
        ("a\u200bb X", "a<200b>b X", 9),
        ("a\x1b[31m X", "a\ufffd[31m X", 7),
        ("a\x7f X", "a<007f> X", 8),
    ],
)
def test_caret_stands_under_the_character(desk, line, shown, columns_before):
    desk.add(desk.span("f", f"{line}\n", "X"))
    assert frame(desk) == ["  |", f"1 | {shown}", f"  | {' ' * columns_before}^"]


def test_wide_characters_get_two_carets(desk):
    desk.add(desk.span("f", "a 日本 b\n", "日本"))
    assert frame(desk) == ["  |", "1 | a 日本 b", "  |   ^^^^"]


def test_carets_line_up_where_the_stream_escapes_characters(desk):
    desk.add(desk.span("f", "日 X\n", "X"))
    assert frame(desk, encoding="ascii") == ["  |", "1 | \\u65e5 X", "  |        ^"]


def test_undecodable_bytes_keep_their_column(desk):
    desk.add(desk.span("f", b"\xfa\xfb\xfc X\n", "X"))
    assert frame(desk) == ["  |", "1 | \ufffd\ufffd\ufffd X", "  |     ^"]


def test_byte_order_mark_does_not_shift_the_first_line(desk):
    desk.add(desk.span("f", b"\xef\xbb\xbfX = 1\n", "X"))
    assert text(desk).startswith("f:1:1: ")
    assert frame(desk) == ["  |", "1 | X = 1", "  | ^"]


def test_line_numbers_and_text_of_crlf_files(desk):
    desk.add(desk.span("f", "one\r\ntwo\r\nthree\r\n", "two"))
    assert frame(desk) == ["  |", "2 | two", "  | ^^^"]


def test_span_over_several_lines(desk):
    desk.add(desk.span("f", "x\ndef f():\n    y\n    z = 日\n", "def f():\n    y\n    z = 日"))
    assert frame(desk) == ["  |", "2 | / def f():", "3 | |     y", "4 | |     z = 日", "  | |__________^"]


def test_span_that_begins_inside_a_line(desk):
    desk.add(desk.span("f", "x = f(1,\n  2)\n", "f(1,\n  2)"))
    assert frame(desk) == ["  |", "1 |   x = f(1,", "  |  _____^", "2 | |   2)", "  | |____^"]


def test_long_span_ends_with_its_last_line(desk):
    body = "[\n" + " 1,\n" * 98 + "]"
    desk.add(desk.span("f", body, body))
    assert frame(desk)[-2:] == ["6 | |  1,", "  | |_... up to line 100"]


def test_span_that_takes_in_the_line_end_stays_on_its_line(desk):
    desk.add(desk.span("f", "abc\ndef\n", "c\n"))
    assert frame(desk) == ["  |", "1 | abc", "  |   ^"]


def test_gutter_is_as_wide_as_the_last_number(desk):
    desk.add(desk.span("f", "\n" * 8 + "a\nb\n", "a\nb"))
    assert frame(desk) == ["   |", " 9 | / a", "10 | | b", "   | |_^"]


def test_empty_file(desk):
    desk.add(desk.span("f", ""))
    assert text(desk).startswith("f:1:1: error")
    assert frame(desk) == ["  |", "1 |", "  | ^"]


@pytest.mark.parametrize("before", [300, 3000])
def test_long_line_is_cut_on_both_sides_of_the_span(desk, before):
    desk.add(desk.span("f", "a" * before + "NEEDLE" + "b" * 3000, "NEEDLE"))
    _, line, carets = frame(desk, width=60)
    assert line.startswith("1 | ...a")
    assert line.endswith("b...")
    assert len(line) == 60
    assert line.index("NEEDLE") == carets.index("^")
    assert carets.count("^") == 6


def test_span_longer_than_the_room_keeps_its_beginning(desk):
    desk.add(desk.span("f", "x = " + "N" * 900, "N" * 900))
    _, line, carets = frame(desk, width=60)
    assert line.index("N") == carets.index("^")
    assert len(carets) <= 60


def test_span_at_the_start_of_a_long_line_is_not_moved(desk):
    desk.add(desk.span("f", "key: " + "v" * 900, "key"))
    _, line, carets = frame(desk, width=40)
    assert line == "1 | key: " + "v" * 28 + "..."
    assert carets == "  | ^^^"


def test_finding_on_a_folder_has_neither_position_nor_frame(desk):
    desk.add(desk.root / "a", "`task.toml` is missing")
    assert text(desk).split("\n")[0] == "a: error SL301 unpinned-image: `task.toml` is missing"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b/x:y", "a b/x:y"),
        ("日本/f", "日本/f"),
        ("a\nb", "a b"),
        ("a\x1b[2Jb", "a<001b>[2Jb"),
        ("b\udcff", "b\\xff"),
    ],
)
def test_paths_with_odd_names(desk, name, shown):
    desk.add(desk.span(name, "x\n", "x"))
    assert text(desk).startswith(f"{shown}:1:1: error")


def test_message_cannot_move_the_cursor(desk):
    desk.add(desk.span("f", "x\n", "x"), "`a\x1b[2K\rb` is no key")
    assert "`a<001b>[2K<000d>b` is no key" in text(desk)


def test_secret_is_blanked_out_with_columns_kept(desk):
    key = "AKIA" + "A1B2" * 4
    desk.add(desk.span("f", f"key = {key} # X\n", "X"))
    assert frame(desk)[1:] == [f"1 | key = {'*' * 20} # X", f"  | {' ' * 29}^"]


def test_findings_are_ordered_by_place(desk):
    span = desk.span("b", "x\ny\n", "y")
    for where in (span, desk.span("b", "x\ny\n", "x"), desk.span("a", "x\n", "x")):
        desk.add(where)
    heads = [line.split(" ")[0] for line in text(desk).split("\n") if "error SL301" in line]
    assert heads == ["a:1:1:", "b:1:1:", "b:2:1:"]


def test_severity_of_the_rule_counts_where_the_finding_has_none(desk):
    desk.card(severity=Severity.INFO, confidence=Confidence.LOW)
    desk.add(desk.span("f", "x", "x"), severity=None, confidence=None)
    assert "f:1:1: info SL301" in text(desk)
    assert "fact, low confidence" in text(desk)


def test_color_wraps_but_never_changes_the_text(desk):
    import re

    desk.add(desk.span("f", "def f():\n  x\n", "def f():\n  x"), help="do\nthis")
    colored = text(desk, color=True)
    assert "\x1b[1;31merror\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == text(desk)


@pytest.mark.parametrize(
    ("severities", "facts", "line"),
    [
        ([], {"tasks": 12}, "12 tasks checked: no findings"),
        ([], {"tasks": 0}, "no task checked"),
        (["error", "error", "warning", "info"], {"tasks": 3}, "3 tasks checked: 2 errors, 1 warning, 1 info"),
        (["info", "info"], {}, "1 task checked: 2 info"),
        (
            [],
            {"suppressed": 2, "baselined": 5},
            "1 task checked: no findings (2 suppressed, 5 known findings hidden by the baseline)",
        ),
        ([], {"crashes": ["internal error in rule x"]}, "1 task checked: no findings (1 internal error)"),
        (
            [],
            {"not_assessed": [NotAssessed("missing-oracle", "SL116", "a", "no place")]},
            "1 task checked: no findings (1 rule result not assessed; `--verbose` lists them)",
        ),
    ],
)
def test_last_line_is_honest(desk, severities, facts, line):
    for severity in severities:
        desk.add(desk.root, severity=Severity(severity))
    for name, value in facts.items():
        setattr(desk.report, name, value)
    assert text(desk).split("\n")[-2] == line


def test_verbose_lists_what_was_not_assessed_by_reason(desk):
    desk.report.not_assessed = [
        *(NotAssessed("missing-oracle", "SL116", f"t{n}", "the format has no place for one") for n in range(4)),
        NotAssessed("unknown-site", "SL107", "t1", "no apps.yaml at hand"),
    ]
    assert text(desk, verbose=True) == dedent("""\
        not assessed: SL107 unknown-site: no apps.yaml at hand (t1)
        not assessed: SL116 missing-oracle: the format has no place for one (4 tasks)
        0 rules in 0.0 s

        1 task checked: no findings (5 rule results not assessed)
        """)


def test_skipped_paths_are_named_up_to_a_limit(desk):
    desk.report.skipped = [f"p{n} is no task" for n in range(7)]
    assert text(desk) == dedent("""\
        note: p0 is no task
        note: p1 is no task
        note: p2 is no task
        note: p3 is no task
        note: p4 is no task
        note: 2 more skipped; `--verbose` lists them

        1 task checked: no findings
        """)
    assert text(desk, verbose=True).count("is no task") == 7

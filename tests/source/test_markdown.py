"""Markdown as blocks and inline marks with exact places."""

import time
from pathlib import Path

import pytest

from scenlint.source.markdown import PARSE_LIMIT, Part, parse, rows
from scenlint.source.text import Fragment, Source


def read(text, language="markdown"):
    return parse(Fragment.of(Source(Path("brief.md"), text.encode()), language))


def test_every_block_is_the_stretch_of_text_it_says():
    document = read(
        "# Title\n\nSome *words*\nover two lines.\n\n1. one\n   more\n\n   - nested\n2. two\n\n```py\nx = 1\n```\n"
    )
    assert all(document.fragment.text[b.start : b.end] == b.text for b in document.blocks)
    assert [(b.part, b.line) for b in document.blocks] == [
        (Part.HEADING, "Title"),
        (Part.PARAGRAPH, "Some *words* over two lines."),
        (Part.ITEM, "one more"),
        (Part.ITEM, "nested"),
        (Part.ITEM, "two"),
        (Part.CODE, "x = 1"),
    ]


def test_items_know_number_marker_nesting_and_parent():
    document = read("3. three\n   * a\n   * b\n4) four\n")
    items = document.of(Part.ITEM)
    assert [(i.number, i.marker, i.depth) for i in items] == [(3, ".", 0), (None, "*", 1), (None, "*", 1), (4, ")", 0)]
    assert [None if i.parent is None else document.blocks[i.parent].line for i in items] == [
        None,
        "three",
        "three",
        None,
    ]


def test_an_item_keeps_its_further_paragraphs_and_not_its_nested_list():
    (outer, _, later) = read("- first\n\n  second\n\n  - inner\n\n- next\n").of(Part.ITEM)
    assert outer.text == "first\n\n  second"
    assert later.text == "next"


def test_a_list_carries_the_sentence_and_the_headings_above_it():
    text = "# Task\n\n**Requirements**\n\nIt is late. The output must:\n\n- be short\n\n## Hints\n\n- none\n"
    first, second = read(text).of(Part.ITEM)
    assert (first.lead, first.headings) == ("The output must:", ("Task", "Requirements"))
    assert (second.lead, second.headings) == ("", ("Task", "Hints"))


def test_a_list_broken_by_a_wrong_indent_keeps_its_introduction():
    items = read("Do this:\n\n1. one\n  - detail\n2. two\n").of(Part.ITEM)
    assert {i.lead for i in items} == {"Do this:"}


def test_fences_give_their_inner_text_and_info_string():
    (code,) = read("Before:\n\n~~~json path=a.json\n{}\n~~~\n").of(Part.CODE)
    assert (code.text, code.info) == ("{}\n", "json path=a.json")


def test_an_unclosed_fence_runs_to_the_end():
    (code,) = read("```\none\ntwo").of(Part.CODE)
    assert code.text == "one\ntwo"


def test_front_matter_and_comments_are_set_aside_without_moving_anything():
    document = read("---\ntitle: x\n---\n<!-- a\ncomment -->\nSay <!-- inner --> it.\n")
    assert document.text == "\nSay  it.\n"
    (said,) = document.of(Part.PARAGRAPH)
    assert document.span(said).line == 6
    assert len(document.of(Part.COMMENT)) == 2


def test_a_ruler_is_no_front_matter():
    assert "Words" in read("---\nWords here.\n---\n").text


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("code_spans", "Use `a b` and ``c`d``.", ["a b", "c`d"]),
        ("bold", "A **strong** and __other__ word, not `**this**`.", ["strong", "other"]),
        ("urls", "See https://example.org/x?y=1, or (http://a.b).", ["https://example.org/x?y=1", "http://a.b"]),
        ("quotes", "Say \"one\", 'two', “three” and 「四」, don't.", ["one", "two", "three", "四"]),
    ],
)
def test_inline_marks_are_found_at_their_place(kind, text, expected):
    document = read(text)
    found = getattr(document, kind)
    assert sorted(m.text for m in found) == sorted(expected)
    assert all(document.span(m).text == m.text for m in found)


def test_marks_in_code_blocks_are_no_marks():
    document = read('```\n"quoted" `span` http://a.b\n```\n')
    assert not (document.code_spans)
    assert not (document.quotes)
    assert not (document.urls)


def test_table_rows_come_without_the_line_of_dashes():
    (table,) = read("| a | b |\n|---|:-:|\n| 1 | 2 |\n").of(Part.TABLE)
    assert list(rows(table)) == [["a", "b"], ["1", "2"]]


def test_carriage_returns_and_wide_characters_leave_places_exact():
    document = read("# 标题\r\n\r\n- 第一项 `名`\r\n- 二\r\n")
    assert [document.span(b).text for b in document.of(Part.ITEM)] == ["第一项 `名`", "二"]
    assert document.span(document.code_spans[0]).column == 8


def test_plain_text_is_read_the_same_way():
    assert [b.line for b in read("Do:\n1. one\n2. two\n", "text").of(Part.ITEM)] == ["one", "two"]


def test_a_very_long_text_is_read_up_to_a_bound():
    assert read("- x\n" * 200_000).of(Part.ITEM)


def test_a_line_longer_than_what_is_parsed_takes_no_quadratic_time():
    text = "one two " + "/app/a.txt " * (PARSE_LIMIT // 4)
    began = time.monotonic()
    blocks = read(text).blocks
    assert time.monotonic() - began < 5
    assert [block.start for block in blocks] == [0]
    assert blocks[0].end <= PARSE_LIMIT

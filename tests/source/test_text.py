"""Positions: offsets, lines, columns and bytes agree whatever the encoding and the line ends."""

from pathlib import Path

import pytest

from scenlint.source.text import Fragment, Source, TextIndex

PATH = Path("file.txt")


def source(data: bytes) -> Source:
    return Source(PATH, data)


def test_columns_count_characters_and_bytes_count_bytes():
    text = source("é🙂 x\nzwei".encode())
    at = text.text.index("x")
    span = text.span(at, at + 1)
    assert (span.line, span.column, text.byte(at)) == (1, 4, 7)
    at = text.text.index("z")
    assert (text.span(at).line, text.span(at).column, text.byte(at)) == (2, 1, 9)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_line(end):
    text = source(f"a{end}bc{end}d".encode())
    assert [text.index.line_text(n) for n in (1, 2, 3, 4)] == ["a", "bc", "d", ""]
    assert text.index.position(text.text.index("c")) == (2, 2)


def test_mark_is_stripped_and_counts_in_bytes_only():
    text = source(b"\xef\xbb\xbfname = 1")
    assert text.text == "name = 1"
    assert text.index.position(0) == (1, 1)
    assert text.byte(0) == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_unicode_encodings_are_read_by_their_mark(encoding):
    data = "größe\nß".encode(encoding)
    text = source(data)
    assert text.text == "größe\nß"
    assert data[text.byte(6) :].decode(text.encoding) == "ß"
    assert not text.binary


def test_bad_byte_is_located_and_later_positions_stay_exact():
    text = source(b"ok\nab\xb1cd\xff\nend")
    assert text.error is not None
    assert (text.error.byte, text.error.line, text.error.column) == (5, 2, 3)
    at = text.text.index("end")
    assert (text.byte(at), text.index.position(at)) == (10, (3, 1))


def test_text_with_zero_bytes_is_binary():
    assert source(b"PK\x03\x04\0\0").binary


def test_empty_file_has_one_empty_line():
    text = source(b"")
    assert text.index.position(0) == (1, 1)
    assert text.lines(1).text == ""


def test_utf8_offsets_and_characters_convert_both_ways():
    index = TextIndex("aé🙂\udcffz")
    assert [index.byte(n) for n in range(6)] == [0, 1, 3, 7, 8, 9]
    assert [index.char(index.byte(n)) for n in range(6)] == list(range(6))
    assert index.char(5) == 2  # inside the emoji


def test_limit_inside_a_character_is_no_error():
    data = "éé".encode()[:-1]
    assert Source(PATH, data, truncated=True).error is None
    assert Source(PATH, data).error is not None


class TestFragment:
    def test_pieces_lead_back_to_the_file(self):
        host = source(b'say: "a\\nb"')
        fragment = Fragment(host, "a\nb", "text", [(0, 6), (1, 7), (2, 9)])
        assert fragment.span(0, 1).text == "a"
        assert fragment.span(2, 3).text == "b"
        assert fragment.span().text == "a\\nb"

    def test_fragment_inside_a_fragment_maps_through_both(self):
        host = source(b"  |one\n  |two\n")
        outer = Fragment(host, "one\ntwo\n", "text", [(0, 3), (4, 10)])
        inner = outer.derive("netw", "text", [(0, 1), (2, 4)])  # "ne", "tw"
        assert [inner.span(n, n + 1).text for n in range(4)] == ["n", "e", "t", "w"]
        assert inner.span(2, 4).line == 2

    def test_slice_across_pieces_keeps_every_character(self):
        host = source(b"  |one\n  |two\n")
        outer = Fragment(host, "one\ntwo\n", "text", [(0, 3), (4, 10)])
        inner = outer.slice(2, 6, "text")
        assert inner.text == "e\ntw"
        assert [inner.span(n, n + 1).text for n in (0, 2, 3)] == ["e", "t", "w"]

    def test_span_of_nothing_is_empty_and_in_place(self):
        fragment = Fragment.of(source(b"abc"), "text")
        assert (fragment.span(2, 2).start, fragment.span(2, 2).end) == (2, 2)
        assert fragment.span(3, 3).column == 4

    def test_memo_computes_once(self):
        fragment, calls = Fragment.of(source(b"abc"), "text"), []
        for _ in range(3):
            fragment.memo("key", lambda: calls.append(1))
        assert calls == [1]


@pytest.mark.parametrize(
    "lines", ["# coding: latin-1\n", "#!/usr/bin/python3\n# -*- coding: latin-1 -*-\n", "\n# coding=latin-1\n"]
)
def test_python_is_read_in_the_encoding_it_declares(lines):
    source = Source(Path("a.py"), (lines + "x = 'é€'[0]  # é\n").replace("€", "").encode("latin-1"))
    assert source.error is None
    assert "é" in source.text
    assert source.byte(source.text.rindex("é")) == len(lines) + len("x = 'é'[0]  # ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "# coding: no-such\n'é'"),
        ("a.py", "# coding: rot13\n'é'"),
        ("a.py", "\n\n# coding: latin-1\n'é'"),
        ("a.py", "x = 1\n# coding: latin-1\n'é'"),
        ("a.sh", "# coding: latin-1\n'é'"),
    ],
)
def test_what_declares_no_encoding_is_utf_8(name, text):
    assert Source(Path(name), text.encode("latin-1")).error is not None

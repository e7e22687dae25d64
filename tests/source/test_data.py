"""JSON, YAML and TOML: values, exact places, and nothing that can bring the reader down."""

import json
import tomllib
from pathlib import Path

import pytest
import yaml

from scenlint.source.data import Data, parse
from scenlint.source.text import Fragment, Source


def read(text: str | bytes, language: str) -> Data:
    source = Source(Path("file"), text.encode() if isinstance(text, str) else text)
    return parse(Fragment.of(source, language))


def written(fragment: Fragment) -> str:
    """What stands in the file where the fragment's characters lead."""
    return "".join(fragment.source.text[fragment.host(n)] for n in range(len(fragment.text)))


JSON = '{"日": "🎉\\n\\u00e9\\ud83d\\ude00 \\"q\\"", "list": [1, {"a": null}], "k": {"deep": [true, "end"]}}'

TOML = '''# comment
title = "日 \\u00e9\\t🎉" # tail
dotted."key one".b = 1
[agent]
timeout_sec = 90.5
hosts = [
  "a", # first
  'b\\c',
]
inline = { x.y = 2, z = "w" }
[verifier.environment]
text = """
one \\
   two
""three"" é
"""
raw = \'\'\'
no \\escape
'quoted\'\'\'\'
[verifier]
timeout_sec = 1
[[steps]]
name = "s1"
[steps.verifier]
timeout_sec = 5
[[steps]]
name = "s2"
[steps.verifier]
timeout_sec = 6
'''

YAML = """日: 🎉 plain
  goes on

  here # comment
literal: |
  line 1

    more é
  last
folded: >-
    one
    two

    three
      kept
    four
indicated: |2+
    two spaces first
   🎉

single: 'it''s
  folded'
double: "a \\"b\\" \\u00e9\\x41 \\
   joined
  folded"
list:
- - a
  - &name b
- *name
- {k: [1, 2.5, yes, ~], "q": 0x1f}
base: &base {image: debian, user: root}
service:
  <<: *base
  user: agent
when: 2020-01-01
port: 22:22
empty:
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("language", "text", "load"), [("json", JSON, json.loads), ("toml", TOML, tomllib.loads)])
def test_values_are_those_of_the_standard_library(language, text, load, newline):
    data = read(text.replace("\n", newline), language)
    assert data.error is None
    assert data.value == load(text)


def test_yaml_values_are_pyyamls_with_dates_and_base_60_left_as_written():
    data = read(YAML, "yaml")
    expected = yaml.safe_load(YAML)
    assert data.value == {**expected, "when": "2020-01-01", "port": "22:22"}
    assert data.get("service") == {"image": "debian", "user": "agent"}


@pytest.mark.parametrize(
    ("language", "text", "path", "key", "value"),
    [
        ("json", JSON, ("日",), '"日"', '"🎉\\n\\u00e9\\ud83d\\ude00 \\"q\\""'),
        ("json", JSON, ("list", 1, "a"), '"a"', "null"),
        ("json", JSON, ("k", "deep", 1), '"end"', '"end"'),
        ("toml", TOML, ("title",), "title", '"日 \\u00e9\\t🎉"'),
        ("toml", TOML, ("dotted", "key one", "b"), "b", "1"),
        ("toml", TOML, ("dotted", "key one"), '"key one"', 'dotted."key one".b = 1'),
        ("toml", TOML, ("agent",), "agent", "[agent]"),
        ("toml", TOML, ("agent", "hosts", 1), "'b\\c'", "'b\\c'"),
        ("toml", TOML, ("agent", "inline", "x", "y"), "y", "2"),
        ("toml", TOML, ("verifier",), "verifier", "[verifier]"),
        ("toml", TOML, ("verifier", "environment"), "environment", "[verifier.environment]"),
        ("toml", TOML, ("steps", 1), "[[steps]]", "[[steps]]"),
        ("toml", TOML, ("steps", 1, "verifier", "timeout_sec"), "timeout_sec", "6"),
        ("yaml", YAML, ("日",), "日", "🎉 plain\n  goes on\n\n  here"),
        ("yaml", YAML, ("list", 0, 1), "b", "b"),
        ("yaml", YAML, ("list", 1), "b", "b"),
        ("yaml", YAML, ("list", 2, "q"), '"q"', "0x1f"),
        ("yaml", YAML, ("base",), "base", "{image: debian, user: root}"),
        ("yaml", YAML, ("service", "image"), "image", "debian"),
        ("yaml", YAML, ("service",), "service", "<<: *base\n  user: agent"),
        ("yaml", YAML, ("empty",), "empty", ""),
    ],
)
def test_keys_and_values_are_found_in_the_file(language, text, path, key, value):
    data = read(text, language)
    assert data.span(*path).text == value
    assert data.key_span(*path).text == key


def test_a_missing_path_leads_to_the_nearest_value_above_it():
    data = read(TOML, "toml")
    assert data.get("agent", "user", default="none") == "none"
    assert data.span("agent", "user", "name").text == "[agent]"
    assert data.key_span("agent", "user").text == "[agent]"
    assert data.text("agent", "user", language="text").text == ""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("language", "text"), [("json", JSON), ("toml", TOML), ("yaml", YAML)], ids=["json", "toml", "yaml"]
)
def test_every_string_maps_back_character_by_character(language, text, newline):
    data = read(text.replace("\n", newline), language)

    def strings(value, path=()):
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict | list):
            for key, child in value.items() if isinstance(value, dict) else enumerate(value):
                yield from strings(child, (*path, key))

    found = dict(strings(data.value))
    for path, value in found.items():
        fragment = data.text(*path, language="text")
        assert fragment.text == value
        place = data.span(*path)
        for n, char in enumerate(value):
            host = fragment.host(n)
            assert place.start <= host < place.end
            there = fragment.source.text[host]
            # Only escapes, doubled quotes and folded or normalised line ends differ from what stands there.
            assert there == char or there in "\\'\r\n" or (char in " \n" and there in " \t")
    assert len(found) >= 2


def strings_of(language: str, text: str, path: tuple) -> tuple[str, str]:
    fragment = read(text, language).text(*path, language="text")
    return fragment.text, written(fragment)


def test_escapes_lead_to_their_backslash():
    assert strings_of("json", JSON, ("日",)) == ('🎉\né😀 "q"', "🎉\\\\\\ \\q\\")
    assert strings_of("toml", TOML, ("title",)) == ("日 é\t🎉", "日 \\\\🎉")
    assert strings_of("yaml", YAML, ("double",)) == ('a "b" éA joined folded', "a \\b\\ \\\\ joined\nfolded")


def test_block_scalars_lose_indentation_and_keep_places():
    literal, there = strings_of("yaml", YAML, ("literal",))
    assert literal == there == "line 1\n\n  more é\nlast\n"
    folded, there = strings_of("yaml", YAML, ("folded",))
    assert (folded, there) == ("one two\nthree\n  kept\nfour", "one\ntwo\nthree\n  kept\nfour")
    indicated, there = strings_of("yaml", YAML, ("indicated",))
    assert indicated == there == "  two spaces first\n 🎉\n\n"


@pytest.mark.parametrize(
    "scalar",
    ["|", "|-", "|+", ">", ">-", ">+", "|1", ">2-", "|-2", "| # why"],
)
@pytest.mark.parametrize("body", ["  a\n\n  b\n", "  a\n   b\n\n\n", "   a\n  b", "\n\n  a\n  \n", ""])
def test_every_block_header_reads_as_pyyaml_does(scalar, body):
    text = f"before: 1\nkey: {scalar}\n{body}"
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError:
        assert read(text, "yaml").error is not None
        return
    fragment = read(text, "yaml").text("key", language="text")
    assert fragment.text == expected["key"]
    assert "".join(written(fragment).split()) == "".join(expected["key"].split())


def test_fragments_nest_json_inside_yaml():
    outer = read('a:\n  config: |\n    {\n      "é": ["x\\ty"]\n    }\n', "yaml")
    inner = parse(outer.text("a", "config", language="json"))
    assert inner.value == {"é": ["x\ty"]}
    assert inner.span("é", 0).text == '"x\\ty"'
    assert (inner.span("é", 0).line, inner.span("é", 0).column) == (4, 13)
    assert inner.text("é", 0, language="text").span(2, 3).column == 17


def test_a_number_comes_as_it_is_written():
    assert read("a: 0x1F", "yaml").text("a", language="text").text == "0x1F"


def test_an_empty_string_stands_between_its_quotes():
    assert read('{"a": ""}', "json").text("a", language="text").span().start == 7


def test_keys_given_twice_are_recorded():
    assert [s.column for s in read('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', "json").duplicates] == [24, 33]
    assert [s.line for s in read("a: 1\nb: 2\na: 3\n", "yaml").duplicates] == [3]
    assert read("x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n", "yaml").duplicates == []
    assert read("a = 1\nb = 2\na = 3\n", "toml").error is not None


@pytest.mark.parametrize(
    ("language", "text", "line", "column", "says"),
    [
        ("json", '{"a": 1,\n}', 1, 8, "comma follows the last"),
        ("json", "[1, 2,]", 1, 6, "comma follows the last"),
        ("json", '{\n  "é": tru\n}', 2, 8, "expected a value"),
        ("json", '{"a": 1 // why\n}', 1, 9, "no comments"),
        ("json", "{'a': 1}", 1, 2, "double quotes"),
        ("json", '{"a": 1', 1, 8, "ends before"),
        ("json", '{"a": "x', 1, 7, "never closed"),
        ("json", "{} {}", 1, 4, "follows the end"),
        ("json", "", 1, 1, "empty"),
        ("toml", "a = 1\nb = yes\n", 2, 5, "strings need quotes"),
        ("toml", "[a]\nx = 1\n[a]\n", 3, 3, "given twice"),
        ("toml", '"é" = "🎉"\nx = "abc\n', 2, 9, "not closed on its line"),
        ("toml", "a = [1,\n", 2, 1, "value"),
        ("toml", "just words\n", 1, 6, "`=`"),
        ("yaml", "a: b: c\n", 1, 5, "colon"),
        ("yaml", "é: 🎉\n\tb: 1\n", 2, 1, "tab"),
        ("yaml", "a: [1, 2\nb: 3\n", 1, 4, "never closed"),
        ("yaml", "a: *nobody\n", 1, 4, "names no anchor"),
        ("yaml", "a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("yaml", "a: \x01\n", 1, 4, "control character"),
        ("yaml", "? [a]\n: 1\n", 1, 3, "cannot be a key"),
    ],
)
def test_syntax_errors_say_what_and_where(language, text, line, column, says):
    data = read(text, language)
    assert data.value is None
    assert data.error is not None
    assert says in data.error.message
    assert (data.error.span.line, data.error.span.column) == (line, column)
    assert data.get("a") is None
    assert data.span("a").text == text


def test_columns_behind_wide_characters_are_exact():
    data = read("🎉 日本: {é: 'x', y: [1]}\n", "yaml")
    assert data.span("🎉 日本", "y", 0).column == 20


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
def test_a_byte_order_mark_is_no_part_of_the_text(mark):
    for language, text in [("json", '{"a": 1}'), ("yaml", "a: 1"), ("toml", "a = 1")]:
        assert read(mark + text.encode(), language).value == {"a": 1}


def test_aliases_are_not_expanded_without_bound():
    levels = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    error = read(levels, "yaml").error
    assert error is not None
    assert "more values than are read" in error.message


def test_an_alias_inside_its_own_value_is_refused():
    error = read("a: &a [1, *a]\n", "yaml").error
    assert error is not None
    assert "inside the value" in error.message


@pytest.mark.parametrize("depth", [150, 1_000, 50_000])
@pytest.mark.parametrize(
    ("language", "begin", "open_", "close"),
    [("json", "", "[", "]"), ("json", "", '{"a":', "}"), ("toml", "a = ", "[", "]"), ("yaml", "", "[", "]")],
)
def test_deep_nesting_is_read_or_refused(language, begin, open_, close, depth):
    inner = "1" if open_ == '{"a":' else ""
    data = read(begin + open_ * depth + inner + close * depth, language)
    if depth > 200:
        assert data.error is not None
        assert "levels deep" in data.error.message
    else:
        assert data.error is None
        assert data.span().start == 0


@pytest.mark.parametrize("language", ["json", "yaml", "toml", "ini"])
@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\xfd: 1",
        b"",
        b"\x00",
        b"a: \xe9",
        b"- ? : : -",
        b"9" * 5000,
        b"a = " + b"9" * 5000,
        b"'",
        b'"\\',
        b"&a",
        b"a: !!int ''",
    ],
)
def test_no_text_makes_the_reader_raise(language, text):
    data = read(text, language)
    data.span("a", 0)
    data.key_span("a")
    data.text("a", language="text")
    assert data.duplicates == []


@pytest.mark.parametrize(
    ("language", "text"), [("json", b'{"a": "x\xff", "b": "y"}'), ("toml", b'a = "x\xff"\nb = "y"\n')]
)
def test_a_byte_that_is_no_text_spoils_no_places(language, text):
    data = read(text, language)
    assert data.get("a") == data.text("a", language="text").text == "x\ufffd"
    assert data.span("b").text == '"y"'


def test_a_fragment_is_parsed_once():
    fragment = Fragment.of(Source(Path("f"), b"a: 1"), "yaml")
    assert parse(fragment) is parse(fragment)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_toml_in_another_encoding_is_said_and_json_and_yaml_are_read(encoding):
    assert parse(Source(Path("a.json"), '{"a": 1}'.encode(encoding)).fragment("json")).value == {"a": 1}
    assert parse(Source(Path("a.yaml"), "a: 1\n".encode(encoding)).fragment("yaml")).value == {"a": 1}
    error = parse(Source(Path("a.toml"), "a = 1\n".encode(encoding)).fragment("toml")).error
    assert error is not None
    assert error.message == f"the file is {encoding.upper()}; TOML must be UTF-8"
    assert error.help == "save the file as UTF-8"


def test_toml_with_carriage_returns_alone_is_said():
    error = parse(Source(Path("a.toml"), b"a = 1\rb = 2\r").fragment("toml")).error
    assert error is not None
    assert "carriage return" in error.message
    assert (error.span.line, error.span.column) == (1, 6)


def test_half_a_character_in_json_is_replaced_at_its_place():
    text = r'{"\ud800": ["a\udfffb", "\\ud800", "\ud83d\ude00"]}'
    data = parse(Source(Path("a.json"), text.encode()).fragment("json"))
    assert data.value == {"\ufffd": ["a\ufffdb", "\\ud800", "😀"]}
    assert data.key_span("\ufffd").text == r'"\ud800"'
    inner = data.text("\ufffd", 0, language="text")
    assert (inner.text, inner.span(2, 3).text) == ("a\ufffdb", "b")

"""A pattern of `regex` is one of `re`, compiled when it is first asked for."""

import re

import pytest

from scenlint.source.regex import regex


def test_nothing_is_compiled_before_it_is_used():
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_it_does_what_the_pattern_does():
    words = regex(r"(?P<first>[a-z])\w*", re.I)
    for _ in range(2):
        assert words.findall("One two") == ["O", "t"]
        assert words.sub("x", "One two") == "x x"
        assert words.split("1One2") == ["1", "O", ""]
        assert [m["first"] for m in words.finditer("One two")] == ["O", "t"]
        assert words.fullmatch("One")
        assert not words.fullmatch("One,")
        assert words.match("One,")
    assert words.pattern == r"(?P<first>[a-z])\w*"
    assert words.groups == 1

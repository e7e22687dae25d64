"""Which criteria a check's name or label names outright."""

from __future__ import annotations

import re

from scenlint.source.regex import regex

_JOIN = r"\s*(?:,|and|&|/)\s*"
_NAMED = regex(
    rf"(?:criteri(?:on|a)|requirements?)[ _#:.\-]*(?:no\.? ?)?(\d{{1,2}}(?:\.\d{{1,2}})*(?:{_JOIN}\d{{1,2}})*|[a-z]\b)|"
    r"(?<![A-Za-z])(?:AC|REQ|SC)[ _#:\-]?(\d{1,2})\b",
    re.IGNORECASE,
)


def named(text: str) -> list[str]:
    """The criteria's numbers or letters, in order and once each."""
    out: list[str] = []
    for found in _NAMED.finditer(text):
        out += re.split(_JOIN, found[1] or found[2])
    return list(dict.fromkeys(part for part in out if part))

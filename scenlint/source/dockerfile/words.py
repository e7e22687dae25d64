"""Words of a Dockerfile: quotes, escapes and variables as the builder reads them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from scenlint.source.regex import regex
from scenlint.source.text import Span

# A here-document's marker: <<EOF, <<-EOF, <<"EOF".
MARKER = regex(r"\d*<<(?P<dash>-?)(?P<quote>[\"']?)(?P<name>[^\s\"'<>|&;]+)(?P=quote)$")
_VARIABLE = regex(r"\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?::?(?P<operator>[-+])(?P<word>[^{}]*))?\})")


@dataclass(frozen=True)
class Word:
    """One argument: as written, and its value with quotes undone and variables put in (None where one is unknown)."""

    raw: str
    text: str | None
    span: Span


def expand(text: str, variables: Mapping[str, str]) -> str | None:
    """The value of a word: quotes and escapes undone, variables put in; None where one is unknown."""
    out, quote, at = [], "", 0
    while at < len(text):
        char = text[at]
        variable = _VARIABLE.match(text, at) if char == "$" and quote != "'" else None
        if variable:
            value = _substitute(variable, variables)
            if value is None:
                return None
            out.append(value)
            at = variable.end()
        elif char in "\"'" and quote in ("", char):
            quote, at = ("" if quote else char), at + 1
        elif char == "\\" and quote != "'" and at + 1 < len(text):
            kept = char if quote and text[at + 1] not in '\\"$' else ""
            out.append(kept + text[at + 1])
            at += 2
        else:
            out.append(char)
            at += 1
    return "".join(out)


def _substitute(match: re.Match[str], variables: Mapping[str, str]) -> str | None:
    value = variables.get(match["plain"] or match["name"])
    if match["operator"] == "-":
        return value or expand(match["word"], variables)
    if match["operator"] == "+":
        return expand(match["word"], variables) if value else ""
    return value


def absolute(path: str, workdir: str | None) -> str | None:
    """A path in the image, ending in `/` where it must be a folder; None where the working directory is unknown."""
    if not path.startswith("/"):
        if workdir is None:
            return None
        path = f"{workdir}/{path}"
    folder = path.endswith(("/", "/.", "/.."))
    return posixpath.normpath(path).replace("//", "/").rstrip("/") + ("/" if folder else "") or "/"

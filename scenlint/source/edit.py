"""How new text is written into the strings of JSON, TOML and YAML, so that it is read back as what was meant."""

from __future__ import annotations

import json
import re
from functools import partial

from scenlint.source.regex import regex
from scenlint.source.text import Edit, Span, Writer

# What no plain YAML scalar needs quotes for, wherever it stands: in a list in brackets, too.
_PLAIN = regex(r"(?:[\w@./=+()-]|(?<=\w):(?=\w)|(?<=\w) (?=\w))*")


def string_writer(style: str, raw: str) -> Writer:
    """What writes text into a string of a style of `scenlint.source.tree.Node`."""
    if style in ("json", '"') or (style == "toml" and raw.startswith('"')):
        return _escaped
    if style == "toml":
        return partial(_literal, forbidden="'\n\r" if not raw.startswith("'''") else "'")
    if style == "'":
        return _single
    if style in ("|", ">"):  # in a folded one, line ends and places do not correspond
        return partial(_block, indent=_indentation(raw) if style == "|" else None)
    return _plain if style == "plain" else _bare


def _escaped(text: str) -> str | None:
    known = text.isprintable() or re.fullmatch(r"[\n\t -~]*", text)
    return json.dumps(text, ensure_ascii=False)[1:-1] if known else None


def _literal(text: str, forbidden: str) -> str | None:
    return None if set(text) & set(forbidden) else text


def _single(text: str) -> str | None:
    return None if "\n" in text or "\r" in text else text.replace("'", "''")


def _block(text: str, indent: str | None) -> str | None:
    return None if indent is None or "\r" in text else text.replace("\n", "\n" + indent)


def _indentation(raw: str) -> str | None:
    """The spaces before the first line with text; None where a digit behind the `|` says how many there are."""
    header, _, body = raw.partition("\n")
    first = re.search(r"^( +)[^\s]", body, re.M)
    return first[1] if first and not re.search(r"\d", header.partition("#")[0]) else None


def _plain(text: str) -> str | None:
    return text if _PLAIN.fullmatch(text) else None


def _bare(text: str) -> str | None:
    """A number or truth value."""
    return text if re.fullmatch(r"[\w.]+", text) else None


def respelled(span: Span | None, old: object, new: str) -> Edit | None:
    """Another word in the place of one that stands there bare or in quotes; None where the file writes it otherwise."""
    if span is None or not isinstance(old, str) or not regex(r"[\w.-]+").fullmatch(new):
        return None
    if span.text == old:
        return Edit(span, new)
    quoted = len(span.text) == len(old) + 2 and span.text[1:-1] == old and span.text[0] == span.text[-1]
    return Edit(Span(span.source, span.start + 1, span.end - 1), new) if quoted and span.text[0] in "\"'" else None

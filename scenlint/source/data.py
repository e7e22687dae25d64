"""JSON, YAML and TOML as values with the place of every key and value in the file."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scenlint.source.edit import string_writer
from scenlint.source.regex import regex
from scenlint.source.scalars import undo
from scenlint.source.text import Fragment, Span
from scenlint.source.tree import Node, Parsed

_SURROGATE = regex("[\ud800-\udfff]")
_VAST = regex(r"[0-9_]{308}|0[xXoO][0-9a-fA-F_]{250}")  # where a whole number may be too large for a float


@dataclass(frozen=True)
class DataError:
    """Why the text is no such data, and where."""

    message: str
    span: Span
    help: str = "correct the syntax"


class Data:
    """A parsed document. `value` is None where `error` is set. Paths are sequences of keys and list positions."""

    def __init__(
        self, fragment: Fragment, value: Any, error: DataError | None = None, parsed: Parsed | None = None
    ) -> None:
        self.fragment = fragment
        self.value = value
        self.error = error
        self._parsed = parsed or Parsed(value)

    @cached_property
    def duplicates(self) -> list[Span]:
        """The keys given twice in one mapping: the later ones."""
        find = self._parsed.duplicates
        return [self.fragment.span(*place) for place in find()] if find else []

    @cached_property
    def _root(self) -> Node:
        if self.error is None and self._parsed.tree is not None:
            try:
                return self._parsed.tree()
            except RecursionError:
                pass
        return Node(0, len(self.fragment.text))

    def get(self, *path: str | int, default: Any = None) -> Any:
        """The value at a path, or the default where there is none."""
        value = self.value
        for part in path:
            held = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
            if part not in held:
                return default
            value = value[part]
        return value

    def _nearest(self, path: tuple[str | int, ...]) -> tuple[Node, int]:
        """The node at the longest part of the path that exists, and how long that part is."""
        node = self._root
        for depth, part in enumerate(path):
            if part not in node.items:
                return node, depth
            node = node.items[part]
        return node, len(path)

    def span(self, *path: str | int) -> Span:
        """The span of the value at a path; of the nearest value above it where there is none.

        A TOML table's span is its header, so that what is missing in it is shown on one line.
        """
        node, _ = self._nearest(path)
        return self.fragment.span(node.start, node.end)

    def key_span(self, *path: str | int) -> Span:
        """The span of the key that the path ends in (of the value itself for list items)."""
        if path:
            above, depth = self._nearest(path[:-1])
            if depth == len(path) - 1 and path[-1] in above.keys:
                return self.fragment.span(*above.keys[path[-1]])
        return self.span(*path)

    def text(self, *path: str | int, language: str) -> Fragment:
        """The string at a path as a fragment whose positions lead back to the file (escapes and indentation undone).

        A number or truth value comes as it is written; where there is nothing, the text is empty.
        """
        node, depth = self._nearest(path)
        value = self.get(*path)
        if depth < len(path) or value is None or isinstance(value, dict | list):
            return self.fragment.derive("", language, [(0, node.start)])
        raw = _readable(self.fragment.text[node.start : node.end])
        text, pieces = undo(raw, node.style, value if isinstance(value, str) else raw)
        writer = string_writer(node.style, raw)
        return self.fragment.derive(text, language, [(begin, node.start + place) for begin, place in pieces], writer)


def _readable(text: str) -> str:
    """The text with a mark in place of every byte that could not be decoded (Source keeps those as surrogates)."""
    return _SURROGATE.sub("\ufffd", text)


def _bounded(value: Any) -> Any:
    """The value with whole numbers that no float can hold as infinity, so that nobody's arithmetic overflows."""
    if isinstance(value, dict):
        return {key: _bounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_bounded(item) for item in value]
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return math.inf if value > 0 else -math.inf
    return value


def listed(value: Any) -> list[Any]:
    """A list as it is, and no items where a document has something else in its place."""
    return value if isinstance(value, list) else []


def parse(fragment: Fragment, language: str | None = None) -> Data:
    """Parse by the fragment's language ("json", "yaml", "toml"); never raises, whatever the text. Parsed once."""
    chosen = language or fragment.language
    return fragment.memo(("data", chosen), lambda: _parse(fragment, chosen))


def _parse(fragment: Fragment, language: str) -> Data:
    if language == "json":
        from scenlint.source.json_reader import read
    elif language == "toml":
        from scenlint.source.toml_reader import read
    elif language == "yaml":
        from scenlint.source.yaml_reader import read
    else:
        return Data(fragment, None, DataError(f"cannot be read as `{language}`", fragment.span()))
    encoding = fragment.source.encoding
    if language == "toml" and encoding != "utf-8":
        name = encoding.upper().rpartition("-")[0]  # without the order of its bytes
        wrong = DataError(f"the file is {name}; TOML must be UTF-8", fragment.span(0, 1), "save the file as UTF-8")
        return Data(fragment, None, wrong)
    parsed = read(_readable(fragment.text))
    if _VAST.search(fragment.text):
        parsed.value = _bounded(parsed.value)
    error = None
    if parsed.problem is not None:
        error = DataError(parsed.problem.message, fragment.span(parsed.problem.start, parsed.problem.end))
    return Data(fragment, parsed.value, error, parsed)

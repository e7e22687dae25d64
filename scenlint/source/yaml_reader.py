"""YAML: values and places from PyYAML's events, without recursion and without expanding aliases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from scenlint.source.regex import regex
from scenlint.source.tree import MAX_DEPTH, MAX_NODES, TOO_DEEP, Node, Parsed, Problem, at

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # both count marks in characters
_RESOLVER: Any = yaml.resolver.Resolver()
_MAKE = yaml.constructor.SafeConstructor()
_PREFIX = "tag:yaml.org,2002:"
# An anchor or tag in front of a value, with the space and comments behind it.
_PROPERTIES = regex(r"(?:[&!][^\s,\[\]{}]*(?:\s+|#[^\r\n]*)*)+")
_FORBIDDEN = regex("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MERGE = object()

_SAID = (
    ("mapping values are not allowed", "a colon stands where no key can be; quote the text if the colon belongs to it"),
    ("found character '\\t'", "a tab stands where YAML allows spaces only"),
    ("found character that cannot start any token", "a character that cannot begin a value (quote the text)"),
    ("could not find expected ':'", "expected `key: value`; this line has no colon"),
    ("did not find expected key", "the indentation or the quotes here do not fit what stands above"),
    ("did not find expected '-' indicator", "the indentation does not fit the list above"),
    ("found unexpected end of stream", "a quoted string is never closed"),
    ("did not find expected ',' or", "the list or mapping in brackets is never closed"),
    ("found undefined alias", "the alias names no anchor"),
)


@dataclass
class _Made:
    """A finished node with its value and how many values it holds once aliases are expanded."""

    node: Node
    value: Any
    size: int = 1


@dataclass
class _Open:
    """A list or mapping under construction."""

    made: _Made
    mapping: bool
    anchor: str | None
    key: tuple[Any, Node] | None = None
    merges: list[_Made] = field(default_factory=list)


class _RefusedError(Exception):
    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.problem = Problem(message, start, end)


def read(text: str) -> Parsed:
    """Parse YAML text; YAML 1.1 as PyYAML's safe loader reads it, but dates and base-60 numbers stay strings."""
    if found := _FORBIDDEN.search(text):
        return Parsed(
            problem=at(f"the control character U+{ord(found.group()):04X} is not allowed", text, found.start())
        )
    builder = _Builder(text)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _RefusedError as exc:
        return Parsed(problem=exc.problem)
    except yaml.MarkedYAMLError as exc:
        return Parsed(problem=_problem(text, exc))
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        return Parsed(problem=at(str(exc).splitlines()[0] if str(exc) else "is no YAML", text, 0))
    top = builder.top or _Made(Node(0, 0), None)
    duplicates = builder.duplicates
    return Parsed(top.value, tree=lambda: top.node, duplicates=(lambda: duplicates) if duplicates else None)


def _problem(text: str, exc: yaml.MarkedYAMLError) -> Problem:
    said = exc.problem or str(exc)
    context: Any = exc.context_mark
    mark: Any = exc.problem_mark or context
    offset: int = mark.index if mark else 0
    if "cannot start any token" in said and text[offset : offset + 1] == "\t":
        said = "found character '\\t'"
    if "unexpected end of stream" in said or "expected ',' or" in said:
        offset = context.index if context else offset
    if "nesting depth" in said:
        return at(TOO_DEEP, text, offset)
    return at(next((human for sign, human in _SAID if sign in said), said), text, offset)


class _Builder:
    """Takes events one by one; `top` is the document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.top: _Made | None = None
        self.duplicates: list[tuple[int, int]] = []
        self.anchors: dict[str, _Made | None] = {}  # None: still open
        self.stack: list[_Open] = []
        self.documents = 0

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                mark: Any = event.start_mark
                raise _RefusedError("a second document begins here; one is expected", mark.index, mark.index + 3)
        elif isinstance(event, yaml.ScalarEvent):
            self.scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self.open(event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self.close(event)

    def begin(self, event: Any) -> int:
        """Where the value itself begins, behind its anchor and tag."""
        start = int(event.start_mark.index)
        if event.anchor is None and event.tag is None:
            return start
        found = _PROPERTIES.match(self.text, start, event.end_mark.index)
        return found.end() if found else start

    def scalar(self, event: Any) -> None:
        style = event.style or "plain"
        node = Node(self.begin(event), event.end_mark.index, style)
        if node.start > node.end:
            node.start = node.end
        made = _Made(node, self.resolve(event))
        if made.value is not _MERGE and not isinstance(made.value, str):
            node.style = "raw"
        self.finish(made, event.anchor)

    def resolve(self, event: Any) -> Any:
        """The value of a scalar by its tag; what is no null, truth value or number stays the string."""
        text: str = event.value
        tag: str = (
            event.tag if event.tag not in (None, "!") else _RESOLVER.resolve(yaml.ScalarNode, text, event.implicit)
        )
        kind = tag.removeprefix(_PREFIX)
        if kind == "merge" and self.stack and self.stack[-1].mapping and self.stack[-1].key is None:
            return _MERGE
        make = {
            "null": _MAKE.construct_yaml_null,
            "bool": _MAKE.construct_yaml_bool,
            "int": _MAKE.construct_yaml_int,
            "float": _MAKE.construct_yaml_float,
        }.get(kind)
        # Base 60 is YAML 1.1's; nobody who writes a port mapping 8080:80 means it.
        if make is None or ":" in text:
            return text
        try:
            return make(yaml.ScalarNode(tag, text))
        except (ValueError, KeyError, IndexError, OverflowError):
            return text

    def alias(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        if event.anchor not in self.anchors:
            raise _RefusedError(f"the alias `*{event.anchor}` names no anchor", start, end)
        made = self.anchors[event.anchor]
        if made is None:
            raise _RefusedError(f"the alias `*{event.anchor}` stands inside the value that it names", start, end)
        if sum(o.made.size for o in self.stack) + made.size > MAX_NODES:
            raise _RefusedError("its aliases stand for more values than are read", start, end)
        self.finish(made, None)

    def open(self, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _RefusedError(TOO_DEEP, event.start_mark.index, event.end_mark.index)
        mapping = isinstance(event, yaml.MappingStartEvent)
        start = self.begin(event)
        node = Node(start, max(start, event.end_mark.index))
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_Open(_Made(node, {} if mapping else []), mapping, event.anchor))

    def close(self, event: Any) -> None:
        done = self.stack.pop()
        node = done.made.node
        # The end mark of a block lies at whatever comes next; it ends where its last part does.
        node.end = max(node.end, event.end_mark.index) if event.end_mark.index > event.start_mark.index else node.end
        for merged in done.merges:
            for key, value in merged.value.items():
                if key not in done.made.value:
                    done.made.value[key] = value
                    node.items[key], node.keys[key] = merged.node.items[key], merged.node.keys[key]
        self.finish(done.made, done.anchor)

    def finish(self, made: _Made, anchor: str | None) -> None:
        """A value is complete: name it, and put it where it belongs."""
        if anchor is not None:
            self.anchors[anchor] = made
        if not self.stack:
            self.top = made
            return
        into = self.stack[-1]
        into.made.size += made.size
        aliased = made.node.end < into.made.node.start
        if not aliased:
            into.made.node.end = max(into.made.node.end, made.node.end)
        if not into.mapping:
            into.made.node.items[len(into.made.value)] = made.node
            into.made.value.append(made.value)
        elif into.key is None:
            into.key = (self.hashable(made), made.node)
        else:
            self.entry(into, made)

    def hashable(self, made: _Made) -> Any:
        if isinstance(made.value, list | dict):
            raise _RefusedError("a list or mapping cannot be a key", made.node.start, made.node.end)
        return made.value

    def entry(self, into: _Open, made: _Made) -> None:
        assert into.key is not None
        (key, place), into.key = into.key, None
        if key is _MERGE:
            into.merges.extend(self.merged(made))
            return
        node = into.made.node
        if key in into.made.value:
            self.duplicates.append((place.start, place.end))
        into.made.value[key] = made.value
        node.items[key], node.keys[key] = made.node, (place.start, place.end)

    def merged(self, made: _Made) -> list[_Made]:
        """The mappings that `<<` takes in, the one that counts most first."""
        if isinstance(made.value, dict):
            return [made]
        if isinstance(made.value, list) and all(isinstance(v, dict) for v in made.value):
            return [_Made(made.node.items[n], value) for n, value in enumerate(made.value)]
        raise _RefusedError("`<<` takes a mapping or a list of mappings", made.node.start, made.node.end)

"""The part of Go's templates that `docker inspect --format` is mostly used with: fields, `json` and `index`."""

from __future__ import annotations

import json
import re
from typing import Any

_ACTION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}")
_PATH = re.compile(r"\.|(?:\.\w+)+")
_INDEX = re.compile(r"""index\s+(\.[\w.]*)((?:\s+(?:"[^"]*"|\d+))+)""")


def render(template: str, value: Any) -> str:
    """A template filled in; ValueError where it asks for more than is known here."""
    return _ACTION.sub(lambda found: _action(found[1], value), template.replace("\\n", "\n").replace("\\t", "\t"))


def _action(text: str, value: Any) -> str:
    text, pipe, after = text.partition("|")
    text = text.strip()
    as_json = text.startswith("json ") or (pipe and after.strip() == "json")
    if pipe and after.strip() != "json":
        raise _unknown(text + pipe + after)
    text = text.removeprefix("json ").strip()
    if _PATH.fullmatch(text):
        found = _at(value, text.strip(".").split(".") if text != "." else [])
    elif match := _INDEX.fullmatch(text):
        keys = re.findall(r'"([^"]*)"|(\d+)', match[2])
        found = _at(value, match[1].strip(".").split(".") if match[1] != "." else [])
        for name, number in keys:
            found = _at(found, [name]) if not number else _nth(found, int(number))
    else:
        raise _unknown(text)
    return json.dumps(found) if as_json else _shown(found)


def _at(value: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif value is not None:
            raise ValueError(f"can't evaluate field {key}")
    return value


def _nth(value: Any, number: int) -> Any:
    if not isinstance(value, list) or number >= len(value):
        raise ValueError(f"index out of range: {number}")
    return value[number]


def _shown(value: Any) -> str:
    match value:
        case None:
            return "<no value>"
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{' '.join(map(_shown, value))}]"
        case dict():
            return f"map[{' '.join(f'{key}:{_shown(item)}' for key, item in sorted(value.items()))}]"
    return str(value)


def _unknown(text: str) -> ValueError:
    return ValueError(
        f"`{{{{{text}}}}}` is not known here: there are {{{{.Field}}}}, {{{{json .Field}}}}, {{{{index}}}}"
    )

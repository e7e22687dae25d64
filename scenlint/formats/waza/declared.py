"""Waza's graders that are no programs: which of them can be evaluated without Waza, and how `evaluator.py` is told."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.formats.waza.suite import Places
from scenlint.source.data import parse
from scenlint.source.python import syntax_tree
from scenlint.source.regex import regex
from scenlint.source.text import Fragment

EVALUATOR = Path(__file__).with_name("evaluator.py")
SNAPSHOTS = "/waza/snapshots"
_ARGUMENT_LIMIT = 100_000  # characters; one argument of a program may not be much longer
# What an assertion may know of a session besides what the agent said last.
_OF_THE_SESSION = {"outcome", "transcript", "tool_calls", "errors", "duration_ms"}
_LOOK_AROUND = regex(r"\(\?(?:[=!]|<[=!])")
_FOREIGN = regex(r"\\[pPCQ]|\[\[:|\(\?[a-z]*U")
_TEXTS = ("contains", "not_contains", "contains_cs", "not_contains_cs", "regex_match", "regex_not_match")


class OnlyWazaError(Exception):
    """Only Waza can evaluate the grader; the text says why."""


@dataclass
class Declared:
    """A grader for the evaluator, and the snapshots that it compares with: where they lie, what they are called."""

    argument: str
    snapshots: list[tuple[Path, str]] = field(default_factory=list)


def declared(kind: str, entry: Mapping[str, Any], places: Places) -> Declared:
    """A grader of an eval or a task; OnlyWazaError where it wants more than the output and the workspace."""
    config = entry.get("config") or {}
    if not isinstance(config, dict):
        raise OnlyWazaError("its `config` is no mapping")
    make = {"text": _text, "file": _file, "json_schema": _schema, "code": _code}.get(kind)
    out = Declared("")
    if kind == "diff":
        grader = _diff(config, places, out.snapshots)
    elif make is not None:
        grader = make({**entry, "places": places}, config)
    else:
        raise OnlyWazaError("it looks at the session or asks a model")
    out.argument = json.dumps({"type": kind, **grader}, default=str)
    if len(out.argument) > _ARGUMENT_LIMIT:
        raise OnlyWazaError("it is too long to be handed over")
    return out


def _text(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    lists = {key: _strings(config, key) for key in _TEXTS}
    return {key: [pattern(p) for p in found] if key.startswith("regex") else found for key, found in lists.items()}


def _file(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    entries = [
        {
            "path": _inside(item.get("path")),
            "must_match": [pattern(p) for p in _strings(item, "must_match")],
            "must_not_match": [pattern(p) for p in _strings(item, "must_not_match")],
        }
        for item in _mappings(config, "content_patterns")
    ]
    exist, absent = ([_inside(p) for p in _strings(config, key)] for key in ("must_exist", "must_not_exist"))
    if not (exist or absent or entries):
        raise OnlyWazaError("it checks nothing, which Waza takes for an error")
    return {"must_exist": exist, "must_not_exist": absent, "content_patterns": entries}


def _diff(config: Mapping[str, Any], places: Places, snapshots: list[tuple[Path, str]]) -> dict[str, Any]:
    entries = []
    context = config.get("context_dir")
    for item in _mappings(config, "expected_files"):
        name, contains = item.get("snapshot"), _strings(item, "contains")
        inside = None
        if isinstance(name, str) and name:
            found = places.find(name, *([context] if isinstance(context, str) else ["fixtures"]))
            if found is None or not os.path.isfile(found):
                raise OnlyWazaError(f"its snapshot `{name}` is not there")
            inside = f"{SNAPSHOTS}/{len(snapshots)}-{found.name}"
            snapshots.append((found, inside))
        if not (inside or contains):
            raise OnlyWazaError("it expects neither a snapshot nor lines of a file, which Waza takes for an error")
        entries.append({"path": _inside(item.get("path")), "snapshot": inside, "contains": contains})
    if not entries:
        raise OnlyWazaError("it expects no file, which Waza takes for an error")
    return {"expected_files": entries}


def _schema(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    schema, name = config.get("schema"), config.get("schema_file")
    if schema is None and isinstance(name, str):
        found = entry["places"].find(name, "fixtures")
        source = entry["places"].read(found) if found is not None and os.path.isfile(found) else None
        if source is None:
            raise OnlyWazaError(f"its schema `{name}` is not there")
        schema = parse(Fragment.of(source, "json")).value
    if not isinstance(schema, dict):
        raise OnlyWazaError("it has no schema that can be read")
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as exc:
        raise OnlyWazaError(f"its schema is none: {exc.message}") from None
    return {"schema": schema}


def _code(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    if config.get("language", "python") != "python":
        raise OnlyWazaError(f"its assertions are {config.get('language')}")
    assertions = _strings(config if "assertions" in config else entry, "assertions")
    for text in assertions:
        try:
            names = {node.id for node in ast.walk(syntax_tree(text.strip())) if isinstance(node, ast.Name)}
        except SyntaxError:
            continue  # it fails in Waza as it will here
        if names & _OF_THE_SESSION:
            raise OnlyWazaError(f"its assertions read `{sorted(names & _OF_THE_SESSION)[0]}` of the session")
    return {"assertions": [text.strip() for text in assertions]}


def pattern(text: str) -> str:
    """A pattern of Go's regexp as Python's; OnlyWazaError where that cannot be."""
    if _LOOK_AROUND.search(text):
        raise OnlyWazaError(f"its pattern `{text}` looks around, which Waza's patterns cannot, so it never holds")
    if _FOREIGN.search(text):
        raise OnlyWazaError(f"its pattern `{text}` has what only Go's regexp knows")
    flags = re.match(r"\(\?([a-z]+)\)", text)
    lines = flags is not None and "m" in flags[1]
    out, at = "", 0
    while at < len(text):
        step = 2 if text[at] == "\\" else _class_end(text, at) - at if text[at] == "[" else 1
        part = text[at : at + step]
        # `$` is the very end there; here it is before a last line end, too.
        out += {"$": "$" if lines else r"\Z", r"\z": r"\Z"}.get(part, part)
        at += step
    try:
        re.compile(out)
    except re.error as exc:
        raise OnlyWazaError(f"its pattern `{text}` cannot be evaluated here: {exc}") from None
    return out


def _class_end(text: str, at: int) -> int:
    """Where a character class that begins at `at` ends."""
    end = at + 1
    end += text[end : end + 1] == "^"
    end += text[end : end + 1] == "]"
    while end < len(text) and text[end] != "]":
        end += 2 if text[end] == "\\" else 1
    return end + 1


# ---------------------------------------------------------------- values


def _strings(config: Mapping[str, Any], key: str) -> list[str]:
    found = config.get(key) or []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise OnlyWazaError(f"its `{key}` is no list of texts")
    return found


def _mappings(config: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = config.get(key) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise OnlyWazaError(f"its `{key}` is no list of entries")
    return found


def _inside(path: Any) -> str:
    if not isinstance(path, str) or not path or path.startswith("/") or ".." in path.split("/"):
        raise OnlyWazaError(f"its path {path!r} does not lie in the workspace")
    return path

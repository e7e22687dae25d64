"""Metadata that break the JSON Schema of their format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.model import Document
from scenlint.task.suggest import closest

_TYPES = {"object": "a table of keys", "array": "a list", "string": "text", "boolean": "true or false", "null": "null"}


@rule(
    "metadata-schema",
    "SL102",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.METADATA},
    refute="the harness reads the value and does what it says",
)
def metadata_schema(task: Task) -> Iterator[Finding]:
    for document in task.documents:
        if document.data.error is not None:
            continue
        for key in document.data.duplicates:
            message = f"the key {key.text} is given twice; readers differ in which one they take"
            yield Finding.at(key, message, help="keep one of the two", severity=Severity.WARNING)
        if document.schema is not None:
            yield from _errors(document, document.schema)


def _errors(document: Document, schema: dict[str, Any]) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator

    for found in Draft202012Validator(schema).iter_errors(_plain(document.data.value)):
        error = _deciding(found)
        path = tuple(error.absolute_path)
        told = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
        if error.validator == "required":
            names = [name for name in error.validator_value if name not in error.instance]
            where = f" in `{_dotted(path)}`" if path else ""
            # jsonschema reports each missing key on its own.
            name = next((n for n in names if repr(n) in error.message), names[0])
            told = error.schema.get("properties", {}).get(name, {}).get("description", "")
            yield Finding.at(_place(document, path), f"`{name}` is missing{where}", help=told or f"add `{name}`")
        else:
            message, help = _say(error, _dotted(path) or document.name)
            yield Finding.at(document.data.span(*path), message, help=help or told)


def _deciding(error: Any) -> Any:
    """Of alternatives that all fail, the error of the one that was most likely meant."""
    from jsonschema.exceptions import best_match

    return best_match([error]) if error.context else error


def _say(error: Any, name: str) -> tuple[str, str]:
    got = _short(error.instance)
    match error.validator:
        case "type":
            wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
            return f"`{name}` must be {' or '.join(_TYPES.get(t, f'a {t}') for t in wanted)}, not {got}", ""
        case "enum":
            near = closest(error.instance, error.validator_value) if isinstance(error.instance, str) else []
            values = ", ".join(f"`{v}`" for v in error.validator_value)
            return f"`{name}` is {got}; it may be {values}", f"did you mean `{near[0]}`?" if near else ""
        case "const":
            return f"`{name}` must be {_short(error.validator_value)}, not {got}", ""
        case "pattern":
            return f"`{name}` is {got}, which has not the form that it must have", ""
        case "exclusiveMinimum" | "minimum" | "exclusiveMaximum" | "maximum":
            words = {
                "exclusiveMinimum": "above",
                "minimum": "at least",
                "exclusiveMaximum": "below",
                "maximum": "at most",
            }
            return f"`{name}` is {got}; it must be {words[error.validator]} {error.validator_value}", ""
        case "minLength" | "minItems" | "minProperties":
            return f"`{name}` is empty" if not error.instance else f"`{name}` is too short: {error.message}", ""
        case "not" | "dependentRequired" | "if":
            return f"`{name}` combines what does not go together: {error.message}", ""
        case _:
            return f"`{name}`: {error.message[:200]}", ""


def _place(document: Document, path: tuple[str | int, ...]) -> Any:
    """Where something is missing: the object's head, which is the first line for the document itself."""
    return document.data.span(*path) if path else document.fragment.source.lines(document.fragment.span().line)


def _dotted(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


def _plain(value: Any) -> Any:
    """The value as JSON could hold it: YAML's other keys (numbers, true) as text."""
    if isinstance(value, dict):
        return {k if isinstance(k, str) else json.dumps(k, default=str): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value

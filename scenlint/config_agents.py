"""The tables of `[agents]` in the configuration: their JSON Schema, and which keys go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

KINDS = ("command", "llm", "harbor")
_NAMES = {"type": "array", "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}}
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_ARGV = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_SECONDS = {"type": "number", "exclusiveMinimum": 0}
_COUNT = {"type": "integer", "minimum": 1}


def _text(words: str) -> dict[str, Any]:
    return {"type": "string", "description": words}


def _table(words: str, properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    out = {"type": "object", "description": words, "properties": dict(properties), "additionalProperties": False}
    return {**out, "required": list(required)} if required else out


# Key -> (the kinds of agent that have it, JSON Schema).
_KEYS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "command": (
        ("command",),
        {**_ARGV, "description": "The program and its arguments; SCENLINT_BRIEF_FILE names the brief."},
    ),
    "on-host": (("command",), {"type": "boolean", "description": "Run it here, not in the task's container."}),
    "user": (("command",), _text("The container's user that it runs as.")),
    "env": (("command",), {**_TEXTS, "description": "Variables that it is given. Nothing secret: see `pass-env`."}),
    "pass-env": (
        KINDS,
        {**_NAMES, "description": "Names of this machine's variables that it is given; their values are never kept."},
    ),
    "files": (
        ("command",),
        {**_TEXTS, "description": "Copied into the container first: path, relative to this file -> target."},
    ),
    "install": (
        ("command",),
        {**_ARGV, "description": "Run in the container first, as root: what puts the program there."},
    ),
    "install-timeout": (("command",), {**_SECONDS, "description": "Seconds for `install`; 600 unless given."}),
    "timeout": (
        ("command", "llm"),
        {**_SECONDS, "description": "Seconds for a step, where the task gives more."},
    ),
    "model": (("command",), _text("The model's name, for the record.")),
    "usage": (
        ("command",),
        _table(
            "The JSON file with cost and tokens that it writes; figures by key or by JSON pointer (`/usage/in`).",
            {
                "file": _text("Path; if relative, in the folder of SCENLINT_USAGE_FILE. `usage.json` unless given."),
                "cost": _text("USD; `cost_usd` unless given."),
                "input-tokens": _text("`input_tokens` unless given."),
                "output-tokens": _text("`output_tokens` unless given."),
                "model": _text("`model` unless given."),
            },
        ),
    ),
    "llm": (
        ("llm",),
        _table(
            "A language model with a shell (needs `pip install 'scenlint[agents]'`).",
            {
                "model": _text("As litellm names it: `openai/NAME` for any endpoint that speaks OpenAI's API."),
                "base-url": _text("Where the API answers; the provider's own address unless given."),
                "api-key-env": _text("Name of the variable with the key. It never enters the container."),
                "tools": {"type": "boolean", "description": "False: commands in the text, for models without tools."},
                "temperature": {"type": "number", "minimum": 0, "description": "The provider's own unless given."},
                "reply-tokens": {**_COUNT, "description": "The longest reply, in tokens."},
                "parameters": {"type": "object", "description": "Further parameters of each request."},
                "max-steps": {**_COUNT, "description": "Replies of the model; 100 unless given."},
                "max-cost": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": "USD; no step begins once it is reached.",
                },
                "max-tokens": {**_COUNT, "description": "Tokens in and out together."},
                "price": _table(
                    "USD per million tokens, for a model whose price litellm does not know.",
                    {key: {"type": "number", "minimum": 0} for key in ("input", "output")},
                    ("input", "output"),
                ),
                "retries": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Further tries where the provider fails; 5 unless given.",
                },
                "request-timeout": {**_SECONDS, "description": "Seconds for one reply; 600 unless given."},
                "command-timeout": {**_SECONDS, "description": "Seconds for one command; 180 unless given."},
            },
            ("model",),
        ),
    ),
    "harbor": (
        ("harbor",),
        _table(
            "An agent of Harbor, which runs the whole trial; for tasks in its format.",
            {
                "agent": _text("Its name, or `module.path:Class` of an own one."),
                "model": _text("As Harbor's `--model` wants it."),
                "arguments": {**_ARGV, "description": "Further arguments of `harbor run`."},
            },
            ("agent",),
        ),
    ),
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {key: part for key, (_, part) in _KEYS.items()},
        "oneOf": [{"required": [kind]} for kind in KINDS],
        "additionalProperties": False,
    },
}


def misplaced(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys that an agent of this kind does not have, each with what is wrong."""
    kind = next((k for k in KINDS if k in table), "")
    for key in table:
        of, _ = _KEYS.get(key, (KINDS, {}))
        if kind not in of:
            yield key, f"`{key}` is for agents with {' or '.join(f'`{k}`' for k in of)}, and this one has `{kind}`"

"""The table `[watch]` of the configuration: its JSON Schema. What the values mean is `scenlint.grading.watch`."""

from __future__ import annotations

from typing import Any

_RATE = {"type": "number", "minimum": 0.001, "maximum": 0.999}
_SIGNALS = {
    "success": "Rate of successes.",
    "tool-errors": "Share of outcomes with a tool error.",
    "overrides": "Share of outcomes in which a person took over.",
    "retries": "Share of outcomes with a retry.",
}
_FIELDS = {
    "time": "When it ended: ISO 8601, or a number of seconds, milli- or nanoseconds since 1970.",
    "task-type": "What kind of task it was.",
    "success": "Whether it succeeded: true, false, 1, 0, or a word such as `passed`.",
    "cost": "What it cost, in US dollars.",
    "tool-errors": "How many calls of tools failed.",
    "overrides": "How often a person took over or put the result right: a number, true or false.",
    "retries": "How often it was tried again.",
}


def _table(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": words, **more}


_VARIABLE = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}

SCHEMA: dict[str, Any] = _table(
    {
        "false-alarm-every": {
            "type": "integer",
            "minimum": 100,
            "maximum": 1_000_000,
            "description": "Outcomes of a type between two false alarms of one signal, on average, at the least "
            "(10000).",
        },
        "learn": {
            "type": "integer",
            "minimum": 30,
            "maximum": 10_000,
            "description": "Outcomes of a type from which usual rates are learnt (100).",
        },
        "cost-rise": {
            "type": "number",
            "minimum": 0,
            "description": "The smallest climb of costs that is worth an alert: 0.1 is 10 % (0.1).",
        },
        "types": {
            "type": "object",
            "description": "Type of task, or `*` for all that have no table -> for each signal the `usual` rate, and "
            "the rate at which an `alert` is wanted.",
            "additionalProperties": _table(
                {
                    name: _table(
                        {"usual": {**_RATE, "description": words}, "alert": {**_RATE, "description": words}},
                        description=words,
                    )
                    for name, words in _SIGNALS.items()
                }
            ),
        },
        "fields": _table(
            {name: _text(words) for name, words in _FIELDS.items()},
            description="By which names the stream has what is watched: keys of JSON (dots lead inwards), or "
            "attributes of OTLP.",
        ),
        "webhook": _table(
            {
                "url": _text("Where alerts are sent to."),
                "url-env": _text("The variable that holds it, if it is secret.", **_VARIABLE),
                "header": _text("A header that is sent along.", pattern="^[A-Za-z0-9-]+$"),
                "secret-env": _text("The variable that holds the header's value.", **_VARIABLE),
                "timeout": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 300,
                    "description": "Seconds to wait for an answer (10).",
                },
            },
            description="Where alerts are sent, as a POST with JSON.",
        ),
    }
)
WORDS = "What `scenlint watch` works by: expected rates, names of fields, where alerts are sent."

"""What makes a text, a number or an object no score."""

from __future__ import annotations

import math

from scenlint.source.json_reader import loads
from scenlint.source.secrets import cut


def number_problem(value: object) -> str | None:
    """Why a value is no score between 0 and 1; None where it is one."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, int | float):
        return f"{value!r} is not a number"
    if not math.isfinite(value):
        return f"{value} is not a finite number"
    return None if -1e-6 <= value <= 1 + 1e-6 else f"{value:g} lies outside 0 to 1"


def text_problem(text: str) -> str | None:
    """Why the text of a reward.txt is no reward."""
    text = text.strip()
    if not text:
        return None  # an empty file is a verdict that was not written
    try:
        return number_problem(float(text))
    except ValueError:
        return f"{cut(text.splitlines()[0], 40)!r} is not a number"


def json_problem(text: str) -> str | None:
    """Why the text of a reward.json is no reward."""
    try:
        value = loads(text)
    except ValueError:
        return "it is not JSON"
    return object_problem(value)


def object_problem(value: object) -> str | None:
    if not isinstance(value, dict):
        return "it is not a JSON object"
    if not value:
        return "it is empty"
    for key, number in value.items():
        problem = number_problem(number)
        # Other measures (seconds, counts) may be of any size.
        if problem is not None and (key == "reward" or "outside" not in problem):
            return f"`{key}`: {problem}"
    return None

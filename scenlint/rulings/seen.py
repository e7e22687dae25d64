"""What a failed check said of the agents' work: the value it saw, near misses, and errors that are no judgement."""

from __future__ import annotations

import re

from scenlint.source.regex import regex

_RAISED = regex(r"^AssertionError(?:: |$)(?:(?:False is not true|True is not false|unexpectedly None) : )?")
_PAIR = regex(r"(?P<one>[^=!]{1,200}?) (?:!=|==) (?P<other>[^=!]{1,200}?)(?: : .*)?")
# Errors that a check runs into when it takes the work apart; that a file is missing is a judgement of a kind.
_ERROR = regex(r"^(?:[\w.]+\.)?(?!AssertionError|FileNotFoundError|ModuleNotFoundError)(?P<name>[A-Z]\w*Error)\b")


def last(detail: str) -> str:
    """What a check said: of a traceback the line that ends it."""
    lines = [line for line in detail.splitlines() if line.strip()]
    if lines and lines[0].startswith("Traceback "):
        lines = lines[-1:]
    return " ".join(" ".join(lines).split())


def message(said: str) -> str:
    """What was said beside that an assertion failed."""
    return _RAISED.sub("", said)


def error(said: str) -> str:
    """The name of the error that the check itself ran into; "" where it judged."""
    found = _ERROR.match(said)
    return found["name"] if found else ""


def near_miss(said: str) -> str:
    """In what alone two compared values differ: "white space", "letter case" or "rounding"; "" where in more."""
    pair = _PAIR.fullmatch(message(said).removeprefix("assert "))
    if pair is None:
        return ""
    one, other = (value.strip().strip("'\"") for value in (pair["one"], pair["other"]))
    if one == other:
        return ""
    squeezed = [re.sub(r"\s|\\[nrt]", "", value) for value in (one, other)]
    if squeezed[0] == squeezed[1]:
        return "white space"
    if squeezed[0].lower() == squeezed[1].lower():
        return "letter case"
    return "rounding" if _rounded(one, other) else ""


def _rounded(one: str, other: str) -> bool:
    """Whether two numbers are one, written with more or fewer places."""
    try:
        values = float(one.replace(",", "")), float(other.replace(",", ""))
    except ValueError:
        return False
    places = [len(text.rstrip("0").partition(".")[2]) if "." in text else 0 for text in (one, other)]
    apart = abs(values[0] - values[1])
    return apart == 0 or (places[0] != places[1] and apart < 10.0 ** -min(places))

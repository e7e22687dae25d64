"""Changes of a date, a time or a unit, in a text that is one or holds one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.model import Label
from scenlint.source.regex import regex

_MOMENT = regex(
    r"(?<![\w.-])(?P<date>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))"
    r"(?:(?P<gap>[T ])(?P<time>[0-2]\d:[0-5]\d(?::[0-5]\d)?)(?P<part>[.,]\d+)?(?P<zone>Z|[+-][0-2]\d:?[0-5]\d)?)?"
    r"(?![\w-]|\.\d)"
)
_MEASURE = regex(
    r"(?<![\w.])(?P<number>-?\d+(?:[.,]\d+)?)(?P<gap> ?)(?P<unit>[kKMGT]?i?B|bytes|[kmcµ]?[gmsl]|km/h|mph|min|minutes|"
    r"hours?|days?|weeks?|seconds?|°[CF]|%|‰|EUR|USD|€)(?![\w/%])"
)
# What stands in a unit's place: another of its kind, so that only the sense of the number changes.
_OTHER = {
    "B": "KB", "kB": "MB", "KB": "MB", "MB": "GB", "GB": "MB", "TB": "GB", "KiB": "MiB", "MiB": "GiB", "GiB": "MiB",
    "TiB": "GiB", "bytes": "KB", "g": "kg", "kg": "g", "mg": "g", "m": "km", "km": "m", "cm": "m", "mm": "cm",
    "s": "ms", "ms": "s", "µs": "ms", "min": "h", "minutes": "hours", "hour": "minute", "hours": "minutes",
    "day": "week", "days": "weeks", "week": "day", "weeks": "days", "second": "minute", "seconds": "minutes",
    "l": "ml", "ml": "l", "km/h": "mph", "mph": "km/h", "°C": "°F", "°F": "°C", "%": "‰", "‰": "%", "EUR": "USD",
    "USD": "EUR", "€": "$",
}  # fmt: skip
# The last word of a key that names the unit of its number, and by how much the number is another in the next unit.
_KEYS = {
    "ms": 0.001, "milliseconds": 0.001, "s": 1000, "sec": 1000, "secs": 1000, "seconds": 1000, "minutes": 60,
    "hours": 60, "bytes": 0.001, "kb": 1000, "mb": 1000, "gb": 1000, "kib": 1024, "mib": 1024, "gib": 1024, "kg": 1000,
    "grams": 0.001, "km": 1000, "meters": 0.001, "metres": 0.001, "cm": 10, "mm": 0.1, "cents": 0.01, "percent": 0.01,
    "pct": 0.01, "ratio": 100, "celsius": 1.8, "fahrenheit": 0.5,
}  # fmt: skip
_WORDS = regex(r"[A-Z]?[a-z]+|[A-Z]+")
Changed = tuple[str, str, Label, str]


def of_text(text: str, key: str, form: Form) -> Iterator[Changed]:
    """(operator, new text, label, reason) for the first date and the first measure in a text."""
    if (found := _MOMENT.search(text)) is not None:
        for operator, new, label, reason in _moments(found, key, form):
            yield operator, text[: found.start()] + new + text[found.end() :], label, reason
    if (found := _MEASURE.search(text)) is not None and (other := _OTHER.get(found["unit"])):
        new = f"{found['number']}{found['gap']}{other}"
        yield "other-unit", text[: found.start()] + new + text[found.end() :], *_known(key, form, "another unit")


def unit_factor(key: str) -> float | None:
    """By how much a number is another one in a unit next to the one that its key names; None where it names none."""
    words = _WORDS.findall(key)
    return _KEYS.get(words[-1].lower()) if len(words) > 1 else None


def _moments(found: re.Match[str], key: str, form: Form) -> Iterator[Changed]:
    try:
        moment = datetime.fromisoformat(found["date"] + (f"T{found['time']}" if found["time"] else ""))
        later = moment + timedelta(days=1)
    except (ValueError, OverflowError):
        return

    def written(new: datetime, zone: str | None = None) -> str:
        shape = "%H:%M:%S" if (found["time"] or "").count(":") == 2 else "%H:%M"
        time = f"{found['gap']}{new.strftime(shape)}{found['part'] or ''}" if found["time"] else ""
        return f"{new:%Y-%m-%d}{time}{found['zone'] or '' if zone is None else zone}"

    yield "date-plus-day", written(later), *_known(key, form, "another day")
    if not found["time"]:
        return
    yield "time-plus-hour", written(moment + timedelta(hours=1)), *_known(key, form, "another time")
    if found["zone"]:
        offset = datetime.fromisoformat(f"2000-01-01T00:00:00{found['zone']}").utcoffset() or timedelta()
        new = moment.replace(tzinfo=timezone(offset)).astimezone(timezone(offset + timedelta(hours=2)))
        shown = new.isoformat()[-6:]
        exact = form.exact_bytes
        yield "other-zone", written(new, shown), Label.OPEN, str(exact or "the same moment, written in another zone")


def _known(key: str, form: Form, what: str) -> tuple[Label, str]:
    if form.is_of_the_run(key):
        return Label.OPEN, f"`{key}` may differ from run to run"
    return Label.DIE, f"{what} is another answer"

"""Lines of a stream to outcomes: JSON Lines with one outcome each, or OTLP/JSON as OpenTelemetry writes to files.

Of OTLP, a log record or a span is an outcome if it has the attributes for the type of task and for success; what has
not is none, and is counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from scenlint.grading.watch.model import Outcome
from scenlint.grading.watch.settings import FIELDS

PREFIX = "scenlint."  # of an attribute that is not mapped: `scenlint.task_type`
_WORDS = {
    **dict.fromkeys(("true", "pass", "passed", "success", "succeeded", "ok", "correct", "yes", "1"), True),
    **dict.fromkeys(("false", "fail", "failed", "failure", "error", "incorrect", "no", "0"), False),
}
_BATCHES = {"resourceLogs": ("scopeLogs", "logRecords"), "resourceSpans": ("scopeSpans", "spans")}
_SPAN_FAILED = (2, "STATUS_CODE_ERROR")


class NoOutcomeError(ValueError):
    """A line that is no outcome; the text says why."""


class Reader:
    """Reads lines with the stream's names for our fields, and counts what it read."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = fields
        self.unreadable = 0  # lines and records
        self.first_fault = ""
        self.others = 0  # OTLP records that are no outcomes

    def outcomes(self, line: bytes) -> list[Outcome]:
        """The outcomes of a line: none of a blank or unreadable one, many of a batch."""
        if not line.strip():
            return []
        try:
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                raise NoOutcomeError("it is no JSON") from None
            if not isinstance(data, dict):
                raise NoOutcomeError("it is no JSON object")
            return self._outcomes(data)
        except NoOutcomeError as exc:
            self.fault(str(exc))
            return []

    def fault(self, why: str) -> None:
        """Count a line or record that cannot be read."""
        self.unreadable += 1
        self.first_fault = self.first_fault or why

    def _outcomes(self, data: Mapping[str, Any]) -> list[Outcome]:
        if not any(key in data for key in (*_BATCHES, "resourceMetrics")):
            return [self._outcome(lambda name: _get(data, self.fields.get(name, name)))]
        out = []
        for attributes in _records(data):
            found = {name: attributes.get(self.fields.get(name, PREFIX + name)) for name in FIELDS}
            if found["task_type"] is None or found["success"] is None:
                self.others += 1
                continue
            found["time"] = found["time"] or attributes["time"]
            try:
                out.append(self._outcome(found.get))
            except NoOutcomeError as exc:  # the others of its batch stand
                self.fault(str(exc))
        return out

    def _outcome(self, get: Callable[[str], Any]) -> Outcome:
        task_type = get("task_type")
        if isinstance(task_type, bool) or not isinstance(task_type, str | int) or not str(task_type).strip():
            raise NoOutcomeError(f"it has no text `{self.fields.get('task_type', 'task_type')}`")
        counts = (_count(get(name), name) for name in ("tool_errors", "overrides", "retries"))
        return Outcome(str(task_type), _flag(get("success")), _time(get("time")), _cost(get("cost")), *counts)


def _get(data: Any, path: str) -> Any:
    """A value by its key, or by keys with dots between them."""
    if isinstance(data, dict) and path in data:
        return data[path]
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _flag(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    raise NoOutcomeError("its success is neither true nor false")


def _count(value: Any, name: str) -> int | None:
    if value is None or isinstance(value, bool):
        return value if value is None else int(value)
    number = _number(value, name)
    if number < 0 or number != int(number):
        raise NoOutcomeError(f"its {name} is no count")
    return int(number)


def _cost(value: Any) -> float | None:
    if value is None:
        return None
    number = _number(value, "cost")
    if number < 0:
        raise NoOutcomeError("its cost is below 0")
    return number


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise NoOutcomeError(f"its {name} is no number")
    return number


def _time(value: Any) -> str:
    """ISO 8601, or a number of seconds, milli- or nanoseconds since 1970 -> ISO 8601, UTC; "" for nothing."""
    if value is None or value == "":
        return ""
    try:
        number = float(value)
        seconds = number / (1e9 if number > 1e16 else 1e3 if number > 1e11 else 1)
        when = datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        try:
            when = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise NoOutcomeError("its time is neither ISO 8601 nor a number of seconds") from None
    try:
        return when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise NoOutcomeError("its time is out of range") from None


# ---------------------------------------------------------------- OTLP


def _records(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The attributes of every log record and span: its own before those of its scope and resource."""
    for batch, (scopes, records) in _BATCHES.items():
        for resource in _list(data.get(batch)):
            outer = _attributes(_dict(resource.get("resource")))
            for scope in _list(resource.get(scopes)):
                shared = outer | _attributes(_dict(scope.get("scope")))
                for record in _list(scope.get(records)):
                    yield shared | _attributes(record) | _own(record)


def _own(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says beside its attributes, under names that can be mapped as these can."""
    code = _dict(record.get("status")).get("code", 0)
    times = (record.get(key) for key in ("timeUnixNano", "endTimeUnixNano", "observedTimeUnixNano"))
    out = {"time": next((t for t in times if t not in (None, 0, "0")), None), "body": _value(record.get("body"))}
    if "spanId" in record and "body" not in record and "endTimeUnixNano" in record:
        out |= {"span.name": record.get("name"), "span.ok": code not in _SPAN_FAILED}
    if record.get("eventName"):
        out["event.name"] = record["eventName"]
    return out


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {str(pair.get("key")): _value(pair.get("value")) for pair in _list(holder.get("attributes"))}


def _value(value: Any) -> Any:
    """The value of an attribute; whole numbers may come as texts. Of lists and maps nothing is needed."""
    for kind, held in _dict(value).items():
        if kind in ("stringValue", "boolValue", "doubleValue"):
            return held
        if kind == "intValue":
            return int(_number(held, "attribute"))
    return None


def _list(value: Any) -> list[Any]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}

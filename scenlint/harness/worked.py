"""What an agent told of its work: model, cost and tokens, read from a file it wrote, and why it ended."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from scenlint.harness.environment import Ran
from scenlint.task.record import FailureClass, TrialRecord

USAGE_FILE = "usage.json"  # what SCENLINT_USAGE_FILE names
USAGE_LIMIT = 16 * 1024 * 1024  # bytes of it that are read


@dataclass(frozen=True)
class Usage:
    """What an agent used up; None and "": it does not say. Cost is in USD."""

    model: str = ""
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True)
class Worked(Ran):
    """How an agent's program ended, with what it used up. `failure_class` counts unless the work passed."""

    usage: Usage = Usage()
    failure_class: FailureClass | None = None
    evidence: str = ""
    limit: float | None = None  # seconds after which it is stopped
    notes: str = ""  # for whoever reads the phase's output


@dataclass(frozen=True)
class UsageKeys:
    """Where the figures stand in the JSON that an agent writes: keys of its object, or JSON pointers (`/usage/in`)."""

    file: str = USAGE_FILE  # relative to the folder of SCENLINT_USAGE_FILE
    cost: str = "cost_usd"
    input_tokens: str = "input_tokens"
    output_tokens: str = "output_tokens"
    model: str = "model"

    def read(self, content: bytes | None) -> tuple[Usage, str]:
        """The figures, and what is wrong with the file ("" where it is right or was not written)."""
        if content is None or not content.strip():
            return Usage(), ""
        data = _json(content)
        if data is None:
            return Usage(), f"`{self.file}` is no JSON: cost and tokens are not known"
        problems: list[str] = []

        def figure(key: str) -> float | None:
            value = _at(data, key)
            right = isinstance(value, int | float) and not isinstance(value, bool)
            if right and math.isfinite(value) and value >= 0:
                return float(value)
            if value is not None:
                problems.append(f"`{key}` in `{self.file}` is no number of zero or more")
            return None

        cost, *tokens = (figure(key) for key in (self.cost, self.input_tokens, self.output_tokens))
        model = _at(data, self.model)
        told = Usage(model if isinstance(model, str) else "", cost, *(None if n is None else int(n) for n in tokens))
        return told, "; ".join(problems)


def spent(record: TrialRecord, usage: Usage) -> None:
    """Add what one step used up to a trial's record."""
    record.model = usage.model or record.model
    if usage.cost_usd is not None:
        record.cost_usd = (record.cost_usd or 0.0) + usage.cost_usd
    if usage.input_tokens is not None:
        record.input_tokens = (record.input_tokens or 0) + usage.input_tokens
    if usage.output_tokens is not None:
        record.output_tokens = (record.output_tokens or 0) + usage.output_tokens


def _json(content: bytes) -> Any:
    """The file's value; of a stream of JSON lines the last object. None: it is neither."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        pass
    for line in reversed(content.splitlines()):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _at(data: Any, key: str) -> Any:
    """What stands at a key, or at a JSON pointer (RFC 6901); None where there is nothing."""
    parts = [p.replace("~1", "/").replace("~0", "~") for p in key[1:].split("/")] if key.startswith("/") else [key]
    for part in parts:
        if isinstance(data, list) and part.isdecimal() and int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, dict):
            data = data.get(part)
        else:
            return None
    return data

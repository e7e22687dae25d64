"""Samples in logs of Inspect (`.eval`, or its JSON form): one trial for each sample and epoch."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.imports.base import Problem, failed, load, number, record, table, text
from scenlint.task.record import CheckResult, FailureClass, TrialRecord

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # Inspect's own values of a score
_LIMITS = {
    "time": FailureClass.AGENT_TIMEOUT, "working": FailureClass.AGENT_TIMEOUT, "context": FailureClass.CONTEXT,
}  # fmt: skip
_ZSTD = 93


def read(path: Path) -> Iterator[TrialRecord | Problem] | None:
    """The samples of a log; None where it is another file."""
    if path.suffix == ".eval":
        return _archive(path)
    data = load(path)
    if "eval" in data and isinstance(data.get("samples"), list):
        return _samples(path, data, data["samples"])
    return None


def _archive(path: Path) -> Iterator[TrialRecord | Problem]:
    if not zipfile.is_zipfile(path):
        yield Problem(path, "is no archive, or was not written to its end")
        return
    with zipfile.ZipFile(path) as archive:
        if any(entry.compress_type == _ZSTD for entry in archive.infolist()) and not _zstd():
            yield Problem(path, "is packed with zstd: `pip install 'scenlint[inspect]'` lets it be read")
            return
        names = archive.namelist()
        header = json.loads(archive.read("header.json")) if "header.json" in names else {}
        if not header:
            yield Problem(path, "has no header: the run did not come to its end")
        samples = (json.loads(archive.read(n)) for n in sorted(names) if n.startswith("samples/"))
        yield from _samples(path, header, samples)


def _zstd() -> bool:
    """Whether zip archives packed with zstd can be read: by Python itself from 3.14 on, else with a package."""
    if sys.version_info >= (3, 14):
        return True
    try:
        importlib.import_module("zipfile_zstd")
    except ImportError:
        return False
    return True


def _samples(path: Path, header: dict[str, Any], samples: Any) -> Iterator[TrialRecord | Problem]:
    about = table(header, "eval")
    for sample in samples:
        if isinstance(sample, dict):
            yield _trial(path, about, sample)


def _trial(path: Path, about: dict[str, Any], sample: dict[str, Any]) -> TrialRecord:
    model = text(about.get("model")) or "unknown"
    scores = {k: _value(v) for k, v in table(sample, "scores").items()}
    first = next(iter(scores), "")
    error = table(sample, "error")
    reward = None if error else scores.get(first)
    task = f"{text(about.get('task')) or path.stem}/{sample.get('id')}"
    place = (about.get("eval_id") or about.get("run_id"), sample.get("uuid"), sample.get("id"), sample.get("epoch"))
    made = record("inspect", path, task, "inspect", model, reward, *place)
    made.model, made.started = model, text(about.get("created"))
    made.attempt = sample["epoch"] if isinstance(sample.get("epoch"), int) else 1
    made.duration = number(sample.get("total_time")) or 0.0
    usage = [u for u in table(sample, "model_usage").values() if isinstance(u, dict)]
    if usage:
        made.input_tokens = int(sum(number(u.get("input_tokens")) or 0 for u in usage))
        made.output_tokens = int(sum(number(u.get("output_tokens")) or 0 for u in usage))
    made.checks = [CheckResult(k, None if v is None else v == 1.0, k, required=k == first) for k, v in scores.items()]
    limit = text(table(sample, "limit").get("type"))
    if error:
        return failed(
            made,
            FailureClass.INFRASTRUCTURE,
            text(error.get("message")) or "the sample ended with an error",
            acted=False,
        )
    if limit and reward != 1.0:
        return failed(made, _LIMITS.get(limit, FailureClass.BUDGET), f"the {limit} limit was reached")
    if reward is None:
        return failed(made, FailureClass.VERIFIER_ERROR, "the sample has no score")
    return failed(made, FailureClass.WRONG_ANSWER, f"{first}: {reward:g}")


def _value(score: Any) -> float | None:
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return _LETTERS.get(value)
    found = number(value)
    return found if found is not None and 0 <= found <= 1 else None

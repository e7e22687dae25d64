"""The two sides of a diff: a run of the ledger, or a file: an exported audit record, a chain, or `grade`'s JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.grading.audit import Chain, ChainError, chain_of, verify
from scenlint.grading.audit.bundle import BundleError, unpacked
from scenlint.grading.dispositions import Decision, every
from scenlint.grading.model import Run, Scenario
from scenlint.grading.results import Result, Spread, Summary, Total
from scenlint.grading.runs import RunError, find, records_of
from scenlint.grading.summary import summarise
from scenlint.harness.ledger import Ledger
from scenlint.stats.compare import Mean
from scenlint.stats.intervals import Interval
from scenlint.task.record import Disposition, TrialRecord


class SideError(Exception):
    """There is no such run; the text says why."""


@dataclass
class Side:
    """A run in figures, what was decided about it, and its audit record where that may be appended to."""

    summary: Summary
    chain: Chain | None = None
    decisions: list[Decision] = field(default_factory=list)  # of its record, whatever the baseline


def side(name: str, ledger: Ledger | None, said: Sequence[Disposition] = ()) -> Side:
    """A run by its id or the beginning of it, or of a file; SideError where there is none. `said`: see `summarise`."""
    path = Path(name)
    if path.is_file():
        return _of_file(path)
    if ledger is None:
        raise SideError(f"`{name}` is no file, and there is no ledger")
    try:
        run = find(ledger.folder, name)
        chain = chain_of(ledger, run.id)
        return Side(summarise(run, records_of(ledger, run), said), chain, every(chain))
    except (RunError, ChainError) as exc:
        raise SideError(str(exc)) from None


def _of_file(path: Path) -> Side:
    try:
        if path.suffix == ".json":
            return Side(_of_json(json.loads(path.read_text("utf-8"))))
        if path.suffix == ".jsonl":
            return _of_chain(path, path)
        with unpacked(path) as found:
            if wrong := found.faults():
                raise SideError(f"`{path}` is not as it was written: {wrong[0]}")
            return _of_chain(found.chain, path)
    except BundleError as exc:
        raise SideError(str(exc)) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise SideError(f"`{path}` holds no run: {exc}") from None


def _of_chain(chain: Path, path: Path) -> Side:
    wrong = [fault for fault in verify(chain) if not fault.note]
    if wrong:
        raise SideError(f"`{path}` is not as it was written: line {wrong[0].line}: {wrong[0].what}")
    first = next(Chain(chain).lines("run"), None)
    if first is None:
        raise ValueError("it has no line of kind `run`")
    return Side(summarise(Run.from_json(first.data), _records(chain)), decisions=every(Chain(chain)))


def _records(chain: Path) -> Iterator[TrialRecord]:
    """The trials of a chain. Those of oracle and nop, which some rulings rest on, are not in it."""
    yield from (TrialRecord.from_json(line.data["record"]) for line in Chain(chain).lines("trial"))


def _of_json(data: Mapping[str, Any]) -> Summary:
    """Of what `scenlint grade --format json` printed. It has no single costs and times, so these are not compared."""
    results = tuple(_result(told) for told in data["scenarios"])
    told = data["run"]
    run = Run(
        told["id"],
        told["suite"],
        tuple(r.scenario for r in results),
        told["agent"],
        told["trials"],
        model=told.get("model", ""),
        started=told.get("started", ""),
    )
    suite = data["suite"]
    return Summary(run, results, _total(suite["rate"]), _total(suite["reward"]))


def _total(told: Mapping[str, Any] | None) -> Total | None:
    if told is None:
        return None
    limits = None if told["low"] is None else Interval(told["low"], told["high"])
    return Total(Mean(told["mean"], told["error"], told["clusters"]), limits)


def _result(told: Mapping[str, Any]) -> Result:
    return Result(
        Scenario(told["key"], told["task"], told.get("task_digest", "")),
        passes=told["passes"],
        trials=told["trials"],
        excluded=told["excluded"],
        missing=told["missing"],
        outcomes=tuple(told.get("outcomes", ())),
        rewards=tuple(told.get("rewards", ())),
        failures=dict(told.get("failures", {})),
        exclusions=dict(told.get("exclusions", {})),
        spent=Spread(0, 0),
        images=tuple(told.get("images", ())),
        void=told.get("void", ""),
    )

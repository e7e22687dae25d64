"""`scenlint trials`: lists recorded trials, or shows one with all of its evidence."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.cli.ledgers import Folder, existing, reported
from scenlint.source.secrets import redact
from scenlint.task.record import FailureClass, Status

if TYPE_CHECKING:
    from scenlint.harness.ledger import Entry, Filters, Ledger, Row
    from scenlint.task.record import Phase, TrialRecord, Verdict

_PLAIN = re.compile(r"[0-9a-z]{1,20}-[0-9]{1,9}|[0-9.-]+")  # a trial's id, or a number
_PAGE = 1000  # lines written at a time
_LINES = 12  # of a phase's output, unless all is asked for


class Listing(StrEnum):
    TEXT = "text"
    JSON = "json"


def trials(
    trial: Annotated[str, typer.Argument(help="The trial to show, or the beginning of its id.")] = "",
    task: Annotated[str, typer.Option(help="Only trials of this task.")] = "",
    agent: Annotated[str, typer.Option(help="Only trials of this agent.")] = "",
    model: Annotated[str, typer.Option(help="Only trials of this model.")] = "",
    run: Annotated[str, typer.Option(help="Only trials of this run of `scenlint grade`.")] = "",
    kind: Annotated[str, typer.Option(help="Only trials of this kind: grade, calibration, probe, mutant …")] = "",
    status: Annotated[Status | None, typer.Option(help="Only trials that ended so.")] = None,
    failure: Annotated[FailureClass | None, typer.Option(help="Only trials that failed so.")] = None,
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only trials from then on: a date (2025-01-31) or an age (30d, 12h).")
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="List no more than the newest so many; 0 lists all.")] = 1000,
    full: Annotated[bool, typer.Option("--full", help="Show outputs as far as they are recorded.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make a damaged ledger anew, of the records in the trials' folders.")
    ] = False,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    ledger: Folder = None,
) -> None:
    """List the recorded trials, or show one: phases, outputs, checks, and both verdicts.

    Exit status: 0 shown, 1 made anew, and some records could not be read, 2 there is no such trial, or no ledger.
    """
    from scenlint.cli.clean import moment
    from scenlint.report.style import write

    if rebuild:
        _rebuild(ledger)
        return
    with existing(ledger) as book:
        if trial:
            found = _one(book, trial)
            if output is Listing.JSON:
                write(json.dumps({**trial_json(found.record, found.folder), "running": found.running}, indent=2) + "\n")
            else:
                write(shown(found.record, found.folder, full=full, running=found.running))
            return
        # A run names the trials that it graded.
        filters: Filters = {"task": task, "agent": agent, "model": model, "kind": "grade" if run else kind, "name": run}
        filters["status"], filters["failure_class"] = status or "", failure or ""
        filters["since"] = moment(since).isoformat() if since else ""
        left_out = max(0, book.count(**filters) - limit) if limit else 0
        texts = (_json if output is Listing.JSON else _list)(book, limit or None, left_out, filters)
        while page := list(islice(texts, _PAGE)):
            write("".join(page))


def _one(book: Ledger, trial: str) -> Entry:
    """The trial of this id, or whose id begins so; it ends the command where there is none, or more than one."""
    from scenlint.report.style import visible, write

    number = book.count(id=trial)
    found = book.entry(trial) or (next(book.each(id=trial), None) if number == 1 else None)
    if found is None:
        many = f"the ids of {number} trials begin with it" if number else "`scenlint trials` lists those there are"
        write(f"scenlint: no trial is called `{visible(trial)}`: {many}\n", sys.stderr)
        raise typer.Exit(2)
    return found


def _rebuild(folder: Path | None) -> None:
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.harness.ledger.rebuild import rebuild
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    with reported():
        made = rebuild(ledger_folder(folder))
    write(f"the ledger was made anew: {count(made.trials, 'trial')}, {made.from_folders} of them from their folders\n")
    if made.old:
        write(f"the old database is kept as {visible(str(made.old))}\n")
    for problem in made.problems:
        write(f"scenlint: {visible(problem)}\n", sys.stderr)
    if made.problems:
        raise typer.Exit(1)


# ---------------------------------------------------------------- many


def trial_json(record: TrialRecord, folder: Path) -> dict[str, Any]:
    """A record as every output of scenlint has it."""
    from scenlint.report.json import trial
    from scenlint.report.model import Report, TrialLine

    return trial(TrialLine(record, folder), Report("", Path.cwd()))


def _json(book: Ledger, newest: int | None, left_out: int, filters: Filters) -> Iterator[str]:
    """One document, written trial by trial, as there may be many."""
    separator = "\n"
    yield '{\n  "trials": ['
    for entry in book.each(newest=newest, **filters):
        told = json.dumps({**trial_json(entry.record, entry.folder), "running": entry.running}, indent=2)
        yield separator + indent(told, "    ")
        separator = ",\n"
    yield "\n  ],\n" if separator != "\n" else "],\n"
    yield f'  "left_out": {left_out}\n}}\n'


def _list(book: Ledger, newest: int | None, left_out: int, filters: Filters) -> Iterator[str]:
    """A table; of many trials it is read twice rather than held."""
    some, head = False, ("trial", "started", "task", "agent", "reward", "status", "seconds")
    wide = [len(name) for name in head]
    for cells in _cells(book, newest, filters):
        wide = [max(w, len(cell)) for w, cell in zip(wide, cells, strict=True)]
        some = True
    if not some:
        yield "no such trial is recorded\n"
        return
    for cells in chain([head], _cells(book, newest, filters)):
        yield "  ".join([*(f"{cell:<{w}}" for cell, w in zip(cells[:-1], wide, strict=False)), cells[-1]]) + "\n"
    if left_out:
        left = f"{left_out:,} older trial{' is' if left_out == 1 else 's are'} not listed"
        yield f"{left}; `--limit 0` lists all, and options such as `--task` and `--since` select\n"


def _cells(book: Ledger, newest: int | None, filters: Filters) -> Iterator[tuple[str, ...]]:
    from scenlint.report.style import visible

    seen = lru_cache(10_000)(visible)  # of a million trials most cells are the same
    for row in book.rows(newest=newest, **filters):
        yield tuple(cell if _PLAIN.fullmatch(cell) else seen(cell) for cell in _row(row))


def _row(row: Row) -> tuple[str, ...]:
    who = row.agent + (f" #{row.attempt}" if row.attempt > 1 else "")
    status = _ended(row.status, row.outcome, row.failure_class, running=row.running, finished=row.finished)
    return (
        *(row.id, row.started[:16].replace("T", " "), row.task, who, _reward(row.reward), status),
        f"{row.duration:.1f}" if row.finished else "",
    )


def _ended(status: str, outcome: str, failure: str, *, running: bool = False, finished: bool = True) -> str:
    if running:
        return "running"
    if not finished:
        return "no verdict (interrupted)"
    return f"{status} ({outcome or failure})" if outcome or failure else status


def _reward(reward: float | None) -> str:
    return "-" if reward is None else f"{reward:g}"


# ---------------------------------------------------------------- one trial


def shown(record: TrialRecord, folder: Path, *, full: bool = False, running: bool = False) -> str:
    """Everything of one trial, for people."""
    from scenlint.report.style import visible

    made = record.experiment
    tried = {
        "outcome": str(made.outcome) + (f", {made.expected} expected" if made.expected else ""),
        "did": made.did,
        "to": made.target,
        "because": made.reason,
        "evidence": made.evidence,
    } if made else {}  # fmt: skip
    facts = {
        "task": f"{record.task} ({record.format})",
        "agent": record.agent + (f", attempt {record.attempt}" if record.attempt > 1 else ""),
        **tried,
        "status": _ended(record.status, made.outcome if made else "", record.failure_class or "", running=running),
        "why": record.failure_evidence,
        "strict": _verdict(record.strict),
        "harness": _verdict(record.harness),
        "steps": ", ".join(f"{name} {_reward(reward)}" for name, reward in record.step_rewards.items()),
        "image": f"{record.image} {record.image_digest}".strip(),
        "verifier": f"{record.verifier_image} {record.verifier_image_digest}".strip(),
        "instead": record.substitute,
        "started": f"{record.started}, took {record.duration:.1f} s",
        "model": _spent(record),
        "folder": str(folder),
    }
    lines = [f"trial {record.id}", *(f"  {name:<8} {visible(redact(text))}" for name, text in facts.items() if text)]
    lines += ["", "phases"]
    for phase in record.phases:
        lines += _phase(phase, folder, full)
    if record.checks:
        lines += ["", "checks"]
    marks = {True: "passed", False: "failed", None: "no verdict"}
    for check in record.checks:
        step = f" [{check.step}]" if check.step else ""
        optional = "" if check.required else " (optional)"
        weight = f" ({check.weight:g} points)" if check.weight != 1 else ""
        lines.append(f"  {marks[check.passed]:<10} {visible(check.label or check.id)}{step}{optional}{weight}")
        if check.passed is not True:
            lines += _excerpt(check.detail, full)
    return "\n".join(lines) + "\n"


def _spent(record: TrialRecord) -> str:
    """The model, and what it used up, as far as that is known."""
    tokens = (record.input_tokens, "tokens in"), (record.output_tokens, "out")
    known = [f"{number} {word}" for number, word in tokens if number is not None]
    cost = [] if record.cost_usd is None else [f"{record.cost_usd:.4g} USD"]
    return ", ".join(filter(None, [record.model, *known, *cost]))


def _phase(phase: Phase, folder: Path, full: bool) -> Iterator[str]:
    from scenlint.report.style import visible

    step = f" [{phase.step}]" if phase.step else ""
    code = f"  exit status {phase.exit_code}" if phase.exit_code is not None else ""
    error = f"  {redact(phase.error)}" if phase.error else ""
    yield f"  {phase.name + step:<10} {phase.duration:8.2f} s{code}{visible(error)}"
    yield from _excerpt(phase.output, full)
    if phase.output_file and phase.output:
        yield f"             all of it: {folder / phase.output_file}"


def _excerpt(text: str, full: bool) -> Iterator[str]:
    from scenlint.report.style import visible

    lines = redact(text).strip().splitlines()
    if not full and len(lines) > _LINES:
        yield f"             … {len(lines) - _LINES} lines before (--full shows them)"
        lines = lines[-_LINES:]
    yield from (f"           | {visible(line)}" for line in lines)


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    told = "no verdict" if verdict.reward is None else f"{verdict.reward:g}, {'passed' if verdict.passed else 'failed'}"
    others = {k: v for k, v in verdict.rewards.items() if k != "reward"}
    keys = f" {others}" if others else ""
    return f"{told}{keys}" + (f" ({verdict.reason})" if verdict.reason else "")

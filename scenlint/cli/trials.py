"""`scenlint trials`: lists recorded trials, or shows one with all of its evidence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.cli.ledgers import Folder, existing
from scenlint.source.secrets import redact

if TYPE_CHECKING:
    from scenlint.harness.ledger import Entry
    from scenlint.task.record import Phase, TrialRecord, Verdict

_LINES = 12  # of a phase's output, unless all is asked for


class Listing(StrEnum):
    TEXT = "text"
    JSON = "json"


def trials(
    trial: Annotated[str, typer.Argument(help="The trial to show, or the beginning of its id.")] = "",
    task: Annotated[str, typer.Option(help="Only trials of this task.")] = "",
    agent: Annotated[str, typer.Option(help="Only trials of this agent.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Show outputs as far as they are recorded.")] = False,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    ledger: Folder = None,
) -> None:
    """List the recorded trials, or show one: phases, outputs, checks, and both verdicts.

    Exit status: 0 shown, 2 there is no such trial, or no ledger.
    """
    from scenlint.report.style import visible, write

    with existing(ledger) as book:
        found = book.entries(task=task, agent=agent, id=trial)
    exact = [entry for entry in found if entry.id == trial]
    found = exact or found
    if trial and len(found) != 1:
        many = f"the ids of {len(found)} trials begin with it" if found else "`scenlint trials` lists those there are"
        write(f"scenlint: no trial is called `{visible(trial)}`: {many}\n", sys.stderr)
        raise typer.Exit(2)
    if output is Listing.JSON:
        listed = [{**trial_json(e.record, e.folder), "running": e.running} for e in found]
        write(json.dumps(listed[0] if trial else {"trials": listed}, indent=2) + "\n")
    elif trial:
        write(shown(found[0].record, found[0].folder, full=full, running=found[0].running))
    else:
        write(_list(found))


def trial_json(record: TrialRecord, folder: Path) -> dict[str, Any]:
    """A record as every output of scenlint has it."""
    from scenlint.report.json import trial
    from scenlint.report.model import Report, TrialLine

    return trial(TrialLine(record, folder), Report("", Path.cwd()))


def _list(entries: Sequence[Entry]) -> str:
    from scenlint.report.style import visible

    if not entries:
        return "no such trial is recorded\n"
    head = ("trial", "started", "task", "agent", "reward", "status", "seconds")
    rows = [head, *(tuple(map(visible, _row(entry))) for entry in entries)]
    wide = [max(len(row[n]) for row in rows) for n in range(len(head) - 1)]
    return "\n".join("  ".join([*(f"{row[n]:<{w}}" for n, w in enumerate(wide)), row[-1]]) for row in rows) + "\n"


def _row(entry: Entry) -> tuple[str, ...]:
    record = entry.record
    who = record.agent + (f" #{record.attempt}" if record.attempt > 1 else "")
    status = _status(record, running=entry.running, finished=entry.finished)
    return (
        *(entry.id, record.started[:16].replace("T", " "), record.task, who, _reward(record.reward), status),
        f"{record.duration:.1f}" if entry.finished else "",
    )


def _status(record: TrialRecord, *, running: bool = False, finished: bool = True) -> str:
    if running:
        return "running"
    if not finished:
        return "no verdict (interrupted)"
    if record.experiment is not None and record.experiment.outcome:
        return f"{record.status.value} ({record.experiment.outcome})"
    return record.status.value + (f" ({record.failure_class.value})" if record.failure_class else "")


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
        "status": _status(record, running=running),
        "why": record.failure_evidence,
        "strict": _verdict(record.strict),
        "harness": _verdict(record.harness),
        "steps": ", ".join(f"{name} {_reward(reward)}" for name, reward in record.step_rewards.items()),
        "image": f"{record.image} {record.image_digest}".strip(),
        "verifier": f"{record.verifier_image} {record.verifier_image_digest}".strip(),
        "instead": record.substitute,
        "started": f"{record.started}, took {record.duration:.1f} s",
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

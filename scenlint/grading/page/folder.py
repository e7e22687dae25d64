"""Pages about single tasks in a folder, from what one `validate` found, tried and saw."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from scenlint.grading.page.model import Book, TaskPart
from scenlint.grading.page.render import render
from scenlint.report.experiments import Sum
from scenlint.report.model import Report, TrialLine


def write(report: Report, folder: Path) -> list[Path]:
    """Write a page about each task with trials; their paths."""
    tasks: dict[str, list[TrialLine]] = {}
    for line in report.trials or ():
        tasks.setdefault(line.record.task, []).append(line)
    folder.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    for task, lines in tasks.items():
        path = folder / f"{_name(task, {p.stem for p in out})}.html"
        made = datetime.now(UTC).isoformat(timespec="seconds")
        path.write_text(render(Book(task, report.version, made, [_part(task, lines, report)])), "utf-8")
        out.append(path)
    return out


def _part(task: str, lines: list[TrialLine], report: Report) -> TaskPart:
    first = lines[0].record
    experiments = Sum(task, lines) if any(line.record.experiment for line in lines) else None
    return TaskPart(
        *(task, task, first.format, first.task_digest, first.image_digest),
        report=report,
        findings=[f for f in report.ordered() if f.task == task],
        not_assessed=[n for n in report.not_assessed if n.task == task],
        trials=[line.record for line in lines if line.record.experiment is None],
        experiments=experiments,
    )


def _name(task: str, taken: set[str]) -> str:
    """A file's name for a task, of its own."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", task).strip("-.") or "task"
    number = 1
    while (name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return name if number == 1 else f"{name}-{number}"

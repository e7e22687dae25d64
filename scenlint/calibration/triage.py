"""What people decided about trials and suspicions, with reason and role: appended to a file, never taken out of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from scenlint.task.record import Disposed, Disposition

FILE = "triage.jsonl"  # in the ledger's folder
OF_TASKS = (Disposed.MISALIGNED, Disposed.ALIGNED)


def command(about: str) -> str:
    """How a person decides about a trial, or about a task by its digest."""
    of_task = about.startswith("sha256:")
    name = about[:19] if of_task else about
    verdicts = "|".join(d.value for d in Disposed if (d in OF_TASKS) == of_task)
    return f"scenlint triage {name} --as {verdicts} --reason … --role …"


def decide(folder: Path, about: str, verdict: Disposed, reason: str, role: str) -> Disposition:
    """Record a decision; ValueError without a reason or a role."""
    if not reason.strip() or not role.strip():
        raise ValueError("a disposition needs a reason, and the role of who decides")
    made = Disposition(about, verdict, reason.strip(), role.strip(), datetime.now(UTC).isoformat(timespec="seconds"))
    with (folder / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(made)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return made


def history(folder: Path) -> list[Disposition]:
    """Every decision in the order in which they were made; a line that was cut off is left out."""
    out = []
    try:
        lines = (folder / FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            data = json.loads(line)
            out.append(Disposition(**{**data, "verdict": Disposed(data["verdict"])}))
        except (ValueError, TypeError, KeyError):
            continue
    return out


def confirmed(folder: Path) -> Sequence[Disposition]:
    """What holds now: the last decision about each trial and digest."""
    return list({d.about: d for d in history(folder)}.values())

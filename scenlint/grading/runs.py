"""The runs of a ledger: which there are, which one is to go on, and their trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenlint.grading.audit.chain import FOLDER, SUFFIX, Chain, path_of
from scenlint.grading.model import KIND, Run
from scenlint.grading.summary import CONTROLS
from scenlint.harness.ledger import Ledger
from scenlint.task.record import TrialRecord


class RunError(Exception):
    """A run that is not there or cannot go on; the text says why."""


def runs(folder: Path) -> list[Run]:
    """The runs of the ledger in a folder, in the order in which they began."""
    found = [run for path in (folder / FOLDER).glob(f"*{SUFFIX}") if (run := _read(path)) is not None]
    return sorted(found, key=lambda run: (run.started, run.id))


def find(folder: Path, name: str) -> Run:
    """The run whose id is, or begins with, this; RunError where there is none or there are several."""
    every = runs(folder)
    found = [r for r in every if r.id == name] or [r for r in every if name and r.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RunError(f"{len(found)} runs begin with `{name}`: {', '.join(r.id for r in found[:5])}")
    known = ", ".join(r.id for r in every[-5:])
    raise RunError(f"there is no run `{name}`" + (f"; the last ones are {known}" if known else "; none was made yet"))


def unfinished(folder: Path, like: Run) -> Run | None:
    """The last run of the same suite, agent and number of trials, if it has not come to its end."""
    same = [r for r in runs(folder) if _same(r, like)]
    return same[-1] if same and not Chain.open(path_of(folder, same[-1].id)).ended else None


def _same(one: Run, other: Run) -> bool:
    kept = ("suite", "regression", "agent", "agent_digest", "trials")
    return all(getattr(one, name) == getattr(other, name) for name in kept)


def trials_of(ledger: Ledger, run: Run) -> Iterator[TrialRecord]:
    """The run's own trials that have ended, one after the other."""
    yield from (entry.record for entry in ledger.each(kind=KIND, name=run.id, finished=True))


def records_of(ledger: Ledger, run: Run) -> Iterator[TrialRecord]:
    """What its summary is made of: its own trials, and those of oracle and nop on the same tasks."""
    tasks = dict.fromkeys((r.task, r.task_digest) for r in ledger.rows(kind=KIND, name=run.id, finished=True))
    yield from trials_of(ledger, run)
    for task, digest in tasks:
        for agent in CONTROLS:
            found = ledger.each(task=task, agent=agent, task_digest=digest, finished=True)
            yield from (entry.record for entry in found if entry.record.experiment is None)


def _read(path: Path) -> Run | None:
    """The run of a chain, from its first line; None where that cannot be read, or is of a file of another name."""
    try:
        first = next(Chain(path).lines(), None)
        run = Run.from_json(first.data) if first is not None and first.kind == "run" else None
        return run if run is not None and path_of(path.parent.parent, run.id) == path else None
    except (OSError, ValueError, KeyError, TypeError):
        return None

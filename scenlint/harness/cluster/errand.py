"""What runs on a worker: one trial from its parcel; it is stopped when the driver says so, or falls silent."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

import scenlint
from scenlint.harness import local
from scenlint.harness.cluster.parcel import Parcel, returned
from scenlint.harness.engine import connect
from scenlint.harness.environment import Fault
from scenlint.harness.ownership import alive, owner
from scenlint.harness.reap import reap
from scenlint.task.record import TrialRecord

SILENCE = 60.0  # seconds without a word of the driver after which its trials are stopped
_OWNER = "owner.json"


@dataclass
class _Run:
    """A driver's run, as a worker knows it."""

    stop: threading.Event = field(default_factory=threading.Event)
    heard: float = field(default_factory=time.monotonic)


_runs: dict[str, _Run] = {}
_tidied = threading.Lock()


def perform(parcel: Parcel, run: str, trial: str, engine: bool) -> tuple[dict[str, Any], bytes]:
    """Run a trial here: its record as JSON values, and its folder as an archive."""
    from scenlint.harness import trial as trials

    state = _runs.setdefault(run, _Run())
    state.heard = time.monotonic()
    _tidy(run, trial, engine)
    with _scratch(run, trial) as scratch, _listening(state):
        plan, agent, options = parcel.open(scratch / "sent")
        folder = scratch / trial
        record: TrialRecord = trials.run(plan, agent, folder, options=options, stop=state.stop, trial=trial)
        folder.mkdir(exist_ok=True)
        return record.to_json(), returned(folder)


def hear(run: str) -> None:
    """The driver is still there."""
    _runs.setdefault(run, _Run()).heard = time.monotonic()


def stop(run: str) -> None:
    """End the run's trials at their next occasion, cleaned up."""
    _runs.setdefault(run, _Run()).stop.set()


def finish(run: str, engine: bool) -> list[str]:
    """The run is over: remove what is left of it on this machine; what could not be removed, in words."""
    _runs.pop(run, None)
    failed: list[str] = []
    if engine:
        with suppress(Fault):
            failed = reap(connect(), run=run).failed
    _sweep()
    return failed


def about() -> dict[str, str]:
    """Who works here."""
    return {"scenlint": scenlint.__version__}


def _tidy(run: str, trial: str, engine: bool) -> None:
    """Remove what an earlier attempt at this trial left, and what workers that died left."""
    with _tidied:
        _sweep()
        if engine:
            with suppress(Fault):  # an engine that does not answer is reported by the trial
                reap(connect())
                reap(connect(), run=run, trial=trial)


@contextmanager
def _listening(state: _Run) -> Iterator[None]:
    """While entered, the run is stopped where its driver falls silent."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(1.0):
            if time.monotonic() - state.heard > SILENCE:
                state.stop.set()

    threading.Thread(target=watch, name="scenlint-listening", daemon=True).start()
    try:
        yield
    finally:
        over.set()


# ---------------------------------------------------------------- folders


def _base() -> Path:
    return Path(tempfile.gettempdir()) / f"scenlint-worker-{os.getuid()}"


@contextmanager
def _scratch(run: str, trial: str) -> Iterator[Path]:
    """A folder for one trial that says whose it is."""
    base = _base()
    base.mkdir(mode=0o700, exist_ok=True)
    if base.stat().st_uid != os.getuid():
        raise Fault(f"`{base}` belongs to somebody else")
    folder = Path(tempfile.mkdtemp(prefix=f"{run}-{trial}-", dir=base))
    try:
        (folder / _OWNER).write_text(json.dumps(owner()))
        yield folder
    finally:
        _remove(folder, trial)


def _sweep() -> None:
    """Remove the folders of processes that are gone."""
    with suppress(OSError):
        for folder in _base().iterdir():
            with suppress(OSError, ValueError):
                if alive(json.loads((folder / _OWNER).read_text())) is False:
                    for inside in folder.iterdir():
                        local.clear(inside)
                    rmtree(folder, ignore_errors=True)


def _remove(folder: Path, trial: str) -> None:
    local.clear(folder / trial)
    rmtree(folder, ignore_errors=True)

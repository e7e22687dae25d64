"""Shows how a run of trials goes, on standard error: a live table on a terminal, one line per trial elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scenlint.cli.tally import Tally
from scenlint.report.style import visible, wants_color, write
from scenlint.stats.words import count
from scenlint.task.record import PhaseName, Status

if TYPE_CHECKING:
    from scenlint.dynamic.gate import Job
    from scenlint.task.record import Phase, TrialRecord

_ORDER = list(PhaseName)
_LONGEST = 12  # running trials shown at once
_AGENTS = ("calibration", "grade")  # experiments that are ordinary trials of an agent
_COLORS = {
    "broken": "red",
    "leak": "red",
    "laundered": "red",
    "differs": "red",
    "skipped": "yellow",
    "holds": "green",
    "same": "green",
}
_MUTANTS = {("must-die", "survived"): "yellow", ("must-live", "killed"): "yellow"}


class Quiet:
    """Says nothing."""

    def planned(self, jobs: Sequence[Job], reused: int) -> None: ...
    def began(self, job: Job, trial: str) -> None: ...
    def phase(self, job: Job, trial: str, phase: Phase) -> None: ...
    def ended(self, job: Job, record: TrialRecord) -> None: ...
    def left_out(self, job: Job) -> None: ...
    def note(self, text: str) -> None: ...


class Lines(Quiet):
    """One line for each trial as it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tally = Tally()

    def planned(self, jobs: Sequence[Job], reused: int) -> None:
        with self._lock:
            self._tally.planned(_number(jobs))
        if jobs or reused:
            self._print(planned(jobs, reused))

    def ended(self, job: Job, record: TrialRecord) -> None:
        with self._lock:
            self._tally.ended(record)
            far = f" [{self._tally}]" if job.experiment and job.experiment.kind == "grade" else ""
        self._print(f"{visible(_title(job))}: {visible(_outcome(record))}{far}")

    def left_out(self, job: Job) -> None:
        with self._lock:
            self._tally.left_out(_number([job]))

    def note(self, text: str) -> None:
        self._print(visible(text))

    def _print(self, text: str) -> None:
        with self._lock:
            write(text + "\n", sys.stderr)


class Table(Quiet):
    """A table of the trials that run, and above it a line for each that has ended."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lock = threading.Lock()
        self._running: dict[str, tuple[Job, str, float]] = {}
        self._tally = Tally()
        self._left: Counter[str] = Counter()  # kind -> trials that have not ended
        self._console = Console(stderr=True, no_color=not wants_color(sys.stderr), highlight=False)
        self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=4, transient=True)

    def __enter__(self) -> Table:
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def planned(self, jobs: Sequence[Job], reused: int) -> None:
        with self._lock:
            every = [j for job in jobs for j in (job, job.partner) if j]
            self._tally.planned(len(every))
            self._left.update(_kind(job) for job in every)
        if jobs or reused:
            self._print(planned(jobs, reused), "dim")

    def began(self, job: Job, trial: str) -> None:
        with self._lock:
            self._running[trial] = (job, PhaseName.BUILD.value, time.monotonic())

    def phase(self, job: Job, trial: str, phase: Phase) -> None:
        with self._lock:
            if trial in self._running:
                _, _, began = self._running[trial]
                self._running[trial] = (job, _next(phase), began)

    def ended(self, job: Job, record: TrialRecord) -> None:
        with self._lock:
            self._running.pop(record.id, None)
            self._tally.ended(record)
            self._left[_kind(job)] -= 1
        self._print(f"{visible(_title(job))}: {visible(_outcome(record))}", _color(record))

    def left_out(self, job: Job) -> None:
        with self._lock:
            every = [j for j in (job, job.partner) if j]
            self._tally.left_out(len(every))
            self._left.subtract(_kind(j) for j in every)

    def note(self, text: str) -> None:
        self._print(visible(text), "dim")

    def _print(self, text: str, style: str) -> None:
        from rich.text import Text

        self._console.print(Text(text, style))

    def _render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table as Grid
        from rich.text import Text

        with self._lock:
            running, told = list(self._running.values()), str(self._tally)
            done, every = self._tally.done, self._tally.all
            waiting = self._left - Counter(_kind(job) for job, _, _ in running)
        grid = Grid.grid(padding=(0, 2))
        for job, phase, began in running[:_LONGEST]:
            cells = (visible(job.subject.task.id), _who(job), phase, f"{time.monotonic() - began:.0f} s")
            grid.add_row(*(Text(cell) for cell in cells))
        more = len(running) - _LONGEST
        foot = Grid.grid(padding=(0, 2))
        left = ", ".join(count(n, kind) for kind, n in waiting.items())
        told += f"; waiting: {left}" if left else ""
        foot.add_row(ProgressBar(every or 1, done, width=30), Text(told))
        return Group(grid, *([Text(f"and {more} more")] if more > 0 else []), foot)


@contextmanager
def watching(*, quiet: bool = False) -> Iterator[Quiet]:
    """The fitting watcher, for as long as it is needed."""
    if quiet:
        yield Quiet()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        with Table() as table:
            yield table
    else:
        yield Lines()


def planned(jobs: Sequence[Job], reused: int) -> str:
    """What is about to be done, and why trials that are recorded are run again."""
    number = _number(jobs)
    kinds = Counter(_kind(j) for job in jobs for j in (job, job.partner) if j)
    which = f" ({', '.join(count(n, kind) for kind, n in kinds.items())})" if set(kinds) - {"trial"} else ""
    parts = [f"{count(number, 'trial')} to run{which}"]
    if reused:
        parts.append(f"{reused} reused from the ledger")
    whys = dict.fromkeys(job.why for job in jobs if job.why)
    again = [f"{sum(job.why == why for job in jobs)} again ({why})" for why in whys]
    return ", ".join([*parts, *again])


def _number(jobs: Sequence[Job]) -> int:
    return sum(2 if job.partner else 1 for job in jobs)


def _kind(job: Job) -> str:
    return job.experiment.kind if job.experiment and job.experiment.kind not in _AGENTS else "trial"


def _who(job: Job) -> str:
    return job.agent.name + (f" #{job.attempt}" if job.attempt > 1 else "")


def _title(job: Job) -> str:
    return f"{job.subject.task.id} {_who(job)}"


def _outcome(record: TrialRecord) -> str:
    if record.experiment is not None and record.experiment.kind not in _AGENTS:
        why = f": {record.experiment.reason}" if record.experiment.outcome == "skipped" else ""
        reward = "no verdict" if record.reward is None else f"reward {record.reward:g}"
        return f"{record.experiment.outcome or 'not judged'}, {reward} ({record.duration:.1f} s){why}"
    reward = "no verdict" if record.reward is None else f"{record.reward:g}"
    unclean = record.reward == 1.0 and record.status is not Status.PASSED
    why = f": {record.failure_evidence}" if record.reward is None or unclean else ""
    return f"{reward} ({record.duration:.1f} s){why}"


def _color(record: TrialRecord) -> str:
    """Green is what is hoped for: that doing nothing fails, and everybody else passes."""
    if record.experiment is not None and record.experiment.kind not in _AGENTS:
        came = record.experiment.outcome
        return _MUTANTS.get((record.experiment.expected, came), _COLORS.get(came, "green" if came else "yellow"))
    if record.status is Status.NO_VERDICT:
        return "red"
    return "green" if (record.status is Status.PASSED) != (record.agent == "nop") else "yellow"


def _next(phase: Phase) -> str:
    """What runs after a phase, as far as that is told."""
    place = _ORDER.index(PhaseName(phase.name))
    return _ORDER[min(place + 1, len(_ORDER) - 1)].value

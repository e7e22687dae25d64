"""Another date: a day and a year later, and on a 29 February, for the reference solution and the verifier alike."""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned, skipped
from scenlint.dynamic.worlds import around
from scenlint.dynamic.worlds.moved import FOLDER, Proof, Proving, out_of_reach, run_with
from scenlint.harness.agents import OracleAgent
from scenlint.task.plan import Network, Upload
from scenlint.task.record import Experiment, TrialRecord

CONTROL = "clock-control"
DAY = 24 * 3600
_LIBRARY = "libfaketime.so.1"
_UNTRUSTED = re.compile(r"certificate|\bSSL|\bTLS|not (?:yet )?valid|Release file .* expired", re.I)
_TOLERANCE = 3600  # seconds by which a moved clock may be off


def clocks(about: Context) -> Iterator[Planned]:
    """A control whose clock is not moved, then each moved one: what the control shows too is the means' own doing."""
    moves = {CONTROL: 0, "clock+1d": DAY, "clock+1y": 365 * DAY, "clock-29-feb": _to_leap_day(time.time())}
    why = _obstacle(about)
    for name, seconds in moves.items():
        yield skipped("world", name, why) if why else _moved(about, name, seconds)


def _moved(about: Context, name: str, seconds: int) -> Planned:
    env = (
        ("LD_PRELOAD", f"{FOLDER}/{_LIBRARY}"),
        ("FAKETIME", setting := f"+{seconds}s" if seconds else "+0"),
        *(kept := (("FAKETIME_DONT_FAKE_MONOTONIC", "1"), ("NO_FAKE_STAT", "1"))),
    )
    library = _library()
    assert library is not None
    brought = (Upload(Path(library), f"{FOLDER}/{_LIBRARY}"),)
    when = datetime.fromtimestamp(time.time() + seconds, UTC).strftime("%d %B %Y")
    did = "with the means by which clocks are moved, but an unmoved clock" if not seconds else f"as if it were {when}"

    def wrong(said: str) -> str:
        if not said.isdigit():
            return f"`date` printed `{said[:80]}`"
        off = float(said) - seconds - time.time()
        return f"`date` was {off:+.0f} s off the date that was wanted" if abs(off) > _TOLERANCE else ""

    if around.many(about.plan):
        did += f", in the containers of the {around.beside(about.plan)} too"
    experiment = Experiment("world", name, expected="same", did=f"ran the reference solution and graded it {did}")
    look = partial(around.look, moved=around.clock_moved(_LIBRARY, seconds, _TOLERANCE))
    agent = Proving(OracleAgent(), f"world:{name}", Proof("date +%s", wrong), env, brought, look)
    plan = around.preloaded(run_with(about.plan, env, brought), library, setting, kept)
    return Planned(experiment, agent, plan=plan, judge=_judge)


def _judge(record: TrialRecord, folder: Path, about: Context) -> None:
    """Servers of today are not trusted on another day: what fails by that says nothing about the task."""
    around.judge(record, folder, about)
    experiment = record.experiment
    assert experiment is not None
    logs = [f.read_text("utf-8", "replace") for f in folder.rglob("*.log") if f.is_file()]
    if experiment.outcome == "differs" and _public(about) and any(_UNTRUSTED.search(log) for log in logs):
        experiment.outcome = "skipped"
        experiment.reason = "something is downloaded, and the certificates of today are not valid then"


def _obstacle(about: Context) -> str:
    """Why no clock can be moved here."""
    plan = about.plan
    if _library() is None:
        return "the library that moves clocks is not installed (`pip install libfaketime`)"
    return out_of_reach(plan)


def _public(about: Context) -> bool:
    plan = about.plan
    return Network.PUBLIC in {plan.network, *(step.verify.network for step in plan.steps)}


def _library() -> str | None:
    """The library of the package `libfaketime`, which needs not be imported."""
    spec = find_spec("libfaketime")
    folders = spec.submodule_search_locations if spec else None
    found = [path for folder in folders or () for path in Path(folder).rglob(_LIBRARY)]
    return str(found[0]) if found else None


def _to_leap_day(now: float) -> int:
    """Seconds until noon of the next 29 February."""
    year = datetime.fromtimestamp(now, UTC).year
    while True:
        if calendar.isleap(year):
            away = datetime(year, 2, 29, 12, tzinfo=UTC).timestamp() - now
            if away > 2 * DAY:
                return int(away)
        year += 1

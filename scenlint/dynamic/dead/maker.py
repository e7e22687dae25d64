"""Plans the trials of a verifier whose services are dead, empty or noisy; it needs the local sandbox and no engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scenlint.dynamic.dead import stand_in
from scenlint.dynamic.experiments import Context, Planned
from scenlint.harness.agents import Nop
from scenlint.task.plan import App, Check, Command, NotRunnableError, RunPlan, Upload
from scenlint.task.record import Experiment, ProbeOutcome, TrialRecord

INSIDE = "/stand-in"
TIMEOUT = 120.0  # seconds; a verifier that waits longer for a service that is not there is stopped
_FIRST_PORT = 18100
MODES = {
    "dead": "no service answered, and `docker` failed at once",
    "empty": "every service answered with an empty document, and every query with nothing",
    "noise": "every service and every query answered with a 7",
}


def plan(about: Context) -> Iterator[Planned]:
    """The experiments of a task with applications; none for others."""
    if about.plan.apps:
        yield from planned(about.plan)


def planned(given: RunPlan) -> Iterator[Planned]:
    """One trial for each mode, whose agent does nothing."""
    for mode, did in MODES.items():
        made = Experiment("environment", mode, expected=ProbeOutcome.HOLDS, did=did)
        yield Planned(made, Nothing(f"environment:{mode}"), without_services(given, mode), judge=conclude)


@dataclass(frozen=True)
class Nothing(Nop):
    """Does nothing, under a name of its own."""

    name: str


def without_services(given: RunPlan, mode: str) -> RunPlan:
    """The plan with stand-ins in the place of its applications: it runs in the local sandbox alone."""
    if mode not in MODES:
        raise NotRunnableError(f"there is no way of being {mode}")
    variables, ports = _told(given.apps)
    here = Path(stand_in.__file__)
    stand_ins = tuple(Upload(here, f"{INSIDE}/bin/{client}", executable=True) for client in stand_in.CLIENTS)
    steps = []
    for step in given.steps:
        checks = tuple(replace(check, command=_wrapped(check, mode, ports, variables)) for check in step.verify.checks)
        verify = replace(
            step.verify, checks=checks, timeout=min(step.verify.timeout, TIMEOUT),
            overlay=(*step.verify.overlay, Upload(here, f"{INSIDE}/stand_in.py"), *stand_ins),
        )  # fmt: skip
        steps.append(replace(step, verify=verify, oracle=None))
    # What the applications ask for that is unsafe is not given to anybody here.
    return replace(given, apps=(), unsafe=(), steps=tuple(steps))


def _told(apps: tuple[App, ...]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The variables of the contract, and the ports in them."""
    out, ports = [("SERVER_HOSTNAME", "127.0.0.1")], []
    for n, app in enumerate(apps):
        ports.append(str(_FIRST_PORT + n))
        out.append((f"{app.variable}_PORT", ports[-1]))
        out.append((f"{app.variable}_CONTAINER", app.name))
        if app.database is not None:
            out.append((f"{app.variable}_DB_CONTAINER", f"{app.name}-db"))
    return tuple(out), ports


def _wrapped(check: Check, mode: str, ports: list[str], variables: tuple[tuple[str, str], ...]) -> Command:
    command = check.command
    argv = ("python3", f"{INSIDE}/stand_in.py", mode, *ports, "--", *command.argv)
    timeout = min(command.timeout or TIMEOUT, TIMEOUT)
    return replace(command, argv=argv, env=(*command.env, *variables), timeout=timeout)


def conclude(record: TrialRecord, folder: Path, about: Context | None) -> None:
    """What came of it: any point earned is one that no work earned."""
    made = record.experiment
    assert made is not None
    harness = record.harness.reward if record.harness else None
    earned = [c for c in record.checks if c.passed and c.weight > 0]
    best = max(record.reward or 0.0, harness or 0.0)
    if best > 0 or (record.harness is not None and record.harness.passed):
        made.outcome = ProbeOutcome.BROKEN
    elif record.reward is None:
        made.outcome, made.reason = "skipped", record.failure_evidence or "the verifier gave no verdict"
    else:
        made.outcome = ProbeOutcome.HOLDS
    made.evidence = f"reward {best:g}" + "".join(f"; passed: {c.label or c.id}" for c in earned[:5])

"""How long a verifier is waited for where an attack may make it wait for ever."""

from __future__ import annotations

import re
from dataclasses import replace

from scenlint.dynamic.experiments import Context
from scenlint.dynamic.probes.attack import Attack
from scenlint.task.plan import RunPlan, Step
from scenlint.task.record import PhaseName, TrialRecord

SHORTEST = 20.0  # seconds
TIMES = 10  # as long as the grading of the oracle's work took, and the limits that the verifier sets itself
# A limit of the verifier's own: `timeout=5`, `timeout 5s make`, `TIME_LIMIT: float = 2.5`, `signal.alarm(5)`.
_LIMIT = re.compile(r"(?:time_?out|time_?limit|deadline|alarm|max[-_]time)\w*", re.I)
_SECONDS = re.compile(r"[\"']?\s*(?::\s*\w+\s*)?[=:(\s]\s*(\d+(?:\.\d+)?)(?!\d)")


def bounded(plan: RunPlan, attack: Attack, about: Context, verifier: str) -> RunPlan | None:
    """The plan in which the attacked step is graded for a shorter time; None where its own limit is short enough."""
    step = next(s for s in plan.steps if s.name == attack.at)
    seconds = patience(grading(about.oracle.record, step.name), _text(step, verifier))
    if seconds is None or seconds >= step.verify.timeout:
        return None
    short = replace(step, verify=replace(step.verify, timeout=seconds))
    return replace(plan, steps=tuple(short if s is step else s for s in plan.steps))


def patience(graded: float, verifier: str) -> float | None:
    """Seconds after which a verifier that graded the oracle's work in `graded` waits for ever; None: not known.

    A verifier that sets limits of its own may use up each of them several times. The steps are wide, so that one run
    waits as long as the other.
    """
    found = list(_LIMIT.finditer(verifier))
    stated = [float(m[1]) for at in found if (m := _SECONDS.match(verifier, at.end()))]
    if found and not stated:
        return None
    wanted, out = TIMES * (graded + sum(stated)), SHORTEST
    while out < wanted:
        out *= 2
    return out


def grading(record: TrialRecord, step: str) -> float:
    """Seconds that the verifier took in one step of a trial."""
    return sum(p.duration for p in record.phases if p.name == PhaseName.VERIFY and p.step == step)


def gave_up(record: TrialRecord, attack: Attack, about: Context) -> str:
    """In words, that the verifier was still at it after a time that is shorter than its own limit; "" otherwise."""
    for phase in record.phases:
        if phase.name == PhaseName.VERIFY and phase.step == attack.at and phase.error.startswith("timeout"):
            took = grading(about.oracle.record, attack.at)
            return f"still grading after {phase.duration:.0f} s, where the oracle's work took {took:.1f} s; "
    return ""


def _text(step: Step, verifier: str) -> str:
    commands = "\n".join(" ".join(check.command.argv) for check in step.verify.checks)
    return f"{verifier}\n{commands}"

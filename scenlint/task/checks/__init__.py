"""Reads the checks out of a verifier, whatever its dialect: what each reads, compares and depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenlint.task.checks.facts import Event
from scenlint.task.checks.model import Access, Check, Comparison, Dialect, How, Key, Name
from scenlint.task.checks.runner import Entry, Started

if TYPE_CHECKING:
    from scenlint.task.model import Task

__all__ = ["Access", "Check", "Comparison", "Dialect", "Event", "How", "Key", "Name", "Survey", "survey"]


@dataclass
class Survey:
    """All that was seen while the verifier's programs were followed."""

    checks: list[Check] = field(default_factory=list)
    started: Started = field(default_factory=Started)
    events: list[Event] = field(default_factory=list)
    programs: bool = False  # a script starts a program of which is not known what it checks


def survey(task: Task) -> Survey:
    """Follow what the task's graders run."""
    out = Survey()
    verifier = task.verifier
    if verifier is None:
        return out
    from scenlint.source.python import parse
    from scenlint.task.checks import graders, scripts, shells, tests
    from scenlint.task.checks.runner import started, test_files
    from scenlint.task.checks.world import setup

    world = setup(task, verifier)
    for grader in verifier.graders:
        out.checks += graders.checks(grader)
    out.started = started(task)
    entries = out.started.entries
    python = {id(e.grader) for e in entries}
    if not entries and verifier.graders:
        entries += [Entry("pytest", parse(f), verifier.graders[0]) for f in test_files(verifier)]
    for grader, script in out.started.shells:
        found = list(shells.checks(grader, script, world, out.events))
        if id(grader) not in python:
            out.checks += found
        out.programs |= shells.programs(script, world)
    seen: set[object] = set()
    for entry in entries:
        mark = (entry.module, entry.kind, frozenset(entry.only))
        if mark in seen:
            continue
        seen.add(mark)
        part = tests.checks if entry.kind in ("pytest", "unittest") else scripts.checks
        found, events = part(entry, world)
        out.checks += found
        out.events += [e for e in events if e not in out.events]
    return out

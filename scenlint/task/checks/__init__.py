"""Reads the checks out of a verifier, whatever its dialect: what each reads, compares and depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenlint.task.checks.model import Access, Check, Comparison, Dialect, How, Key, Name

if TYPE_CHECKING:
    from scenlint.task.model import Task

__all__ = ["Access", "Check", "Comparison", "Dialect", "How", "Key", "Name", "find_checks"]


def find_checks(task: Task) -> list[Check]:
    """Every graded assertion of the task's verifier, in the verifier's order."""
    if task.verifier is None:
        return []
    from scenlint.task.checks import graders, scripts, tests
    from scenlint.task.checks.runner import Entry, started, test_files
    from scenlint.task.checks.world import setup
    from scenlint.source.python import parse

    out: list[Check] = []
    for grader in task.verifier.graders:
        out += graders.checks(grader)
    entries = started(task).entries
    if not entries and task.verifier.graders:
        entries = [Entry("pytest", parse(f), task.verifier.graders[0]) for f in test_files(task.verifier)]
    world = setup(task, task.verifier)
    seen: set[object] = set()
    for entry in entries:
        mark = (entry.module, entry.kind, frozenset(entry.only))
        if mark in seen:
            continue
        seen.add(mark)
        if entry.kind in ("pytest", "unittest"):
            out += tests.checks(entry, world)
        else:
            out += scripts.checks(entry, world, task.verifier)
    return out

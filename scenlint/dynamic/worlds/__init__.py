"""Worlds: the same work in a world that was moved, or graded again; a verdict that is about the work stays the same."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.experiments import Context, Planned
from scenlint.dynamic.worlds import again, clock, grading, rebuilt, together

__all__ = ["plan"]


def plan(about: Context) -> Iterator[Planned]:
    """One world at a time, never two moved at once, the most telling first."""
    yield from again.regrades(about)
    yield from grading.offline(about)
    yield together.two(about)
    yield from clock.clocks(about)
    yield from grading.variables(about)
    yield grading.reversed_tests(about)
    yield grading.one_cpu(about)
    yield rebuilt.built_again(about)

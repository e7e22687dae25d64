"""Tables of the verifier whose rows say "must" or "must not", and whether its code reads that."""
from __future__ import annotations
from collections.abc import Iterator
from scenlint.source.text import Span
from scenlint.task.model import Task
def unread_polarity(task: Task) -> Iterator[tuple[str, Span]]:
    return iter(())

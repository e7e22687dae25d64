"""The little that is kept of a task once its own rules have run, for the rules that compare tasks of a suite."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from scenlint.source.text import Fragment
from scenlint.task.finding import Location
from scenlint.task.model import Task

SHINGLE = 5  # words
SKETCH = 256  # the smallest hashes kept per text: a bottom-k sketch, enough for a Jaccard estimate within ~6 points


@dataclass(frozen=True)
class Card:
    """Id, folder and format of a task, where its id stands, and bottom-k sketches of its brief, oracle and verifier."""

    id: str
    folder: Path
    key: str
    format: str
    suite: Path | None
    id_location: Location
    sketches: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, task: Task) -> Card:
        claim = next((c for c in task.claims if c.name == "id" and c.span), None)
        texts = {
            "brief": [b.prose for b in task.briefs],
            "oracle": task.oracle.files if task.oracle else [],
            "verifier": [f for f in task.verifier.files if f.language in ("python", "shell")] if task.verifier else [],
        }
        return cls(
            id=task.id,
            folder=task.folder,
            key=task.key,
            format=task.format,
            suite=task.suite,
            id_location=Location.of(claim.span if claim and claim.span else task.folder),
            sketches={role: sketch(fragments) for role, fragments in texts.items()},
        )


def sketch(fragments: list[Fragment]) -> tuple[int, ...]:
    """The SKETCH smallest hashes of the word shingles of some texts; () where there are too few words to compare."""
    words = [w for f in fragments for w in re.findall(r"\w+", f.text.lower())]
    if len(words) < 2 * SHINGLE:
        return ()
    shingles = zip(*(words[i:] for i in range(SHINGLE)), strict=False)
    hashes = {zlib.crc32(" ".join(shingle).encode("utf-8", "replace")) for shingle in shingles}
    return tuple(sorted(hashes)[:SKETCH])

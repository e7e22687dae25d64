"""The little that is kept of a task once its own rules have run, for the rules that compare tasks of a suite."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.finding import Location
from scenlint.task.model import Task

SHINGLE = 5  # words
SKETCH = 256  # the smallest hashes kept per text: a bottom-k sketch, enough for a Jaccard estimate within ~6 points

_WORD = regex(r"\w+")


@dataclass(frozen=True)
class Card:
    """Id, folder and format of a task, where its id stands, and bottom-k sketches of its brief, oracle and verifier."""

    id: str
    folder: Path
    key: str
    format: str
    suite: Path | None
    id_location: Location
    sketches: dict[str, array[int]]

    @property
    def digest(self) -> str:
        """Tells apart cards that differ."""
        about = self.id, str(self.folder), self.key, self.format, str(self.suite), self.id_location, [*self.sketches]
        out = hashlib.blake2b(repr(about).encode("utf-8", "surrogatepass"), digest_size=12)
        for hashes in self.sketches.values():
            out.update(hashes.tobytes())
        return out.hexdigest()

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


def sketch(fragments: list[Fragment]) -> array[int]:
    """The SKETCH smallest hashes of the word shingles of some texts; none where there are too few words to compare."""
    words = [w.encode("utf-8", "replace") for f in fragments for w in _WORD.findall(f.text.lower())]
    if len(words) < 2 * SHINGLE:
        return array("I")
    text = b" ".join(words)
    ends = [at - 1 for at in accumulate(len(word) + 1 for word in words)]
    starts = [0, *(end + 1 for end in ends)]
    crc32 = zlib.crc32
    hashes = {crc32(text[start:end]) for start, end in zip(starts, ends[SHINGLE - 1 :], strict=False)}
    return array("I", sorted(hashes)[:SKETCH])

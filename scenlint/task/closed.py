"""Where a brief closes what a file may hold: "exactly these keys", "no other lines"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.model import How
from scenlint.task.judgements import is_made
from scenlint.task.model import Task
from scenlint.task.statements import Sentence, sentences

_THINGS = r"keys?|fields?|columns?|lines?|rows?|entr(?:y|ies)|attributes?|properties|property|records?|items?|rules?"
_COUNT = r"(?:(?:the|these|those|following|two|three|four|five|six|seven|eight|nine|ten|\d+)\s+){1,3}"
_CLOSED = regex(
    rf"\bexactly\s+{_COUNT}(?:[\w-]+\s+)?(?P<a>{_THINGS})\b|"
    rf"\b(?:no|without|not any)\s+(?:other|additional|extra|further)\s+(?:[\w-]+\s+)?(?P<b>{_THINGS})\b|"
    rf"\bonly\s+(?:the|these|those)\s+(?:following\s+)?(?P<c>{_THINGS})\b",
    re.IGNORECASE,
)
_DATA = regex(
    r".*\.(?:json|jsonl|ya?ml|toml|csv|tsv|txt|ini|cfg|conf|xml|md|out|list|rules|new|env|properties)|[^.]+",
    re.IGNORECASE,
)
_SINGULAR = {"entries": "entry", "properties": "property"}


@dataclass(frozen=True)
class Closed:
    """A file and what it may hold no more of than the brief says: `what` is "key", "line" …"""

    path: str
    what: str
    span: Span


def closed_sets(task: Task) -> Iterator[Closed]:
    """Each file of the agent's making once, where the brief says so of it."""
    made = sorted(
        {
            a.path
            for c in task.checks
            for a in c.accesses
            if a.how is How.READ and _DATA.fullmatch(PurePosixPath(a.path).name) and is_made(task.visible, a.path)
        }
    )
    seen = set()
    for brief in task.briefs:
        for sentence in sentences(brief.prose):
            match = _CLOSED.search(sentence.text)
            path = _about(sentence, made) if match else None
            if match and path and path not in seen:
                seen.add(path)
                thing = (match["a"] or match["b"] or match["c"]).lower()
                yield Closed(path, _SINGULAR.get(thing, thing.removesuffix("s")), sentence.span(*match.span()))


def _about(sentence: Sentence, made: list[str]) -> str | None:
    """The file that a sentence speaks of: named in it, or the last one named before it."""
    before = sentence.brief.text[: sentence.start + len(sentence.text)]
    places = [(before.rfind(PurePosixPath(p).name), p) for p in made]
    at, path = max(places, default=(-1, ""))
    return path if at >= 0 else None

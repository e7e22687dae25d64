"""Fingerprints of findings that survive moved lines: rule, path, quoted line and message; equal ones are numbered."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from scenlint.source.regex import regex
from scenlint.task.finding import Finding

_LINE_NUMBERS = regex(r"\blines? \d+(?:\s?(?:[-–,]|to|and)\s?\d+)*")


def fingerprints(findings: Sequence[Finding], root: Path) -> list[str]:
    """One per finding, unique among them; paths count relative to `root`."""
    seen: Counter[str] = Counter()
    out = []
    for finding in findings:
        place = finding.location
        path = os.path.relpath(place.path, root) if place.path.is_absolute() else os.path.normpath(place.path)
        key = "\0".join((finding.rule, path.replace(os.sep, "/"), _line(finding), _message(finding)))
        digest = _digest(f"{key}\0{seen[key]}")
        seen[key] += 1
        out.append(digest)
    return out


@dataclass(frozen=True)
class Known:
    """A finding as a baseline keeps it: where it is, what its line says, and how many are just like it."""

    path: str  # relative to the baseline's folder
    rule: str
    mark: str  # see `mark`
    task: str = ""
    message: str = ""  # for readers; it does not tell findings apart
    count: int = 1


def mark(finding: Finding) -> str:
    """What a finding points at: its line and the words quoted from it, however they are moved or its message reworded.

    A finding about a whole file or folder has no line; there the message tells.
    """
    said = (_line(finding), " ".join(finding.quote.split())) if finding.location.excerpt else (_message(finding),)
    return _digest("\0".join(said))[:16]


def _line(finding: Finding) -> str:
    return " ".join(finding.location.excerpt[0].split()) if finding.location.excerpt else ""


def _message(finding: Finding) -> str:
    return _LINE_NUMBERS.sub("line", finding.message)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

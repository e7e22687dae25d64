"""Fingerprints of findings that survive moved lines: rule, path, quoted line and message; equal ones are numbered."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
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
        line = " ".join(place.excerpt[0].split()) if place.excerpt else ""
        message = _LINE_NUMBERS.sub("line", finding.message)
        key = "\0".join((finding.rule, path.replace(os.sep, "/"), line, message))
        digest = sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
        out.append(digest)
    return out

"""Patterns of paths as .gitignore has them, from files that anybody may have written."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_STARS = 4  # in one part of a path; with each more, trying all that they can stand for takes many times as long


def ignore_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """The spec of those lines that are patterns; as in git, the others match nothing."""
    from pathspec import GitIgnoreSpec

    lines = list(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not any(_wild(line) for line in lines):
                return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            pass
        return GitIgnoreSpec.from_lines(line for line in lines if is_pattern(line))


def is_pattern(line: str) -> bool:
    """Whether a line is a pattern, an empty one or a comment included."""
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            return False
    return not _wild(line)


def _wild(line: str) -> bool:
    return line.count("*") > _STARS and any(len(re.findall(r"\*+", part)) > _STARS for part in line.split("/"))

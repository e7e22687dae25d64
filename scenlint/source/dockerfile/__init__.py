"""Dockerfiles: stages with what they inherit, instructions with exact places, RUN bodies as scripts that lead back."""

from __future__ import annotations

from collections.abc import Mapping

from scenlint.source.dockerfile.model import Dockerfile, Heredoc, Instruction, Stage
from scenlint.source.dockerfile.words import Word
from scenlint.source.text import Fragment

__all__ = ["Dockerfile", "Heredoc", "Instruction", "Stage", "Word", "parse"]


def parse(fragment: Fragment, arguments: Mapping[str, str] | None = None) -> Dockerfile:
    """Parse a Dockerfile; `arguments` are build arguments, which win over the defaults of ARG.

    Never raises: what could not be read stands in `problems`, so that nobody takes it for clean.
    """
    from scenlint.source.dockerfile.reader import Reader

    given = dict(arguments or {})
    return fragment.memo(("dockerfile", tuple(sorted(given.items()))), lambda: Reader(fragment, given).read())

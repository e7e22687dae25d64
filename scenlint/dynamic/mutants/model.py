"""A mutant: one thing changed in what the oracle made, with what the verifier is expected to say to it, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from scenlint.dynamic.mutants.form import Form


class Label(StrEnum):
    """What a verifier that follows the brief does with a mutant."""

    DIE = "must-die"  # it breaks what the brief states
    LIVE = "must-live"  # it changes only what the brief leaves free
    OPEN = "open"  # the brief is silent on something that a reader could mean: a person decides


@dataclass(frozen=True)
class Result:
    """A file that the oracle made, or changed where something lay there before."""

    path: str  # absolute, in the environment
    content: bytes
    new: bool = True  # nothing lay there before

    @property
    def text(self) -> str | None:
        """As UTF-8; None where it is not text."""
        try:
            text = self.content.decode()
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text


@dataclass(frozen=True)
class Mutant:
    """One change. `content` None: the file is as it was before the solution, or not there."""

    operator: str  # "drop-row", "rename-key" …
    path: str
    content: bytes | None
    did: str  # in words, for the task's author
    label: Label
    reason: str  # the words of the brief, or what holds where it is silent


class Operators(Protocol):
    """Makes the mutants of one kind of file; none where the file is not of that kind."""

    def __call__(self, result: Result, form: Form, random: Random) -> Iterator[Mutant]: ...

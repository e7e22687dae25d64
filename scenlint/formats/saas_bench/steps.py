"""The work list in a description.md, read as the harness's loader reads it, with what that grammar drops and why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.model import Step, StepList

# The loader's grammar. A bold heading wins over an ATX heading wherever both stand.
_HEADINGS = (
    regex(r"\*\*\s*Steps?\s*:\s*\*\*", re.IGNORECASE),
    regex(r"^#+\s*Steps?\s*$", re.IGNORECASE | re.MULTILINE),
)
_END = regex(r"\n\s*(\*\*[^*]+\*\*|#+\s+\S)")
_STEP = regex(r"(\s*)(\d+)\.\s+(.*\S)\s*")

# What is meant as an item and is none for that grammar.
_LOST = (
    (regex(r"\s*(\d+)\.\s*$"), "has no text, so the loader drops it"),
    (regex(r"\s*\*\*\s*(\d+)[.)]"), "has its number in bold; the loader reads `1. text` only"),
    (regex(r"\s*\(?(\d+)\)\s+\S"), "is written with `)`; the loader reads `1. text` only"),
    (regex(r"\s*(\d+)\.[^\s\d]"), "has no space after its number; the loader reads `1. text` only"),
)
_BEHIND = regex(r"\s*(\*\*\s*)?(\d+)\.\s")
_BULLET = regex(r"\s*[-*+•]\s+\S")


def read_steps(prose: Fragment) -> StepList:
    """The heading, the top-level items that become the agent's todo list, and the items that do not."""
    heading = next((m for pattern in _HEADINGS if (m := pattern.search(prose.text))), None)
    if heading is None:
        return StepList(None)
    stop = _END.search(prose.text, heading.end())
    reader = _Reader(prose)
    for start, line in _lines(prose.text, heading.end(), stop.start() if stop else len(prose.text)):
        reader.take(start, line)
    if stop is not None:
        reader.take_after(stop)
    dropped = reader.dropped if reader.steps else [*reader.dropped, *reader.bullets]
    return StepList(
        prose.span(heading.start(), heading.start() + len(heading[0].rstrip())),
        reader.steps,
        [(prose.span(start, end), why) for start, end, why in sorted(dropped)],
    )


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, line.rstrip("\r\n")
        start += len(line)


class _Reader:
    """Goes through the section line by line."""

    def __init__(self, prose: Fragment) -> None:
        self.prose = prose
        self.steps: list[Step] = []
        self.dropped: list[tuple[int, int, str]] = []
        self.bullets: list[tuple[int, int, str]] = []
        self.number = 0  # of the item read last
        self.indent = 0  # of the first step: deeper ones are nested
        self.inside = False  # whether the line before belongs to a step

    def take(self, start: int, line: str) -> None:
        step = _STEP.fullmatch(line)
        lost = next(((m, why) for pattern, why in _LOST if (m := pattern.match(line))), None)
        if not line.strip():
            self.inside = False
        elif step is not None:
            self._take_step(start, line, step)
        elif _BULLET.match(line):
            self.bullets.append((*self._place(start, line), "is a bullet; a step is a numbered item `1. text`"))
            self.inside = False
        elif lost is not None:
            if not self._nested(line):
                self._drop(start, line, lost[1])
                self.number = int(lost[0][1])
            self.inside = False
        elif self.inside:
            self._drop(start, line, f"continues step {self.number} on a new line, which the loader drops")
            self.inside = False  # once for all lines of a paragraph

    def _take_step(self, start: int, line: str, step: re.Match[str]) -> None:
        number = int(step[2])
        if self._nested(line):
            self._drop(start, line, "is nested; steps are a top-level list `1. text`")
            return
        if not self.steps:
            self.indent = _indent(line)
        if number > self.number + 1:
            before = f"follows {self.number}" if self.number else "is the first"
            self._drop(start, line, f"is numbered {number} but {before}: what stood in between is missing")
        self.number = number
        self.inside = True
        self.steps.append(Step(step[3].strip(), self.prose.span(*self._place(start, line))))

    def _nested(self, line: str) -> bool:
        return _indent(line) > self.indent + 1 if self.steps else _indent(line) >= 4

    def take_after(self, stop: re.Match[str]) -> None:
        """Items behind the heading that ends the list, as long as they carry its numbering on."""
        text = self.prose.text
        heading = text[stop.start(1) :].split("\n", 1)[0].strip()
        found = False
        for start, line in _lines(text, stop.start(1), len(text)):
            item = _BEHIND.match(line)
            if item is None:
                if found and _END.match("\n" + line):
                    break
                continue
            if int(item[2]) != self.number + 1 or _indent(line) >= 4:
                break
            why = "has its number in bold, which" if item[1] else f"stands behind `{heading}`, which"
            self._drop(start, line, f"{why} ends the list for the loader")
            self.number, found = int(item[2]), True

    @staticmethod
    def _place(start: int, line: str) -> tuple[int, int]:
        return start + len(line) - len(line.lstrip()), start + len(line.rstrip())

    def _drop(self, start: int, line: str, why: str) -> None:
        self.dropped.append((*self._place(start, line), why))


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())

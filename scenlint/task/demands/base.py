"""One demand, what the agent could read when it was graded, and whether the reference solution meets it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scenlint.source.text import Span
from scenlint.task.checks.model import Check
from scenlint.task.finding import Confidence, Location, related
from scenlint.task.model import Task
from scenlint.task.visible import Visible

_SUBSTANCE = 20  # letters of code without which a reference solution shows nothing
_CREATES = (
    r"(?:>>?|\btee(?:\s+-\w+)*|\btouch(?:\s+-\w+)*|(?<!\S)-o|--out\w*[= ]|\b(?:cp|mv|install|ln|mkdir)\b[^\n|;&]*?)"
    r"\s*[\"']?[\w./${{}}~-]*{name}(?![\w.])"
    r"|{name}[\"']?\)?\s*,\s*(?:mode\s*=\s*)?[\"'][wax]"
    r"|{name}[^\n]*\.write_(?:text|bytes)\("
    r"|\b(?:to_\w+|savefig|save\w*|dump|imwrite|write\w*)\([^\n]*{name}"
)


@dataclass(frozen=True)
class Demand:
    """One demand: what (path, key, name, wording or number), where it stands in the verifier, and who could know it."""

    what: Any
    span: Span
    visible: Visible
    kind: str = ""

    @property
    def confidence(self) -> Confidence:
        return Confidence.LOW if self.visible.opaque else Confidence.MEDIUM

    @property
    def silence(self) -> Location:
        """The brief that does not say it."""
        return related(self.visible.briefs[-1].source, "the brief does not say so")


class Ground:
    """What the search for demands stands on: the task, its checks, what was visible to whom, and the solution."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._visible: dict[str | None, Visible] = {}

    def checks(self) -> Iterator[tuple[Check, Visible]]:
        """The checks that the agent's work can fail, with what it could read by then."""
        for check in self.task.checks:
            if check.can_fail:
                yield check, self.visible(check.span)

    def visible(self, span: Span) -> Visible:
        """What the agent could read when the verifier's code at a place was run: the briefs of later steps it could not."""
        step = None
        if len(self.task.briefs) > 1:
            parts = span.source.path.parts
            step = next((b.step for b in self.task.briefs if b.step and b.step in parts), None)
        if step not in self._visible:
            self._visible[step] = self.task.visible.until(step) if step else self.task.visible
        return self._visible[step]

    @cached_property
    def solution(self) -> str | None:
        """The reference solution's text, or None where there is none that shows anything."""
        oracle = self.task.oracle
        if oracle is None:
            return None
        text = "\n".join({f.text: None for f in (oracle.entry, *oracle.files)})
        code = re.sub(r"^\s*(?:#.*|set -\w.*|echo .*)$", "", text, flags=re.MULTILINE)
        return text if len(re.findall(r"\w", code)) > _SUBSTANCE else None

    def solved(self, text: str, *, word: bool = False) -> bool:
        """Whether the reference solution holds a text: the agent has to make it, it is not there by itself."""
        if self.solution is None:
            return False
        if not word:
            return text in self.solution
        return re.search(rf"(?<![\w]){re.escape(text)}(?![\w])", self.solution) is not None

    def creates(self, name: str) -> bool:
        """Whether the reference solution makes a file or folder of this name."""
        if self.solution is None:
            return False
        return re.search(_CREATES.format(name=re.escape(name)), self.solution) is not None

    def made(self, paths: Iterable[str], visible: Visible) -> list[str]:
        """Those of some paths that do not exist before the agent starts."""
        return [p for p in paths if "*" not in p and not visible.exists(p)]

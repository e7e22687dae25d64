"""One demand, what the agent could read when it was graded, and whether the reference solution meets it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.model import Check
from scenlint.task.finding import Confidence, Location, related
from scenlint.task.model import Task
from scenlint.task.visible import Visible

_SUBSTANCE = 20  # letters of code without which a reference solution shows nothing
# What makes a file, a definition or a key of the given name; written for shell, Python and their like.
_FILE = (
    r"(?:>>?|\btee(?:\s+-\w+)*|\btouch(?:\s+-\w+)*|(?<!\S)-o|--out\w*[= ]|\b(?:cp|mv|install|ln|mkdir)\b[^\n|;&]*?)"
    r"\s*[\"']?[\w./${{}}~-]*{name}(?![\w./-])"
    r"|{name}[\"']?\)?\s*,\s*(?:mode\s*=\s*)?[\"'][wax]"
    r"|{name}[^\n]*\.write_(?:text|bytes)\("
    r"|\b(?:to_\w+|savefig|save\w*|dump|imwrite|write\w*)\([^\n]*{name}"
)
_KEPT = r"\b(\w+)\s*=\s*[^\n=]*{name}[\"']?\)?\s*$"  # a variable that holds the path
_INTO = (
    r"(?:>>?|\btee(?:\s+-\w+)*|(?<!\S)-o|--out\w*[= ])\s*[\"']?\$\{{?{name}\b"
    r"|\bopen\(\s*{name}\s*,\s*(?:mode\s*=\s*)?[\"'][wax]"
    r"|\b{name}\.(?:write_(?:text|bytes)|open\(\s*[\"'][wax]|touch|mkdir)"
    r"|\b(?:to_\w+|save\w*|dump|imwrite|write\w*)\([^\n]*\b{name}\b"
)
_DEFINITION = (
    r"\b(?:def|class|function|func|fn|const|let|var|type|struct|interface|enum)\s+\W*{name}\b|^\s*{name}\s*[:=]"
)
_KEY = (
    r"[\"']{name}[\"']\s*\]?\s*(?::|=(?!=)|=>)|(?<![\w.]){name}\s*[:=](?!=)"
    r"|(?:create_sheet|add_worksheet|sheet_name|title)\W{{1,6}}{name}\b"
    r"|\bAS\s+\W?{name}\b|CREATE TABLE\b[^;]*\b{name}\b"
)
_CLONE = regex(
    r"git clone\b[^\n;&|]*?(?:[/:]([\w.-]+?)(?:\.git)?)?(?:\s+([\w./~-]+))?\s*(?:$|[;&|\n`\"'])", re.MULTILINE
)


@dataclass(frozen=True)
class Demand:
    """One demand: what (path, key, name, wording or number), where it stands in the verifier, and who could know it."""

    what: Any
    span: Span
    visible: Visible
    kind: str = ""
    also: tuple[str, ...] = ()  # others like it that the same place of the code demands

    @property
    def confidence(self) -> Confidence:
        task = self.visible.task
        # A skill that an eval is about tells the agent more than the brief does.
        skill = any(isinstance(d.data.get("skill"), str) for d in task.documents) and "SKILL.md" not in task.files
        return Confidence.LOW if self.visible.opaque or skill else Confidence.MEDIUM

    @property
    def silence(self) -> Location:
        """The brief that does not say it."""
        return related(self.visible.briefs[-1].source, "the brief does not say so")


class Ground:
    """What the search for demands stands on: the task, its checks, what was visible to whom, and the solution."""

    def __init__(self, task: Task) -> None:
        self.task = task

    @classmethod
    def of(cls, task: Task) -> Ground:
        return task.memo("demands", lambda: cls(task))

    def checks(self) -> Iterator[tuple[Check, Visible]]:
        """The checks that the agent's work can fail, with what it could read by then."""
        for check in self.task.checks:
            if check.can_fail:
                yield check, self.visible(check.span)

    def visible(self, span: Span) -> Visible:
        """What the agent could read when the verifier's code at a place was run: not the briefs of later steps."""
        step = None
        if len(self.task.briefs) > 1:
            parts = span.source.path.parts
            step = next((b.step for b in self.task.briefs if b.step and b.step in parts), None)
        return self.task.visible.until(step) if step else self.task.visible

    @cached_property
    def solution(self) -> str | None:
        """The reference solution's text, or None where there is none that shows anything."""
        oracle = self.task.oracle
        if oracle is None:
            return None
        text = "\n".join({f.text: None for f in (oracle.entry, *oracle.files)})
        code = re.sub(r"^[ \t]*(?:#.*|set -\w.*|echo [^>\n]*)$", "", text, flags=re.MULTILINE)
        return text if len(re.findall(r"\w", code)) > _SUBSTANCE else None

    def solved(self, text: str, *, word: bool = False) -> bool:
        """Whether the reference solution holds a text: then it is the agent's to make, not there by itself."""
        if not word or self.solution is None:
            return self.solution is not None and text in self.solution
        return text in self.solution and bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self.solution))

    def creates(self, name: str) -> bool:
        """Whether the reference solution makes a file or folder of this name."""
        if self.solution is None or self._does(_FILE, name):
            return self.solution is not None
        if name not in self.solution:
            return False
        kept = re.finditer(_KEPT.format(name=re.escape(name)), self.solution, re.MULTILINE)
        return any(self._does(_INTO, match[1]) for match in kept)

    def defines(self, name: str) -> bool:
        """Whether the reference solution defines a function, class or variable of this name."""
        return self._does(_DEFINITION, name)

    def writes(self, key: str) -> bool:
        """Whether the reference solution puts a value under this key, column, sheet or table."""
        return self._does(_KEY, key)

    def _does(self, what: str, name: str) -> bool:
        if self.solution is None or name not in self.solution:
            return False
        return re.search(what.format(name=re.escape(name)), self.solution, re.MULTILINE) is not None

    @cached_property
    def cloned(self) -> frozenset[str]:
        """Folders that a `git clone` of the brief or the solution fills: what lies in them is nobody's invention."""
        texts = [*(b.prose.text for b in self.task.briefs), self.solution or ""]
        found = (name for text in texts for match in _CLONE.finditer(text) for name in match.groups() if name)
        return frozenset(name.rstrip("/").rpartition("/")[2] for name in found)

    def made(self, paths: Iterable[str], visible: Visible) -> list[str]:
        """Those of some paths that do not exist before the agent starts."""
        return [p for p in paths if "*" not in p and not visible.exists(p)]

"""What a brief says of one file's form: order, exactness, tolerance, closed sets. It decides a mutant's label."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.closed import closed_sets
from scenlint.task.model import Task
from scenlint.task.precision import digits, tolerances
from scenlint.task.statements import Sentence, sentences

_ORDERED = regex(
    r"\bsort(?:ed|ing)?\b|\border(?:ed)? (?:by|of)|\bin (?:this|that|the same|ascending|descending|alphabetical|"
    r"chronological|increasing|decreasing|input|original) order|\bascending|\bdescending|\balphabetical|\branked|"
    r"\bpreserv\w+ (?:the )?order|first .{1,40} then|排序|升序|降序|按.{1,12}顺序",
    re.IGNORECASE,
)
_ANY_ORDER = regex(
    r"\bany order\b|\border (?:does not|doesn't) matter|regardless of (?:the )?order|\bunordered\b|任意顺序|顺序不限",
    re.IGNORECASE,
)
_BYTES = regex(
    r"byte[- ]for[- ]byte|byte[- ](?:identical|exact)|\bsha-?(?:1|256|512)\b|\bmd5\b|\bchecksum|"
    r"\bexact(?:ly)? (?:the )?(?:format|text|content|string|output)|\bindent|\bnewline|"
    r"\bline endings?\b|\bwhite ?space|\bcompact\b|\bminified|"
    r"\bverbatim|\bCRLF\b|\bBOM\b|\bquot(?:ed|es|ing)\b|换行|缩进",
    re.IGNORECASE,
)
_ONLY = regex(
    r"\bonly (?:file|this|these|the)|\bno other (?:files?|outputs?)|\bnothing else|\bexactly (?:one|these)", re.I
)
_TYPES = regex(
    r"\bintegers?\b|\bints?\b|\bfloats?\b|\bstrings?\b|\bbooleans?\b|\bschema\b|\btypes?\b|整数|字符串", re.I
)
_DUPLICATES = regex(r"\bduplicates? (?:are|is) (?:allowed|fine|ok)|\bmay (?:repeat|contain duplicates)", re.IGNORECASE)
_RUN = regex(
    r"date|time|stamp|created|updated|generated|started|finished|duration|elapsed|uuid|guid|host|version|pid|seed|author",
    re.IGNORECASE,
)
_PRINTS = regex(r"\bprint(?:s|ed|ing)?\b|\bstdout\b|\bstandard output\b", re.IGNORECASE)
_LIMIT = (
    r"(?:\b(?:greater|more|larger|higher|older|longer|less|fewer|smaller|lower|younger|shorter) than (?:or equal to )?|"
    r"\b(?:at least|at most|no more than|no less than|not more than|not less than|over|above|under|below|exceeds?|"
    r"exceeding|up to|a minimum of|a maximum of) |[<>≤≥]=? ?)"
)


@dataclass(frozen=True)
class Said:
    """A sentence of the brief that settles something."""

    text: str
    span: Span

    def __str__(self) -> str:
        words = " ".join(self.text.split())
        return f"the brief: “{words if len(words) <= 160 else words[:159] + '…'}”"


class Form:
    """What the task's briefs say of one file of the agent's making."""

    def __init__(self, task: Task, path: str) -> None:
        self.task, self.path = task, path

    @cached_property
    def _all(self) -> list[Sentence]:
        return [s for brief in self.task.briefs for s in sentences(brief.prose)]

    def _said(self, pattern: re.Pattern[str]) -> Said | None:
        found = next((s for s in self._all if pattern.search(s.text)), None)
        return Said(found.text, found.span()) if found else None

    @cached_property
    def named(self) -> Said | None:
        """Where the brief names the file, by its path or its name."""
        name = PurePosixPath(self.path).name
        found = next((s for s in self._all if name in s.text), None)
        return Said(found.text, found.span()) if found else None

    @cached_property
    def ordered(self) -> Said | None:
        return self._said(_ORDERED)

    @cached_property
    def any_order(self) -> Said | None:
        return self._said(_ANY_ORDER)

    @cached_property
    def exact_bytes(self) -> Said | None:
        """Where layout matters: bytes, hashes, indentation, line ends, quoting."""
        return self._said(_BYTES)

    @cached_property
    def only(self) -> Said | None:
        return self._said(_ONLY)

    @cached_property
    def types(self) -> Said | None:
        return self._said(_TYPES)

    @cached_property
    def duplicates(self) -> Said | None:
        return self._said(_DUPLICATES)

    @cached_property
    def closed(self) -> Said | None:
        """Where the brief says that the file holds no more than what it lists."""
        name = PurePosixPath(self.path).name
        found = next((c for c in closed_sets(self.task) if PurePosixPath(c.path).name == name), None)
        return Said(found.span.text, found.span) if found else None

    @cached_property
    def tolerance(self) -> tuple[float, Said] | None:
        """The widest tolerance that the brief states."""
        found = [(t.value, Said(t.line, t.span)) for t in tolerances(self.task.visible)]
        return max(found, key=lambda t: t[0]) if found else None

    @cached_property
    def decimals(self) -> tuple[int, Said] | None:
        """The most decimal places that the brief asks for."""
        found = [(int(d.value), Said(d.line, d.span)) for d in digits(self.task.visible)]
        return max(found, key=lambda d: d[0]) if found else None

    @cached_property
    def prints(self) -> Said | None:
        """Where what the work prints is a part of it."""
        return self._said(_PRINTS)

    def threshold(self, value: object) -> Said | None:
        """Where the brief states a number as a limit: more than 30, at most 5."""
        if type(value) not in (int, float):
            return None
        return self._said(re.compile(rf"{_LIMIT}{re.escape(str(value))}(?![\w.]*\d)", re.IGNORECASE))

    def names_value(self, text: str) -> bool:
        """Whether the brief itself holds this value, as a word of its own."""
        wanted = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        return any(wanted.search(s.text) for s in self._all)

    def is_of_the_run(self, key: str) -> bool:
        """Whether a key names what differs from run to run, so that no verifier can know its value."""
        return bool(_RUN.search(key)) and not self.names_value(key)

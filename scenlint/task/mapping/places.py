"""Where the evidence that ties a check to a criterion stands, at either end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from scenlint.source import python
from scenlint.source.text import Span
from scenlint.task.mapping import mark_places, stem_of

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion

_WORD = re.compile(r"[A-Z]+[a-z]*|[a-z]+|[\u4e00-\u9fff]+")


def code_of(check: Check) -> Span:
    """The check's own code: the whole function or statement, decorators included."""
    node = check.node
    if node is None or check.fragment.language != "python":
        return check.span
    module = python.parse(check.fragment)
    whole = module.span(node)
    return Span(
        whole.source,
        min([whole.start, *(module.span(d).start for d in getattr(node, "decorator_list", ()))]),
        whole.end,
    )


def ends(criterion: Criterion, check: Check, by: str, terms: Sequence[str]) -> tuple[tuple[str, ...], Span, Span]:
    """What the two share as a reader would say it, and its place in the criterion and in the check."""
    code = code_of(check)
    if by == "mark":
        at = next((m for span in (check.span, code) for m in _marks(span, terms[0])), None)
        return (at.text if at else terms[0],), criterion.span, at or check.span
    if by == "words":
        words = [w for w in dict.fromkeys(_WORD.findall(criterion.span.text)) if _is_one(w, terms)]
        first = _find(criterion.span, words[:1])
        found = ((span, m) for span in (check.span, code) for m in _WORD.finditer(span.text) if _is_one(m[0], terms))
        there = next((_inside(span, m.start(), m.end()) for span, m in found), None)
        shared = tuple(dict.fromkeys(w.lower() for w in words)) or tuple(terms)
        return shared, first or criterion.span, there or check.span
    at_check = _find(check.span, terms) or _find(code, terms) or _resolved(check, terms) or check.span
    return tuple(terms), _find(criterion.span, terms) or criterion.span, at_check


def _is_one(word: str, terms: Iterable[str]) -> bool:
    return stem_of(word.lower()) in terms or any(len(t) == 2 and t in word for t in terms if not t.isascii())


def _marks(span: Span, number: str) -> Iterator[Span]:
    """Where a criterion is named by its number: that mark, else one of a range that means it."""
    ranges = []
    for match in mark_places(span.text):
        at = _inside(span, match.start(), match.end())
        if re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", match[1]):
            yield at
        ranges.append(at)
    yield from ranges


def _find(span: Span, terms: Iterable[str]) -> Span | None:
    """The first of some terms in a stretch of a file, letter case aside."""
    text = span.text.lower()
    if len(text) != len(span.text):
        text = span.text
    found = next((m for term in terms if (m := re.search(bounded(term), text))), None)
    return _inside(span, found.start(), found.end()) if found else None


def bounded(term: str) -> str:
    """A pattern for a term that is no part of a longer word."""
    spelled = re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(term.lower()))
    if re.fullmatch(r"-?\d+(?:\.\d+)?", term):  # no part of a date, a time or a version
        return rf"(?<![\w.:-]){spelled}(?![\w:-]|\.[\s\d])"
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", term) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]$", term) else ""
    return before + spelled + after


def _resolved(check: Check, terms: Sequence[str]) -> Span | None:
    """Where a check touches a path, key or constant that its own lines name by a variable or through a helper."""
    places = [
        *((a.path.rpartition("/")[2].lower(), a.span) for a in check.accesses),
        *((k.name.lower(), k.span) for k in check.keys),
        *((str(c.constant).lower(), c.constant_span or c.span) for c in check.comparisons if c.has_constant),
    ]
    return next((span for term in terms for text, span in places if term in text), None)


def _inside(span: Span, start: int, end: int) -> Span:
    return Span(span.source, span.start + start, span.start + end)

"""Text that a template left behind and the author was to replace."""

import re
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Kind, Role, Task, rule
from scenlint.source.markdown import Part, parse
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.model import Document

_VERB = (
    r"describe|write|add|fill|explain|document|specify|decide|list|say|replace|complete|insert|provide|put|define|state"
)
_WORD = regex(
    r"(?:todo|tbd|tba|fixme|xxx+|placeholder|coming soon|"
    r"to be (?:done|written|determined|added|completed|filled in|defined)|待定|待补充|待填写)\W*$|"
    rf"(?:todo|tbd|fixme|xxx)\W+(?:{_VERB})\b.*$",
    re.I | re.S,
)
_TELLS = rf"\b(?:{_VERB}|todo|placeholder|problem statement|your|goes here|here)\b|\bone[- ](?:paragraph|line|sentence)"
_SLOT = regex(rf"[<\[{{]+\s*(?![\"'])(?=.*(?:{_TELLS}))[^<>\[\]{{}}]{{4,}}[>\]}}]+\.?$|\{{\{{\s*[\w.]+\s*\}}\}}$", re.I)
_LONGEST = 1000  # characters; nobody leaves more to be filled in
_LOREM = regex(r"(?<![\"'“`])\blorem ipsum dolor sit amet", re.I, words=("lorem ipsum",))
_TEMPLATE_VALUE = regex(
    r"your[ _-](?:name|email|org|organi[sz]ation|task)\b.*|you@example\.\w+|your[._-]?email@.*", re.I
)
_FREE_TEXT = regex(
    r"(?:.*_)?(?:description|title|name|summary|objective|explanation|notes?|source|category|subcategory|goal|purpose|"
    r"instruction|prompt|author|email)s?$",
    re.I,
)


@rule(
    "placeholder-text",
    "SL115",
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF},
    refute="the words are what the task is about, or what the agent is to write",
)
def placeholder_text(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        for block in parse(brief.prose).of(Part.PARAGRAPH, Part.ITEM, Part.HEADING, Part.HTML):
            span = brief.prose.span(block.start, block.end)
            if _left_behind(block.text) or (block.part is not Part.HTML and _LOREM.search(block.text)):
                yield _finding(span, block.line)
    for document in task.documents:
        for path, value in _free_texts(document.data.value, ()):
            if _left_behind(value) or _TEMPLATE_VALUE.fullmatch(value.strip()) or _LOREM.search(value):
                yield _finding(document.data.span(*path), value, document)


def _finding(span: Span, text: str, document: Document | None = None) -> Finding:
    shown = " ".join(text.split())
    where = f" in {document.name}" if document else ""
    return Finding.at(
        span,
        f"`{shown[:60]}{'…' if len(shown) > 60 else ''}`{where} is a placeholder that was never filled in",
        help="replace it by what it stands for, or take it out",
    )


def _left_behind(text: str) -> bool:
    """Whether the text as a whole is a placeholder: a word inside a sentence may be the task's subject."""
    bare = text.strip().strip("*_# \t").strip()
    return len(bare) <= _LONGEST and bool(_WORD.match(bare) or _SLOT.match(bare))


def _free_texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The strings of metadata that are written for people; patterns and settings of graders are none."""
    if len(path) > 5:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if str(key).lower() not in ("graders", "config", "assertions", "expected", "inputs", "env"):
                yield from _free_texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value[:50]):
            yield from _free_texts(inner, (*path, number))
    elif isinstance(value, str) and any(_FREE_TEXT.match(str(k)) for k in path[-2:] if isinstance(k, str)):
        yield path, value

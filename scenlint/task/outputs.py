"""The files that a brief wants made, and where it says so."""

from __future__ import annotations

import re

from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.model import Task
from scenlint.task.paths import Token, extension
from scenlint.task.statements import Sentence, sentences

_MAKE = r"(?:write|save|create|generate|produce|output|store|export|put|place|dump|deliver|record)"
_MADE = r"(?:written|saved|created|generated|stored|exported|put|placed|recorded)"
# An order ("Write …", "and save …", "you must create …"), or what must be brought about ("must be written to …").
_DEMAND = regex(
    r"(?:(?:^|: )[\s\W\d]*|\b(?:and|then|also|please|must|should|need to|has to|have to|is to|finally|,) )"
    rf"(?:also |then |finally )?{_MAKE}\b[^.\n]*$|"
    rf"\b(?:must|should|need to|has to|have to|are to|is to) be {_MADE}\b[^.\n]*$|"
    r"(?:写入|保存到|输出到|生成|创建)[^。\n]*$",
    re.I,
)
_FREE = regex(
    r"\boptional|\bif you|\bmay\b|\bfor example|e\.g\.|such as|\bfeel free|temporar|\bintermediate|n't\b|\bnot\b|"
    r"\blog(?:s|ged|ging)?\b|\balready\b|\bconfigured\b|\bcurrent(?:ly)?\b|\bprovided\b|\bexisting\b|可选",
    re.I,
)
_INTO = regex(r"(?:\b(?:to|into|as|at|and|called|named|file|path)|[,:：到为])[\s`'\"*(]*$", re.I)
_INNER_DOT = regex(r"(?<=\w)\.(?=\w)")  # of a file's name: it ends no sentence


def asked_outputs(task: Task) -> dict[str, Span]:
    """The paths with an extension that the briefs order to be made and that do not exist before."""
    out: dict[str, Span] = {}
    for brief in task.briefs:
        for sentence in sentences(brief.prose):
            for token in sentence.paths:
                if extension(token.plain) and _is_ordered(sentence, token) and not task.visible.exists(token.plain):
                    out.setdefault(token.plain, sentence.span(token.start, token.end))
    return out


def _is_ordered(sentence: Sentence, token: Token) -> bool:
    """Whether a sentence orders this file: the first path behind the verb, or one behind `to`, `as`, `and` …"""
    before = _INNER_DOT.sub(" ", sentence.text[: token.start])
    demand = _DEMAND.search(before)
    if demand is None or _FREE.search(f"{sentence.context} {sentence.text}"):
        return False
    others = [t for t in sentence.paths if demand.start() <= t.start < token.start]
    return not others or _INTO.search(before) is not None

"""A brief that says nothing once comments, front matter and headings are taken away."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.markdown import Markdown, Part, parse
from scenlint.source.regex import regex

_CANARY = regex(
    r"^.*(?:canary GUID|BENCHMARK DATA SHOULD NEVER APPEAR).*$", re.I | re.M, words=("canary", "benchmark data")
)


@rule(
    "empty-brief",
    "SL114",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF},
    refute="the brief has a sentence that tells the agent what to do",
)
def empty_brief(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        document = parse(brief.prose)
        if not re.search(r"\w", _CANARY.sub("", _told(document))):
            yield Finding.at(
                brief.prose,
                "the brief is empty" + (" apart from " + kept if (kept := _rest(document)) else ""),
                help="say what the agent has to produce, where it goes and how it is judged",
            )


def _told(document: Markdown) -> str:
    """The text without comments, front matter, headings, tags and rulers."""
    text = document.text
    for heading in document.of(Part.HEADING):
        text = text.replace(heading.text, "", 1)
    return re.sub(r"</?[A-Za-z][^<>]*>", "", text) if document.of(Part.HTML) else text


def _rest(document: Markdown) -> str:
    words = {Part.COMMENT: "comments", Part.FRONT_MATTER: "front matter", Part.HEADING: "headings", Part.HTML: "tags"}
    return " and ".join(word for part, word in words.items() if document.of(part))

"""What the brief or the verifier's own table forbids is scored as wanted, or the other way round."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.judgements import Judgement
from scenlint.task.polarity import unread_polarity
from scenlint.task.statements import sentences

_NOT = (
    r"must not|mustn't|should not|shouldn't|shall not|do not|don't|does not|may not|cannot|never|no longer|"
    r"not allowed to|forbidden to|without|avoid|不得|禁止|不要|不能"
)
_MUST = r"must|should|shall|has to|have to|needs to"
_HOLD = r"(?:contain|include|hold|have|mention|use|keep|appear|write|print|show|list|say|name)\w*"
_KIND = r"(?:(?:the|an?|any|exactly|word|text|line|string|phrase) ){0,3}"
_QUOTED = r"[`\"“']([^`\"”'\n]{2,80})[`\"”']"
_FORBIDDEN = regex(rf"\b(?:{_NOT})\b\s+(?:\w+\s+){{0,2}}?{_HOLD}\s+{_KIND}{_QUOTED}", re.IGNORECASE)
_REQUIRED = regex(rf"\b(?:{_MUST})\s+(?:(?!not\b)\w+\s+)?{_HOLD}\s+{_KIND}{_QUOTED}", re.IGNORECASE)


@rule(
    "forbidden-tested-as-required",
    "SL213",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the two speak of different places, or the table's mark is read elsewhere",
)
def forbidden_tested_as_required(task: Task) -> Iterator[Finding]:
    for field, span in unread_polarity(task):
        yield Finding.at(
            span,
            f"`{field}` says that this must not be there, but nothing reads `{field}`, and what is there scores",
            help=f"ask for `{field}` before scoring, and give the point where what is forbidden is absent",
        )
    for judgement in task.judgements:
        if judgement.comparison.operator not in ("in", "not in") or len(judgement.constants) != 1:
            continue
        text = judgement.constants[0]
        if not isinstance(text, str) or not (judgement.wanted or judgement.unwanted):
            continue
        if said := _opposite(judgement, text):
            does, says = ("wants", "forbids") if judgement.wanted else ("turns down", "asks for")
            yield Finding.at(
                judgement.span,
                f"the verifier {does} `{text}`, which the brief {says}",
                help="let the check and the brief agree",
                related=[related(said, "the brief says so here")],
            )


def _opposite(judgement: Judgement, text: str) -> Span | None:
    """Where the brief says the opposite of a test, and nowhere the same."""
    opposite = _FORBIDDEN if judgement.wanted else _REQUIRED
    found: Span | None = None
    for brief in judgement.visible.briefs:
        for sentence in sentences(brief):
            if text not in sentence.text:
                continue
            match = next((m for m in opposite.finditer(sentence.text) if m[1] == text), None)
            if match is None:
                return None
            found = sentence.span(*match.span())
    return found

"""A criterion that hangs on a word with two readings, such as "appropriate", "recent", "top" or "etc."."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.regex import regex

# A purpose ("to keep it small") or a reference ("the appropriate one") settles what fits.
_FITTING = regex(
    r"(?<!the )(?<!its )(?<!their )\b(?:appropriate|suitable|reasonable)(?:ly)?\b(?!(?: \w+){0,3} (?:for|to)\b)(?! \()",
    re.I,
)
_RECENT = regex(r"(?<!most )(?<!more )\b(?:recent|latest)(?= \w+s\b)", re.I)
_THINGS = "performers|customers|products|users|items|results|entries|sellers|pages|words|errors|causes|scores|files"
_TOP = regex(rf"\btop(?= (?:\w+ )?(?:{_THINGS})\b)", re.I)
_OPEN = regex(r"\betc\b\.?(?!\w)|, and so on\b|, and the like\b", re.I, words=("etc", ", and so on", ", and the like"))
_WORDS = (
    (_FITTING, "fits"),
    (_RECENT, "counts as recent"),
    (_TOP, "counts as top"),
    (_OPEN, "else belongs to the list"),
)
_QUOTED = regex(r"\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’|(?<!\w)'[^'\n]+'(?!\w)|`[^`\n]*`|「[^」]*」")
_SETTLED = regex(
    r"\d|\(|\b(?:exactly|precisely|specified|described|listed|above|below|following|e\.g\.|i\.e\.|for example|such as|"
    r"namely|typically|like|contains?|only|all|any|every)\b",
    re.I,
)
_INSIDE = regex(r"\([^()]*\)")  # examples of what stands before them


@rule(
    "ambiguous-wording",
    "SL210",
    severity=Severity.INFO,
    confidence=Confidence.LOW,
    kind=Kind.CLAIM,
    needs={Role.BRIEF},
    refute="every reading of the word passes the verifier, or another sentence of the brief settles it",
)
def ambiguous_wording(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        for criterion in brief.criteria:
            text = criterion.span.text
            plain = _INSIDE.sub(_blank, _QUOTED.sub(_blank, text))
            for pattern, open_point in _WORDS:
                found = pattern.search(plain)
                if found and not _SETTLED.search(_sentence(text, found.start())):
                    span = criterion.span
                    start = span.start + found.start()
                    word = found[0].strip(", ")
                    yield Finding.at(
                        type(span)(span.source, start, start + len(found[0])),
                        f"`{word}` leaves open what {open_point}, so the reading that is graded is one of several",
                        help="say what decides: a number, a list, a rule",
                    )
                    break


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _sentence(text: str, at: int) -> str:
    """The sentence around a place."""
    ends = [m.end() for m in re.finditer(r"(?<!etc)(?<!e\.g)(?<!i\.e)[.!?。](?:\s|$)|\n\n", text)]
    return text[max([e for e in ends if e <= at], default=0) : min([e for e in ends if e > at], default=len(text))]

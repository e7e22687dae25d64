"""What a brief demands in sentences rather than in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.criteria import Criterion, is_demand, only_reads
from scenlint.task.statements import Sentence, sentences

_LONGEST = 600  # characters; what is longer is no sentence
_ASKS = regex(
    r"\b(?:please|(?:your )?(?:task|job|goal|objective|mission) is|(?:want|like|would like) you to|i want|i need|"
    r"you(?:'re| are) (?:asked|to)|have to|can you|could you|save (?:it|them|the)|"
    r"(?:write|output|print|return|store|put) (?:it|them|the|your|a|an|its))\b|请|要求|不要|保存|写入|输出|创建",
    re.I,
)
_INTRODUCES = regex(r"[:：]\s*$")
_ASIDE = regex(
    r"\W*(?:hints?|notes?|tips?|for example|e\.g\.|if you|you (?:can|may|might)|feel free|no need|"
    r"you (?:do not|don't) (?:need|have)|you(?:'re| are)(?! asked| required| to\b)|提示|例如)",
    re.I,
)


def stated_in_prose(prose: Fragment, listed: Sequence[Criterion]) -> Iterator[Criterion]:
    """The sentences that demand something and lie in no listed criterion, in order."""
    taken = [(c.span.start, c.span.end) for c in listed]
    count = 0
    for sentence in sentences(prose):
        span = sentence.span()
        if any(start < span.end and span.start < end for start, end in taken) or not _demands(sentence):
            continue
        count += 1
        line = " ".join(sentence.text.split())
        yield Criterion(f"s{count}", line, span, "sentence", "", sentence.context, sentence.text)


def _demands(sentence: Sentence) -> bool:
    text = sentence.text.strip()
    if len(text) > _LONGEST or (len(text.split()) < 3 and text.isascii()) or _INTRODUCES.search(text):
        return False
    return not (_ASIDE.match(text) or only_reads(text)) and bool(is_demand(text) or _ASKS.search(text))

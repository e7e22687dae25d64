"""Names and wordings that a brief gives as a form: `<team>_score`, `TEMPLATE_DIR`, `f_{i}_data`, `Station N`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex
from scenlint.task.visible import Visible

_HOLE = regex(r"<[\w \-]+>|\{[\w \-]+\}|\[[\w \-]+\]|\*|\.\.\.+|(?<![A-Za-z])(?:[A-Z]{3,}|[NXYMKij])(?![A-Za-z])")
_SNAKE = regex(r"(?=.*[a-z]{2})[a-z0-9]+(?:[_-][a-z0-9]+)+")
_TOKEN = regex(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|(\S{3,80})")


Form = tuple[re.Pattern[str], frozenset[str]]  # what fills it, and its own words


def fits(text: str, visible: Visible) -> bool:
    """Whether a text fills in a form that the brief gives, with words that the agent can read or numbers."""
    if _numbered(text, visible):
        return True
    parts = [p for p in re.split(r"[\W_]+", text.lower()) if p]
    for form, fixed in _forms(visible):
        if form.fullmatch(text) and all(p in fixed or p.isdigit() or visible.mentions(p, word=True) for p in parts):
            return True
    return False


def _numbered(text: str, visible: Visible) -> bool:
    """Whether the brief gives the same with another number: `part_1` tells `part_4`."""
    if not re.search(r"\d", text) or not re.search(r"[^\W\d]{2}", text):
        return False
    like = re.compile(r"(?<!\w)" + r"\d+".join(re.escape(p) for p in re.split(r"\d+", text)) + r"(?!\w)", re.IGNORECASE)
    return any(like.search(brief.text) for brief in visible.briefs)


def _forms(visible: Visible) -> Iterator[Form]:
    for brief in visible.briefs:
        yield from brief.memo("forms", lambda text=brief.text: list(_read(text.replace("**", ""))))  # type: ignore[misc]


def _read(text: str) -> Iterator[Form]:
    for match in _TOKEN.finditer(text):
        token = next(filter(None, match.groups())).strip(".,;:()`'\"")
        pieces, at = [], 0
        for hole in _HOLE.finditer(token):
            # A word in capitals stands for something if the brief speaks of it elsewhere too, or in a name in small
            # letters: `district_N_risk`.
            inside = hole.group().isupper() and _SNAKE.fullmatch(token[: hole.start()] + "n" + token[hole.end() :])
            if (
                not hole.group().isalpha()
                or inside
                or len(re.findall(rf"\b{hole.group()}\b|_{hole.group()}\b", text)) > 1
            ):
                pieces.append(token[at : hole.start()])
                at = hole.end()
        pieces.append(token[at:])
        if len(pieces) < 2:
            continue
        fixed = frozenset(w for p in pieces for w in re.split(r"[\W_]+", p.lower()) if w)
        if (fixed or len(pieces) > 2) and re.search(r"[\w-]", "".join(pieces)):
            yield re.compile(r"[\w.\- ]*".join(re.escape(p) for p in pieces), re.IGNORECASE), fixed

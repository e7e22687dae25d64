"""Names and wordings that a brief gives as a form: `<team>_score`, `TEMPLATE_DIR`, `f_{i}_data`, `Station N`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.task.visible import Visible

_HOLE = re.compile(r"<[\w \-]+>|\{[\w \-]+\}|\[[\w \-]+\]|\*+|\.\.\.+|(?<![A-Za-z])(?:[A-Z]{2,}|[NXYMKij])(?![A-Za-z])")
_TOKEN = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|(\S{3,80})")


def fits(text: str, visible: Visible) -> bool:
    """Whether a text fills in a form that the brief gives, with words that the agent can read or numbers."""
    parts = [p for p in re.split(r"[\W_]+", text.lower()) if p]
    for form, fixed in _forms(visible):
        if form.fullmatch(text) and all(p in fixed or p.isdigit() or visible.mentions(p, word=True) for p in parts):
            return True
    return False


def _forms(visible: Visible) -> Iterator[tuple[re.Pattern[str], frozenset[str]]]:
    for brief in visible.briefs:
        for match in _TOKEN.finditer(brief.text):
            token = next(filter(None, match.groups())).strip(".,;:()`'\"")
            pieces = _HOLE.split(token)
            fixed = frozenset(w for p in pieces for w in re.split(r"[\W_]+", p.lower()) if w)
            joined = re.search(r"[A-Za-z]", "".join(pieces)) or re.fullmatch(r"[\W_]*", "".join(pieces)) and len(pieces) > 2
            if len(pieces) > 1 and joined:
                yield re.compile(r"[\w.\- ]*".join(re.escape(p) for p in pieces), re.IGNORECASE), fixed

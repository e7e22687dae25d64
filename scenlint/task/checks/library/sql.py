"""What a query asks for beyond the choice of a record."""

from __future__ import annotations

import re

from scenlint.source.pyvalue import HOLE
from scenlint.source.regex import regex
from scenlint.task.checks.comparing import IDENTITY
from scenlint.task.checks.facts import Judged
from scenlint.task.checks.library.base import Call

_CONDITION = regex(r"""["`\[]?(\w+)["`\]]?\s*(?:=|<>|!=|<=|>=|<|>|\bI?LIKE\b|\bIN\b|~\*?)\s*(.{0,40})""", re.IGNORECASE)
_COLUMN = regex(r"[\"`]?\w+[\"`]?\.[\"`]?\w+")


def conditions(call: Call, text: str) -> int:
    """A fact for a query that compares more than what a record is called (`WHERE title = … AND status = 3`)."""
    text = text.replace(HOLE, "*")
    if not re.search(r"\bselect\b", text, re.IGNORECASE):
        return 0
    where = re.split(r"\bwhere\b", text, maxsplit=1, flags=re.IGNORECASE)
    compared = _CONDITION.findall(where[1]) if len(where) > 1 else []
    judges = any(not IDENTITY.fullmatch(column) and not _COLUMN.match(other) for column, other in compared)
    judges |= bool(re.search(r"\b(?:having|case\s+when)\b", text, re.IGNORECASE))
    return call.fact(Judged(call.span)) if judges else 0

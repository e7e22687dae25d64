"""The tables and columns that a verifier's queries want in a database of the agent's making."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scenlint.source.python import parse
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.demands.base import Demand, Ground

_DATABASE = regex(r".*\.(?:db|sqlite3?|duckdb)", re.IGNORECASE)
_QUERY = regex(r"\s*SELECT\s+(?P<columns>.+?)\s+FROM\s+[\"`\[]?(?P<table>[A-Za-z_]\w*)", re.IGNORECASE | re.DOTALL)
_CATALOGUE = regex(r"sqlite_\w+|information_schema|pragma_\w+|pg_\w+", re.IGNORECASE)
_MADE_HERE = regex(r"\bCREATE\s+(?:TEMP\w*\s+)?(?:TABLE|VIEW)\s+(?:IF NOT EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def tables(ground: Ground) -> Iterator[Demand]:
    """Each table and column once, where the verifier opens one database only and the agent makes it."""
    found = {(a.path, v) for check, v in ground.checks() for a in check.accesses if _DATABASE.fullmatch(a.path)}
    verifier = ground.task.verifier
    if verifier is None or len({path for path, _ in found}) != 1:
        return
    path, visible = next(iter(found))
    if visible.exists(path) or (visible.opaque and ground.solution is None):
        return
    own = {t.lower() for f in verifier.code("python") for t in _MADE_HERE.findall(f.text)}
    seen: set[str] = set()
    for name, kind, span in _queried(ground):
        if name.lower() not in seen | own:
            seen.add(name.lower())
            if ground.solution is None or ground.solved(name, word=True):
                yield Demand(name, span, visible, kind)


def _queried(ground: Ground) -> Iterator[tuple[str, str, Span]]:
    verifier = ground.task.verifier
    for fragment in verifier.code("python") if verifier else ():
        module = parse(fragment)
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            query = _QUERY.match(node.value)
            if query is not None and not _CATALOGUE.fullmatch(query["table"]):
                span = module.span(node)
                yield query["table"], "table", span
                for column in query["columns"].split(","):
                    if re.fullmatch(r"\s*[A-Za-z_]\w*\s*", column):
                        yield column.strip(), "column", span

"""Makes the inputs trivial and then works on them as the reference solution does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.task.paths import extension

_LINES = {"csv", "tsv", "txt", "log", "jsonl", "ndjson", "dat", "list", "md", "sql", "hex", "fasta", "vcf"}
_DATABASES = {"db", "sqlite", "sqlite3"}
_HALVE = """
n=$(( ($(wc -l < FILE) + 2) / 2 ))
head -n "$n" FILE > /tmp/half && { cat /tmp/half > FILE; } 2>/dev/null && note "halved "FILE
"""
_EMPTY_TABLES = """
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
for (name,) in tables.fetchall():
    db.execute(f'DELETE FROM "{name}" WHERE rowid % 2')
db.commit()
"""


@probe("changed-inputs", TAMPERED)
def changed_inputs(ground: Ground) -> Iterator[Attack]:
    given = [p for p in ground.inputs if p not in ground.made]
    lines = [p for p in given if extension(p) in _LINES][:20]
    databases = [p for p in given if extension(p) in _DATABASES][:5]
    if ground.deepgym or not ground.made or not lines + databases or ground.step.oracle is None:
        return
    # The first lines stay, so that a header does.
    script = "".join(_HALVE.replace("FILE", shlex.quote(p)) for p in lines)
    script += "".join(
        f"python3 -c {shlex.quote(_EMPTY_TABLES)} {shlex.quote(p)} && note 'thinned {p}'\n" for p in databases
    )
    yield ground.attack(
        script, "dropped half of the inputs and then did the work on what was left", work=True, earns=True
    )

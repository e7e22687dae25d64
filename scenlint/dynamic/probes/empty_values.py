"""Writes well-formed files that hold nothing: `{}`, `[]`, `null`, a table with a header only."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.task.paths import extension

_STRUCTURED = {"json", "jsonl", "ndjson", "geojson", "csv", "tsv", "yaml", "yml", "xml", "html", "toml", "txt", "md"}


@probe("empty-values", EMPTY)
def empty_values(ground: Ground) -> Iterator[Attack]:
    kinds = {extension(p) for p in ground.files} & _STRUCTURED
    if ground.deepgym or not kinds:
        return
    header = ",".join(ground.keys) or "id"
    tables = {
        "csv": f"{header}\n",
        "tsv": header.replace(",", "\t") + "\n",
        "xml": "<root/>\n",
        "html": "<html></html>\n",
    }
    plain = {**tables, "toml": "", "txt": "\n", "md": "\n", "": "\n"}
    for name, text in (("object", "{}\n"), ("list", "[]\n"), ("null", "null\n")):
        values = {**plain, **dict.fromkeys(("json", "jsonl", "ndjson", "geojson", "yaml", "yml"), text)}
        yield ground.attack(ground.fill(values), f"wrote `{text.strip()}` (tables: a header only) to every file", name)
        if not kinds & {"json", "jsonl", "ndjson", "geojson", "yaml", "yml"}:
            return

#!/bin/bash
set -euo pipefail
python3 - <<'PY'
import re
from pathlib import Path

manual = Path("manual.md")
text = manual.read_bytes().decode("utf-8")

NUMBER = r"[0-9]+(?:[.-][0-9]+)?"
REFERENCE = re.compile(rf"(\b(?:chapter|section|figure)s?\s+)({NUMBER}(?:(?:,\s+|\s+and\s+|\s+or\s+){NUMBER})*)", re.I)
HEADING = re.compile(r"^(##+ )([34])(?=[ .])", re.M)
CODE = re.compile(r"(^```$.*?^```$|`[^`\n]+`)", re.M | re.S)
OTHER = {"3": "4", "4": "3"}


def swapped(numbers):
    return re.sub(r"(?<![0-9.-])[34](?![0-9])", lambda m: OTHER[m[0]], numbers)


def prose(part):
    part = HEADING.sub(lambda m: m[1] + OTHER[m[2]], part)
    return REFERENCE.sub(lambda m: m[1] + swapped(m[2]), part)


chapters = re.split(r"^(?=## )", text, flags=re.M)
chapters[3], chapters[4] = chapters[4], chapters[3]
parts = CODE.split("".join(chapters))
parts[::2] = map(prose, parts[::2])
manual.write_bytes("".join(parts).encode("utf-8"))
PY

"""Checks the notes on the board."""

import json
import os
import sys
import urllib.request

URL = f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['NOTES_PORT']}/api/notes"


def notes():
    with urllib.request.urlopen(URL, timeout=15) as reply:
        return json.load(reply)


def note_is_added():
    return [n["tag"] for n in notes() if n["title"] == "Berth 4 is closed until Friday"] == ["closure"]


def note_is_removed():
    return "Berth 2 is closed" not in [n["title"] for n in notes()]


CHECKS = [
    ("Step 1: one note says that berth 4 is closed", 2, note_is_added),
    ("Step 2: the note on berth 2 is gone", 2, note_is_removed),
]


def main():
    earned, total = 0, sum(weight for _, weight, _ in CHECKS)
    for label, weight, holds in CHECKS:
        try:
            ok, detail = holds(), ""
        except Exception as exc:
            ok, detail = False, type(exc).__name__
        earned += weight if ok else 0
        tail = f"  ({detail})" if detail else ""
        print(f"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}{tail}", file=sys.stderr)
    print(f"SCORE: {earned / total:.3f}  PASS: {earned == total}  ({earned}/{total})", file=sys.stderr)


main()

"""`scenlint doctor`: what this machine has of what trials need."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scenlint.harness.health import Part


class Listing(StrEnum):
    TEXT = "text"
    JSON = "json"


def doctor(
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print it.")] = Listing.TEXT,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where trials would be recorded (default: .scenlint).")
    ] = None,
) -> None:
    """Say what trials need and this machine lacks, what that stops, and what to do.

    Exit status: 0 nothing is stopped, 1 some trials cannot be run here.
    """
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.harness.health import examine
    from scenlint.report.style import write

    parts = examine(ledger_folder(ledger))
    if output is Listing.JSON:
        write(json.dumps({"ok": all(p.ok is not False for p in parts), "parts": [asdict(p) for p in parts]}, indent=2))
        write("\n")
    else:
        write(_text(parts))
    raise typer.Exit(1 if any(p.ok is False for p in parts) else 0)


def _text(parts: list[Part]) -> str:
    from scenlint.report.style import Style, visible, wants_color

    style = Style(wants_color(sys.stdout))
    marks = {True: style("ok", "green"), None: style("limited", "yellow"), False: style("missing", "red")}
    plain = {True: "ok", None: "limited", False: "missing"}
    wide = max(len(p.name) for p in parts)
    lines = []
    for part in parts:
        gap = " " * (7 - len(plain[part.ok]))
        lines.append(f"{marks[part.ok]}{gap}  {part.name:<{wide}}  {visible(part.found)}")
        if part.stops:
            lines.append(f"{'':{wide + 11}}{'stops' if part.ok is False else 'without it no'}: {part.stops}")
        if part.advice:
            lines.append(f"{'':{wide + 11}}what to do: {visible(part.advice)}")
    return "\n".join(lines) + "\n"

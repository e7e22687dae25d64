"""`scenlint import`: trials that other harnesses ran, taken into the ledger."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, reported
from scenlint.cli.run import Listing


def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Result files, or folders with some.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is there, and take nothing in.")] = False,
    ledger: Folder = None,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print what was read.")] = Listing.TEXT,
) -> None:
    """Read the trials in result folders of Harbor, Terminal-Bench, SaaS-Bench, Waza, DeepGym and Inspect.

    What had no verdict stays without one. A trial that is in the ledger already is not taken in again.

    Exit status: 0 something was read, 1 a file could not be, 2 usage or internal error, 3 nothing was found.
    """
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.harness.ledger import Ledger
    from scenlint.imports import read
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    missing = [path for path in paths if not path.exists()]
    for path in missing:
        write(f"scenlint: {visible(str(path))}: no such file or folder\n", sys.stderr)
    if missing:
        raise typer.Exit(2)
    found = [read(path) for path in paths]
    every = [r for one in found for r in one.records]
    records = list({r.id: r for r in every}.values())
    problems = [p for one in found for p in one.problems]
    known: set[str] = set()
    with reported():
        folder = ledger_folder(ledger)
        if not dry_run or (folder / "ledger.db").exists():
            book = Ledger(folder)
            try:
                known = {r.id for r in records if book.count(trial=r.id)}
                if not dry_run:
                    book.take_in([r for r in records if r.id not in known])
            finally:
                book.close()
    counts = Counter((r.source.partition(":")[0], r.agent, r.status.value) for r in records)
    if output is Listing.JSON:
        told = [{"source": s, "agent": a, "status": st, "trials": n} for (s, a, st), n in sorted(counts.items())]
        told_problems = [{"path": str(p.path), "text": p.text} for p in problems]
        doubles = {"duplicates": len(known), "repeated": len(every) - len(records)}
        write(json.dumps({"read": told, **doubles, "problems": told_problems}, indent=2) + "\n")
    else:
        for (source, agent, status), n in sorted(counts.items()):
            write(f"{source}: {visible(agent)}: {n} {status}\n")
        new = len(records) - len(known)
        parts = [f"{new} {'new' if dry_run else 'taken in'}", f"{len(known)} there already"]
        if twice := len(every) - len(records):
            parts.append(f"{twice} left out, as {'it is' if twice == 1 else 'they are'} in the files more than once")
        write(f"{count(len(records), 'trial')} read: {', '.join(parts)}\n")
    for problem in problems:
        write(f"scenlint: {visible(str(problem.path))}: {visible(problem.text)}\n", sys.stderr)
    raise typer.Exit(1 if problems else 0 if records else 3)

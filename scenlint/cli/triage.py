"""`scenlint triage`: what a person must decide about calibration trials, and what was decided."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.ledgers import Folder, existing
from scenlint.cli.options import ConfigFile, configured
from scenlint.cli.run import Listing
from scenlint.task.record import Disposed

if TYPE_CHECKING:
    from scenlint.harness.ledger import Ledger


def triage(
    about: Annotated[
        str, typer.Argument(help="A trial's id, or a task's digest (as the list prints them); none: list.")
    ] = "",
    verdict: Annotated[Disposed | None, typer.Option("--as", help="What was decided.")] = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it years later.")] = "",
    role: Annotated[str, typer.Option(help="The role of who decides, such as `maintainer`.")] = "",
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    config: ConfigFile = None,
    ledger: Folder = None,
) -> None:
    """List what a person must decide about trials and tasks, and how; or decide about one, with a reason and a role.

    `misaligned` and `aligned` are about a task's digest: the first voids all of its trials. Decisions are appended; the
    table's own ruling is never lost.

    Exit status: 0 nothing is open (or the decision was recorded), 1 something is, 2 usage or internal error.
    """
    from scenlint.calibration import triage as decisions
    from scenlint.calibration.waiting import waiting as open_
    from scenlint.grading.waiting import waiting as graded
    from scenlint.report.style import visible, write

    with existing(ledger) as book:
        if about or verdict:
            if not about or verdict is None:
                write("scenlint: a decision needs both: what it is about, and --as\n", sys.stderr)
                raise typer.Exit(2)
            try:
                made = decisions.decide(book.folder, _whole(book, about, verdict), verdict, reason, role)
            except ValueError as exc:
                write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
                raise typer.Exit(2) from None
            write(f"{visible(made.about)}: {made.verdict} ({visible(made.role)}: {visible(made.reason)})\n")
            return
        waiting = [*open_(book, lambda path: configured([path], config)), *graded(book)]
        history = decisions.history(book.folder)
    if output is Listing.JSON:
        decided = [
            {"about": d.about, "verdict": d.verdict.value, "reason": d.reason, "role": d.role, "at": d.at}
            for d in history
        ]
        write(json.dumps({"open": [asdict(one) for one in waiting], "decided": decided}, indent=2) + "\n")
    else:
        for one in waiting:
            who = " ".join(filter(None, (one.trial, one.task, one.agent)))
            write(f"{visible(who)}: {visible(one.person)}\n")
            for line in one.evidence.splitlines():
                write(f"    {visible(line)}\n")
            write(f"    decide: `{visible(one.command)}`\n")
        for d in history:
            write(f"{visible(d.about)}: {d.verdict}, {d.at} ({visible(d.role)}: {visible(d.reason)})\n")
        if not waiting:
            write("nothing is open\n")
    raise typer.Exit(1 if waiting else 0)


def _whole(book: Ledger, about: str, verdict: Disposed) -> str:
    """The trial's or digest's full name; ValueError where there is none of it."""
    if verdict in (Disposed.MISALIGNED, Disposed.ALIGNED):
        known = {row.task_digest for row in book.rows(finished=True)}
        found = [
            d
            for d in known
            if d and (d == about or d.removeprefix("sha256:").startswith(about.removeprefix("sha256:")))
        ]
        what = "no recorded task has this digest"
    else:
        found = [row.id for row in book.rows(id=about, finished=True)]
        found = [about] if about in found else found
        what = "no recorded trial is called so"
    if len(found) != 1:
        raise ValueError(f"`{about}`: {what if not found else f'{len(found)} begin with it'}")
    return found[0]

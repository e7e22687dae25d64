"""`scenlint triage`: what a person must decide about calibration trials, and what was decided."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.calibration.triage import Verdict
from scenlint.cli.ledgers import Folder, existing
from scenlint.cli.run import Listing

if TYPE_CHECKING:
    from scenlint.harness.ledger import Ledger


def triage(
    about: Annotated[
        str, typer.Argument(help="A trial's id, or a task's digest (`calibrate` and `admit` print it); none: list.")
    ] = "",
    verdict: Annotated[Verdict | None, typer.Option("--as", help="What was decided.")] = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it years later.")] = "",
    role: Annotated[str, typer.Option(help="The role of who decides, such as `maintainer`.")] = "",
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    ledger: Folder = None,
) -> None:
    """List the trials that a person must look at, with what was decided; or decide about one, with a reason and a role.

    `misaligned` and `aligned` are about a task's digest: the first voids all of its trials. Decisions are appended; the
    table's own ruling is never lost.

    Exit status: 0 nothing is open (or the decision was recorded), 1 something is, 2 usage or internal error.
    """
    from scenlint.calibration import triage as decisions
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
        waiting = _open(book)
        history = decisions.history(book.folder)
    if output is Listing.JSON:
        decided = [
            {"about": d.about, "verdict": d.verdict.value, "reason": d.reason, "role": d.role, "at": d.at}
            for d in history
        ]
        write(json.dumps({"open": waiting, "decided": decided}, indent=2) + "\n")
    else:
        for one in waiting:
            write(f"{visible(one['trial'])} {visible(one['task'])} {visible(one['agent'])}: {visible(one['person'])}\n")
            write(f"    {visible(one['evidence'])}\n")
        for d in history:
            write(f"{visible(d.about)}: {d.verdict}, {d.at} ({visible(d.role)}: {visible(d.reason)})\n")
        if not waiting:
            write("nothing is open\n")
    raise typer.Exit(1 if waiting else 0)


def _whole(book: Ledger, about: str, verdict: Verdict) -> str:
    """The trial's or digest's full name; ValueError where there is none of it."""
    if verdict in (Verdict.MISALIGNED, Verdict.ALIGNED):
        known = {e.record.task_digest for e in book.entries(finished=True)}
        found = [
            d
            for d in known
            if d and (d == about or d.removeprefix("sha256:").startswith(about.removeprefix("sha256:")))
        ]
        what = "no recorded task has this digest"
    else:
        found = [e.id for e in book.entries(id=about, finished=True)]
        found = [about] if about in found else found
        what = "no recorded trial is called so"
    if len(found) != 1:
        raise ValueError(f"`{about}`: {what if not found else f'{len(found)} begin with it'}")
    return found[0]


def _open(book: Ledger) -> list[dict[str, Any]]:
    """Rulings that want a person and have not had one."""
    from scenlint.calibration.run import KIND, rulings_of
    from scenlint.calibration.triage import confirmed

    entries = book.entries(finished=True)
    said = confirmed(book.folder)
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for entry in entries:
        made = entry.record.experiment
        if made and made.kind == KIND:
            groups.setdefault((entry.place, entry.record.agent, entry.record.task_digest), []).append(entry)
    out = []
    for (place, agent, digest), own in groups.items():
        controls = [
            e.record for e in entries
            if e.place == place and e.record.agent in ("oracle", "nop") and e.record.experiment is None
        ]  # fmt: skip
        out += [
            {"trial": r.record.id, "task": r.record.task, "agent": agent, "task_digest": digest, "person": r.person,
             "evidence": r.evidence}
            for r in rulings_of(own, controls, said) if r.person
        ]  # fmt: skip
    return out

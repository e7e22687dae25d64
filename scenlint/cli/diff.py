"""`scenlint diff`: a run against its baseline, and what was decided about every line that changed."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from scenlint.cli.ledgers import Folder, existing
from scenlint.cli.run import Listing
from scenlint.grading.dispositions import Disposition

_RUN = "A run's id or the beginning of it; or a file: an exported audit record, or JSON of `grade`."


def diff(
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help=_RUN)],
    run: Annotated[str, typer.Argument(metavar="RUN", help="The same, of the run that is compared with it.")],
    decide: Annotated[
        tuple[str, Disposition] | None,
        typer.Option(
            metavar="SCENARIO[:LINE] DISPOSITION",
            help="Decide about a changed line, or all of a scenario; patterns such as `*` name several. accepted, "
            "regression, flake, environment or investigating.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it years later.")] = "",
    role: Annotated[str, typer.Option(help="The role of who decides, such as `maintainer`.")] = "",
    record: Annotated[
        bool,
        typer.Option("--record/--no-record", help="Keep the diff in the run's audit record (a run of the ledger)."),
    ] = True,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    ledger: Folder = None,
) -> None:
    """Say what changed from a baseline to a run, scenario by scenario, and what was decided about it.

    A line is changed if noise does not explain it: a pass rate by an exact test under false-discovery control, costs
    and times likewise, a new class of failure, a changed environment. Every changed line needs a disposition with a
    reason and a role. Decisions are appended to the run's audit record; the last one about a line stands.

    Exit status: 0 nothing changed, or everything is decided and none of it is a regression; 1 lines are undecided,
    being investigated, or regressions; 2 usage or internal error.
    """
    from scenlint.calibration.triage import confirmed
    from scenlint.grading import dispositions
    from scenlint.grading.audit import ChainError
    from scenlint.grading.diff import diff as compare
    from scenlint.grading.diff import tell
    from scenlint.grading.diff.sides import SideError, side
    from scenlint.report.style import visible, write

    with ExitStack() as held:
        files = all(Path(name).is_file() for name in (baseline, run))
        book = None if files and ledger is None else held.enter_context(existing(ledger))
        said = confirmed(book.folder) if book else ()
        try:
            before, after = side(baseline, book, said), side(run, book, said)
            if before.summary.run.id == after.summary.run.id:
                raise SideError(f"`{before.summary.run.id}` is compared with itself")
            found, chain = compare(before.summary, after.summary), after.chain
            known = [made for made in after.decisions if made.baseline == before.summary.run.id]
            if chain and (record or decide):
                dispositions.record(chain, tell.diff_json(found))
            if decide:
                if chain is None:
                    raise ValueError("decisions are about runs of the ledger: `scenlint audit import` takes one in")
                lines = dispositions.find(found, decide[0])
                known += dispositions.decide(chain, before.summary.run.id, lines, decide[1], reason, role)
        except (SideError, ChainError, ValueError) as exc:
            write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
            raise typer.Exit(2) from None
    if output is Listing.JSON:
        write(json.dumps(tell.decided_json(found, known), indent=2) + "\n")
    else:
        write(tell.text(found, known, decidable=chain is not None))
    raise typer.Exit(1 if tell.open_lines(found, known) else 0)

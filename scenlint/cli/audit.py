"""`scenlint audit`: the records of runs of `scenlint grade`: are they as written, to and from a file, graded again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.cli.ledgers import Folder, Unsafe, Workers, existing, names, reported
from scenlint.cli.options import ConfigFile, configured
from scenlint.cli.run import Listing

if TYPE_CHECKING:
    from scenlint.grading.audit.bundle import Bundled
    from scenlint.grading.audit.examine import Examined
    from scenlint.grading.audit.regrade import Again, Regraded

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, or the beginning of it.")]
Format = Annotated[Listing, typer.Option("--format", "-f", help="How to print.")]
_SHOWN = 20  # faults of one record


@app.command("verify", short_help="Find any change of what was recorded.")
def verify(
    target: Annotated[
        str, typer.Argument(metavar="[RUN|FILE]", help="A run, or a file: a chain, or one of `audit export`.")
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Show every fault.")] = False,
    output: Format = Listing.TEXT,
    ledger: Folder = None,
) -> None:
    """Find any change of what was recorded: of a line, of lines, of the end, of artefacts, of the ledger's own records.

    Without an argument all runs of the ledger are looked at. A file on its own is checked for itself: only the ledger
    that wrote it can tell that lines are missing at the end of a run that has not ended, or that all was written anew.

    Exit status: 0 all is as it was written, 1 something was changed, 2 there is no such record, or no ledger.
    """
    from scenlint.report.style import write

    with _told():
        found = _examined(target, ledger)
        if output is Listing.JSON:
            write(json.dumps({"records": [_json(one) for one in found]}, indent=2) + "\n")
        else:
            write("".join(f"{line}\n" for one in found for line in _lines(one, full)) or "there is no audit record\n")
    raise typer.Exit(1 if any(one.faults for one in found) else 0)


@app.command("list", short_help="List the runs with an audit record.")
def list_(output: Format = Listing.TEXT, ledger: Folder = None) -> None:
    """List the runs with an audit record, the newest last. It reads them, but does not verify them.

    Exit status: 0, or 2 where there is no ledger.
    """
    from scenlint.grading.audit.chain import Chain, path_of
    from scenlint.grading.runs import runs
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    with existing(ledger) as book:
        told: list[dict[str, Any]] = []
        for run in runs(book.folder):
            chain = Chain(path_of(book.folder, run.id))
            told.append(
                {"run": run.id, "started": run.started, "agent": run.agent, "model": run.model, "suite": run.suite,
                 "scenarios": len(run.scenarios), "trials": book.count(kind="grade", name=run.id, finished=True),
                 "ended": chain.ended}
            )  # fmt: skip
    if output is Listing.JSON:
        write(json.dumps({"runs": told}, indent=2) + "\n")
        return
    for one in told:
        who = one["agent"] + (f" ({one['model']})" if one["model"] else "")
        size = f"{count(one['trials'], 'trial')} of {count(one['scenarios'], 'scenario')}"
        state = "ended" if one["ended"] else "not ended"
        write(f"{visible(one['run'])}  {one['started'][:16].replace('T', ' ')}  {visible(who)}  {size}, {state}\n")
    if not told:
        write("there is no audit record: `scenlint grade` makes them\n")


@app.command("export", short_help="Write a run's record and artefacts to one file.")
def export(
    run: RunId,
    file: Annotated[Path, typer.Argument(help="The zip file to write.")],
    max_file: Annotated[
        int, typer.Option(min=0, metavar="MB", help="Leave larger artefacts out; their hashes stay on record.")
    ] = 64,
    max_size: Annotated[int, typer.Option(min=0, metavar="MB", help="All artefacts together.")] = 4096,
    ledger: Folder = None,
) -> None:
    """Write a run's chain, records and artefacts to one zip file, after verifying them.

    What was printed in trials is in it as it was recorded: look for secrets before you pass it on.

    Exit status: 0 written, 1 the record is not as it was written, 2 there is no such run, or the file is there already.
    """
    from scenlint.grading.audit import bundle
    from scenlint.grading.runs import find

    with _told(), existing(ledger) as book:
        name = find(book.folder, run).id
        done = bundle.export(book, name, file, max_file=max_file * 1024**2, max_all=max_size * 1024**2)
    _bundled(done, "written")


@app.command("import", short_help="Take in a file of `audit export`.")
def import_(
    file: Annotated[Path, typer.Argument(help="A file of `audit export`.")],
    ledger: Folder = None,
) -> None:
    """Verify a file of `audit export`, and enter its run and trials in this ledger. All of it is taken in, or nothing.

    Exit status: 0 taken in, 1 it is not as it was written, 2 it is no such file, or the run is here already.
    """
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.grading.audit import bundle
    from scenlint.harness.ledger import Ledger

    with _told(), reported():
        book = Ledger(ledger_folder(ledger))
        try:
            done = bundle.take_in(book, file)
        finally:
            book.close()
    _bundled(done, "taken in")


@app.command("regrade", short_help="Grade saved work again.")
def regrade(
    run: RunId,
    scenario: Annotated[str, typer.Argument(help="Only this scenario: its path in the manifest, or its task.")] = "",
    suite: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The suite's manifest, if it lies elsewhere now.")
    ] = None,
    jobs: Workers = None,
    config: ConfigFile = None,
    allow_unsafe: Unsafe = None,
    output: Format = Listing.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    ledger: Folder = None,
) -> None:
    """Restore what the agent left in each trial, let the verifier as it stands now grade it, and compare the verdicts.

    Nothing that is recorded is altered: each regrade is a trial of its own, and a line at the end of the run's record.

    Exit status: 0 every verdict is the same, 1 some differ, 2 there is no such run or suite, or an internal error,
    4 some work could not be graded again, 130 interrupted.
    """
    from scenlint.cli.live import watching
    from scenlint.grading.audit import regrade as grading
    from scenlint.grading.runs import find
    from scenlint.harness.executor import Interrupt
    from scenlint.report.style import visible, write

    with _told(), existing(ledger) as book, Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        found = find(book.folder, run)
        settings = configured([suite or book.folder.parent / (found.manifest or ".")], config)
        request = grading.Request(
            found, settings, watcher, scenario, suite, jobs, names(allow_unsafe), interrupt.stop
        )  # fmt: skip
        done = grading.regrade(request, book)
    if output is Listing.JSON:
        write(json.dumps({"run": found.id, "trials": [t.as_json() for t in done.trials]}, indent=2) + "\n")
    else:
        write("".join(f"{visible(line)}\n" for line in _regraded(done)))
    for message in done.crashes:
        write(f"scenlint: {visible(message)}\n", sys.stderr)
    if interrupt.exit_code or done.crashes:
        raise typer.Exit(interrupt.exit_code or 2)
    raise typer.Exit(1 if any(t.differs for t in done.trials) else 0 if done.complete else 4)


# ---------------------------------------------------------------- what is printed


@contextmanager
def _told() -> Iterator[None]:
    """A record that cannot be used ends the command: with 1 where it was changed, else with 2."""
    from scenlint.grading.audit.bundle import BundleError
    from scenlint.grading.audit.chain import ChainError
    from scenlint.grading.model import SuiteError
    from scenlint.grading.runs import RunError
    from scenlint.report.style import visible, write

    try:
        yield
    except (BundleError, ChainError, SuiteError, RunError) as exc:
        for line in str(exc).splitlines():
            write(f"scenlint: {visible(line)}\n", sys.stderr)
        raise typer.Exit(1 if getattr(exc, "changed", False) else 2) from None


def _examined(target: str, ledger: Path | None) -> list[Examined]:
    from scenlint.grading.audit import bundle
    from scenlint.grading.audit.examine import examine, examine_file, recorded
    from scenlint.grading.runs import RunError

    path = Path(target)
    if target and path.is_file():
        return [bundle.examine_bundle(path) if bundle.is_bundle(path) else examine_file(path)]
    with existing(ledger) as book:
        every = recorded(book)
        found = [r for r in every if r == target] or [r for r in every if r.startswith(target)]
        if target and len(found) != 1:
            many = f"{len(found)} runs begin with `{target}`" if found else f"there is no run or file `{target}`"
            raise RunError(f"{many}; `scenlint audit list` lists those there are")
        return [examine(book, run) for run in found]


def _lines(one: Examined, full: bool) -> Iterator[str]:
    from scenlint.report.style import visible
    from scenlint.report.summary import count

    faults = one.faults
    state = count(len(faults), "fault") if faults else "as it was written"
    size = [count(one.lines, "line"), count(one.trials, "trial"), *([count(one.files, "file")] if one.files else [])]
    yield visible(f"{one.run}: {state} ({', '.join(size)})")
    shown = faults if full else faults[:_SHOWN]
    for fault in [*shown, *one.notes]:
        note = "note: " if fault.note else ""
        yield visible(f"  {one.path}{f':{fault.line}' if fault.line else ''}: {note}{fault.what}")
    if len(shown) < len(faults):
        yield f"  and {len(faults) - len(shown)} more (--full shows them)"


def _json(one: Examined) -> dict[str, Any]:
    found = [{"line": f.line or None, "what": f.what, "note": f.note} for f in one.found]
    return {
        "run": one.run, "path": str(one.path), "as_written": not one.faults, "ended": one.ended, "lines": one.lines,
        "trials": one.trials, "files": one.files, "found": found,
    }  # fmt: skip


def _bundled(done: Bundled, verb: str) -> None:
    from scenlint.report.style import visible, write
    from scenlint.report.summary import count

    size = f"{count(done.lines, 'line')}, {count(done.trials, 'trial')}, {count(done.files, 'file')}"
    write(f"{visible(done.run)}: {verb}: {size}\n")
    if done.left_out:
        write(f"{count(len(done.left_out), 'file')} left out: too large, or a link\n")


def _regraded(done: Regraded) -> Iterator[str]:
    from scenlint.report.summary import count

    for one in done.trials:
        if one.why:
            yield f"{one.scenario} {one.trial}: not graded again: {one.why}"
        elif one.after is not None:
            how = f"differs: {_verdict(one)}" if one.differs else f"the same, {_reward(one.after.reward)}"
            yield f"{one.scenario} {one.trial}: {how}" + (f" ({one.after.id})" if one.differs else "")
            if one.differs and one.edited:
                yield f"    {one.edited}"
    again = [t for t in done.trials if t.after is not None]
    differing = sum(t.differs for t in again)
    left = len(done.trials) - len(again)
    told = f"{count(len(again), 'trial')} graded again, {differing} with another verdict"
    yield told + (f"; {left} could not be" if left else "") if done.trials else "the run has no such trial"


def _verdict(one: Again) -> str:
    assert one.after is not None
    checks = f"; other verdicts of {', '.join(one.checks[:3])}" if one.checks else ""
    more = " …" if len(one.checks) > 3 else ""
    why = f" ({one.after.failure_evidence})" if one.after.reward is None and one.after.failure_evidence else ""
    return f"{_reward(one.before.reward)} before, {_reward(one.after.reward)} now{why}{checks}{more}"


def _reward(reward: float | None) -> str:
    return "no verdict" if reward is None else f"{reward:g}"

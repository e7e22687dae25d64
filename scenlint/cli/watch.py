"""`scenlint watch`: signals in outcomes of production, between audits."""

from __future__ import annotations

import json
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.ledgers import Folder, existing
from scenlint.cli.options import ConfigFile
from scenlint.cli.trials import Listing

if TYPE_CHECKING:
    from scenlint.grading.watch.session import Look, Session


def watch(
    stream: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="JSON Lines or OTLP/JSON that is appended to (default: the ledger)."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Take in what is new, and end: for cron.")] = False,
    forget: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Learn this type of task anew, and drop its alerts.")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks when following.")] = 2.0,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the state there (default: a file beside the ledger).")
    ] = None,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print.")] = Listing.TEXT,
    config: ConfigFile = None,
    ledger: Folder = None,
) -> None:
    """Watch outcomes of production, and raise an alert when success falls, costs climb, or tool errors, overrides or
    retries become more frequent: a follower that prints alerts as they come, or with --once one look.

    What is usual is learnt of each type of task, or stated in [watch] of the configuration, which also says where
    alerts are sent. How often an alert is false is part of the output.

    Exit status: 0 no alert is open, 1 at least one is, 2 the stream cannot be read, alerts could not be delivered, or
    usage. A follower ends with Ctrl-C or SIGTERM.
    """
    from scenlint import config as configuration
    from scenlint.dynamic.place import ledger_folder
    from scenlint.grading.watch.session import Session
    from scenlint.grading.watch.settings import WatchSettings
    from scenlint.grading.watch.store import Store, WatchError
    from scenlint.report.style import visible, write

    settings = WatchSettings.of(configuration.load(Path.cwd(), config).watch)
    with ExitStack() as held:
        book = held.enter_context(existing(ledger)) if stream is None else None
        store = Store(state) if state else Store.beside(ledger_folder(ledger), stream)
        try:
            held.enter_context(store.held())
            session = Session(settings, store, stream, book)
            for name in forget or ():
                if not session.watch.forget(name):
                    raise WatchError(f"no type of task is called `{name}`")
            if forget:
                session.save()
            code = _once(session, output) if once else _follow(session, output, interval)
        except WatchError as exc:
            write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
            raise typer.Exit(2) from None
        except OSError as exc:
            write(f"scenlint: {visible(f'{exc.filename}: {exc.strerror}')}\n", sys.stderr)
            raise typer.Exit(2) from None
    raise typer.Exit(code)


def _once(session: Session, output: Listing) -> int:
    from scenlint.grading.watch import tell
    from scenlint.report.style import write

    look = session.look()
    if output is Listing.JSON:
        write(json.dumps(tell.json(session, look), indent=2) + "\n")
    else:
        write(tell.text(session, look))
    _complain(look)
    return 1 if session.watch.raised else 2 if look.fault else 0


def _follow(session: Session, output: Listing, interval: float) -> int:
    from dataclasses import asdict

    from scenlint.grading.watch import tell
    from scenlint.report.style import write

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    first = True
    for look in session.follow(interval, stop):
        if output is Listing.JSON:
            write("".join(json.dumps(asdict(alert)) + "\n" for alert in look.alerts))
        elif first:
            write(tell.text(session, look))
        else:
            write(tell.alert_lines(look.alerts))
        first = False
        _complain(look)
    return 1 if session.watch.raised else 0


def _complain(look: Look) -> None:
    """What went wrong, on standard error."""
    from scenlint.report.style import visible, write

    for note in look.notes:
        write(f"scenlint: {visible(note)}\n", sys.stderr)
    if look.fault:
        kept = f"{look.waiting} alert{'s are' if look.waiting != 1 else ' is'} kept, and sent when it goes again"
        write(f"scenlint: alerts could not be delivered: {visible(look.fault)}; {kept}\n", sys.stderr)

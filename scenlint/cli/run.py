"""`scenlint run`: trials of one agent, recorded and shown, judged by nothing but their reward."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli.ledgers import Cluster, Folder, Unsafe, Workers, names, reported
from scenlint.cli.options import ConfigFile, configured

if TYPE_CHECKING:
    from scenlint.config import Settings
    from scenlint.dynamic.stage import Run
    from scenlint.harness.agents import Agent


class Listing(StrEnum):
    TEXT = "text"
    JSON = "json"


def run(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK…", help="Tasks, or folders of tasks.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent", "-a", help="`oracle`, `nop`, an agent of `[agents]` in the configuration, or `harbor:NAME`."
        ),
    ],
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Trials of each task.")] = 1,
    jobs: Workers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    ledger: Folder = None,
    allow_unsafe: Unsafe = None,
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print the trials.")] = Listing.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run an agent on a task: fresh trials, whatever is recorded already.

    Exit status: 0 every trial passed, 1 one did not, 2 usage, configuration or internal error, 3 no trial could be run,
    130 interrupted.
    """
    from scenlint.cli.live import watching
    from scenlint.dynamic import stage
    from scenlint.harness.executor import Interrupt

    settings = configured(tasks, config)
    who = named(agent, settings)
    with reported(), Interrupt() as interrupt, watching(quiet=quiet) as watcher:
        done = stage.run(
            stage.Request(
                tasks,
                settings,
                watcher,
                agents=(who,),
                trials=trials,
                workers=jobs,
                cluster=cluster,
                ledger=ledger,
                allow_unsafe=names(allow_unsafe),
                resume=False,
                command="run",
                stop=interrupt.stop,
            )
        )
    _print(done, output)
    raise typer.Exit(interrupt.exit_code or _status(done))


def named(name: str, settings: Settings) -> Agent:
    """The agent of that name, for every command with `--agent`."""
    from scenlint.dynamic.agents import agent_named

    return agent_named(name, settings)


def _print(done: Run, output: Listing) -> None:
    from scenlint.cli.trials import shown, trial_json
    from scenlint.report.style import visible, write

    trials = [trial for subject in done.subjects for trial in subject.trials]
    if output is Listing.JSON:
        write(json.dumps({"trials": [trial_json(t.record, t.folder) for t in trials]}, indent=2) + "\n")
    else:
        write("\n".join(shown(t.record, t.folder) for t in trials))
    for subject in done.subjects:
        for reason in filter(None, (subject.obstacle, *subject.refused.values())):
            write(f"scenlint: {visible(subject.task.id)}: not run: {visible(reason)}\n", sys.stderr)
    for message in [*done.messages, *(f"{p}: no such file or folder" for p in done.missing), *done.crashes]:
        write(f"scenlint: {visible(message)}\n", sys.stderr)


def _status(done: Run) -> int:
    from scenlint.task.record import Status

    if done.missing or done.crashes:
        return 2
    trials = [trial.record for subject in done.subjects for trial in subject.trials]
    if not trials:
        return 3
    return 0 if all(record.status is Status.PASSED for record in trials) else 1

"""`validate --state-rule FILE`: shows and keeps the brief in which the deciding rule is written down."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scenlint.calibration.stated_brief import StatedBrief
    from scenlint.config import Settings


def read_rule(file: Path) -> str:
    """The text of the rule; a file that cannot be read ends the command."""
    from scenlint.report.style import visible, write

    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "this is no text"
        write(f"scenlint: {visible(str(file))}: {visible(str(why))}\n", sys.stderr)
        raise typer.Exit(2) from None


def show(paths: list[Path], settings: Settings, file: Path, ledger: Path | None, *, as_json: bool) -> None:
    """Build it for the one task, keep it with the recorded trials, and print what is added and where."""
    from scenlint.calibration import stated_brief
    from scenlint.dynamic.stage import ledger_folder
    from scenlint.lint.discover import Finder, format_named
    from scenlint.report.style import visible, write
    from scenlint.task.plan import NotRunnableError

    rule = read_rule(file)
    refs = Finder(settings).discover(paths).refs
    if len(refs) != 1:
        write(f"scenlint: a rule is stated in one task's brief; here are {len(refs) or 'none'}\n", sys.stderr)
        raise typer.Exit(2)
    form = format_named(refs[0].format)
    try:
        stated = stated_brief.build(form.plan(form.load(refs[0], settings.policy)), rule)
        place = stated_brief.keep(stated, ledger_folder(ledger))
    except (NotRunnableError, stated_brief.NothingStatedError, OSError) as exc:
        write(f"scenlint: {visible(str(exc))}\n", sys.stderr)
        raise typer.Exit(2) from None
    if as_json:
        write(json.dumps({**stated.as_json(), "kept": str(place)}, indent=2) + "\n")
    else:
        write("".join(visible(line) + "\n" for line in _told(stated, file, place)))


def _told(stated: StatedBrief, file: Path, place: Path) -> list[str]:
    out = []
    for name, _, _ in stated.steps:
        out += [*stated.diff(name).splitlines(), ""]
        of = f" of step {name}" if name else ""
        out.append(f"the rule stands after line {stated.where(name)} of the brief{of}, at its end")
    return [
        *out,
        f"digest {stated.digest}, kept in {place}",
        f"`scenlint calibrate TASK --agent NAME --state-rule {file}` runs its trials with exactly this text",
    ]

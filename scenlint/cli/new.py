"""`scenlint new`: a small sound task to begin with, in any format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scenlint.config import Settings
    from scenlint.formats.starter import Starter


def new(
    format: Annotated[str, typer.Argument(help="A task format: harbor, packet, …")],
    name: Annotated[str, typer.Argument(help="What the task is to be called.")],
    folder: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="The folder (of the suite) to make it in.")
    ] = Path(),
) -> None:
    """Make a task that lints clean and whose oracle and verifier validate, ready to be rewritten.

    Exit status: 0 made, 2 usage error, or something of that name is there.
    """
    from scenlint import config as configuration
    from scenlint.formats.starter import BadNameError, Starts, write
    from scenlint.lint.discover import load_formats
    from scenlint.report.style import visible
    from scenlint.report.style import write as say

    formats = {f.name: f for f in load_formats() if isinstance(f, Starts)}
    made = formats.get(format)
    if made is None:
        known = ", ".join(f"`{n}`" for n in formats)
        raise configuration.ConfigError(f"there is no format `{format}` to begin a task in; known are {known}")
    try:
        starter = made.starter(name)
        written = write(starter, folder)
    except BadNameError as exc:
        raise configuration.ConfigError(str(exc)) from None
    except FileExistsError as exc:
        raise configuration.ConfigError(f"{exc.filename or exc} exists; nothing was written") from None
    except OSError as exc:
        raise configuration.ConfigError(f"{exc.filename}: {exc.strerror}; the task may be incomplete") from None
    for path in [*written.files, *_settings(starter, folder, configuration.load(folder))]:
        say(f"wrote {visible(str(folder / path))}\n")
    for path in written.kept:
        say(
            f"kept {visible(str(folder / path))} as it is; the task needs in it:\n\n{starter.shared[path]}\n",
            sys.stderr,
        )
    wide = max(len(str(folder / path)) for path, _ in starter.edit)
    say("\nnow edit\n")
    for path, what in starter.edit:
        say(f"  {visible(str(folder / path)):<{wide}}  {what}\n")
    task = visible(str(folder / starter.task))
    say(f"\nand see whether it holds with\n  scenlint check {task}\n  scenlint validate {task}\n")


def _settings(starter: Starter, folder: Path, settings: Settings) -> list[str]:
    """The configuration file, written where there is none; where there is one, the lines it lacks are printed."""
    from scenlint.config import FILE_NAME
    from scenlint.report.model import relative
    from scenlint.report.style import visible
    from scenlint.report.style import write as say

    if not starter.settings:
        return []
    if settings.file is None:
        (folder / FILE_NAME).write_text(starter.settings.replace("{here}", ""), "utf-8")
        return [FILE_NAME]
    try:
        inside = folder.resolve().relative_to(settings.root.resolve()).as_posix()
    except ValueError:
        inside = folder.resolve().as_posix()
    wanted = starter.settings.replace("{here}", "" if inside == "." else f"{inside}/")
    there = settings.file.read_text("utf-8")
    if any(line.strip() and line not in there for line in wanted.splitlines() if not line.startswith("#")):
        kept = visible(relative(settings.file, Path.cwd()))
        say(f"{kept} is kept as it is; the task needs in it:\n\n{visible_lines(wanted)}\n", sys.stderr)
    return []


def visible_lines(text: str) -> str:
    from scenlint.report.style import visible

    return "\n".join(visible(line) for line in text.splitlines()) + "\n"

"""`scenlint pin`: pins images by the digests that configuration, scenlint.lock or the local engine know."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenlint.cli import fixing
from scenlint.report.style import visible
from scenlint.source.text import Source
from scenlint.task.locks import image_key, read_images, write_images

if TYPE_CHECKING:
    from scenlint.lint.fix import Fixed
    from scenlint.report.model import Report
    from scenlint.task.finding import Finding

RULES = ["unpinned-image", "latest-tag"]


def pin(
    paths: Annotated[list[Path] | None, typer.Argument(help="Tasks, folders of tasks, or files inside tasks.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Use this configuration file.")] = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what would change, write nothing; exit with 1 if anything.")
    ] = False,
    lock_only: Annotated[
        bool, typer.Option("--lock-only", help="Write scenlint.lock, and leave the tasks as they are.")
    ] = False,
    engine: Annotated[
        bool, typer.Option("--engine/--no-engine", help="Ask the local engine for digests that are not configured.")
    ] = True,
) -> None:
    """Pin the images that tasks name by tag, by digests known here; nothing is fetched.

    Digests come from `[images] digests`, from scenlint.lock, and from images on the local engine, whose digests are
    added to scenlint.lock beside the configuration.

    Exit status: 0 everything is pinned, 1 an image's digest is not known (or --diff has something to show), 2 usage,
    configuration or internal error, 3 no tasks.
    """
    from scenlint import config as configuration
    from scenlint.lint import run
    from scenlint.lint.fix import Fixed, plan

    paths = paths or [Path()]
    first = paths[0] if os.path.isdir(paths[0]) else paths[0].parent
    settings = configuration.load(first, config)
    lock = configuration.lock_file(settings.root, configured=settings.file is not None)

    def checked() -> Report:
        return run.check(paths, settings.override(select=RULES))

    report = checked()
    code = fixing.faults(report)
    if code:
        raise typer.Exit(code)
    left = {_named(finding): finding for finding in reversed(report.ordered()) if finding.fix is None}
    found = _of_engine([name for name, finding in left.items() if finding.rule == RULES[0]]) if engine else {}
    settings = replace(settings, policy=replace(settings.policy, digests={**settings.policy.digests, **found}))
    done = _locked(lock, found) if found else Fixed()
    if diff:
        done.take(Fixed() if lock_only else plan(checked().findings, unsafe=False))
        fixing.show(done)
    else:
        if found:
            _write(done, lock)
        pinned = 0 if lock_only else sum(fixing.fix(checked, unsafe=False).fixed.values())
        print(f"{pinned} pinned in the tasks, {len(found)} added to {lock.name}")
    unknown = [name for name in left if image_key(name) not in found]
    for name in reversed(unknown):
        finding = left[name]
        why = "no digest of it is known here: pull it, or give it under `[images] digests`"
        said = why if finding.rule == RULES[0] else "it names no version, so there is nothing to pin: name one"
        at = finding.location
        place = f"{visible(report.path(at.path))}:{at.line}:{at.column}"
        print(f"{place}: not pinned: `{visible(name)}`: {said}", file=sys.stderr)
    raise typer.Exit(1 if unknown or (diff and done.files) else 0)


def _named(finding: Finding) -> str:
    """The reference as the file writes it."""
    return finding.quote.strip("\"'")


def _of_engine(names: Sequence[str]) -> dict[str, str]:
    """The digests of images that the local engine has got from the registries that their names say."""
    if not names:
        return {}
    import docker.errors

    from scenlint.harness.engine import EngineError, connect, faults

    out: dict[str, str] = {}
    try:
        api = connect().api
        for name in names:
            with faults(f"looking for the image `{name}`"), suppress(docker.errors.ImageNotFound):
                for known in api.inspect_image(name).get("RepoDigests") or ():
                    repository, _, digest = known.partition("@")
                    if image_key(repository) == image_key(image_key(name).rpartition(":")[0]):
                        out[image_key(name)] = digest
    except EngineError as exc:
        print(f"scenlint: the local engine was not asked: {exc}", file=sys.stderr)
    return out


def _locked(lock: Path, found: Mapping[str, str]) -> Fixed:
    """scenlint.lock with further digests, as a change that can be shown."""
    from scenlint.lint.fix import Fixed, Rewritten

    before = Source(lock, lock.read_bytes() if lock.is_file() else b"")
    digests = {**(read_images(lock) if lock.is_file() else {}), **found}
    return Fixed({lock: Rewritten(before, before.replaced_by(write_images(digests)))})


def _write(done: Fixed, lock: Path) -> None:
    from scenlint.config import ConfigError
    from scenlint.source import writing

    file = done.files[lock]
    try:
        if lock.is_file():
            writing.write(lock, file.after, file.before.digest)
        else:
            writing.replace(lock, file.after.data)
    except writing.RefusedError as exc:
        raise ConfigError(str(exc)) from None

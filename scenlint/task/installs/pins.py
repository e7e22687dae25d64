"""Python packages at the versions that the configured lock files give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scenlint.source.text import Edit, Span
from scenlint.task.fix import Fix
from scenlint.task.installs.model import Install, Origin
from scenlint.task.locks import pinned_requirement
from scenlint.task.model import Task

_MANAGERS = ("pip", "uv", "pipx", "poetry", "pdm", "pipenv", "rye", "hatch")


def pin_packages(task: Task, installs: Iterable[Install]) -> Fix | None:
    """The fix that writes the locked versions of those packages that have one; in the first one's file."""
    if not task.policy.packages:
        return None
    found = [(install.package, edit) for install in installs for edit in _edits(task, install)]
    here = [(name, edit) for name, edit in found if edit.span.source is found[0][1].span.source]
    names = ", ".join(f"`{name}`" for name, _ in here[:4]) + (" …" if here[4:] else "")
    return Fix.of(f"pin {names} as the lock file does", *(edit for _, edit in here)) if here else None


def _edits(task: Task, install: Install) -> Iterator[Edit]:
    """The one edit of a requirement that stands in the file as it was read."""
    if install.origin is not Origin.INDEX or not install.manager.startswith(_MANAGERS):
        return
    places = list(re.finditer(rf"(?<![\w.-]){re.escape(install.package)}(?![\w.\[=<>~!@-])", install.span.text))
    wanted, at, newest = install.package.partition("@latest")
    pinned = pinned_requirement(wanted.strip() if at and not newest else install.package, task.policy.packages)
    if pinned is None or len(places) != 1:
        return
    if install.manager in ("uvx", "uv run") and (at or _is_tool(install.span)):
        pinned = pinned.replace("==", "@")
    start = install.span.start
    yield Edit(Span(install.span.source, start + places[0].start(), start + places[0].end()), pinned)


def _is_tool(span: Span) -> bool:
    """Whether a word is the command that `uvx` runs, whose version follows an `@`, and no value of an option."""
    before = span.source.text[max(0, span.start - 40) : span.start]
    return re.search(r"(?:--with|-w|--from)[ =]+[\"']?$", before) is None and "--" not in span.text

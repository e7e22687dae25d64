"""The mapping report: criteria of the brief beside the checks that cover each; one module per output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.report.model import relative
from scenlint.report.style import Style
from scenlint.source.secrets import redact
from scenlint.source.text import Span
from scenlint.task.model import Role

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.mapping.table import Pair, Table, Tie

FORMATS = {name: f"scenlint.report.mapping.{name}" for name in ("text", "json", "html")}


@dataclass
class MappingReport:
    """The tables of some tasks, and what is to be said of paths that led to none."""

    version: str
    root: Path  # what paths are printed relative to
    tables: list[Table] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def path(self, path: Path) -> str:
        return redact(relative(path, self.root))

    def place(self, span: Span, table: Table) -> str:
        """A place within a task, whose folder is said once; `file:line:column`."""
        path, folder = span.source.path, table.task.folder
        shown = redact(path.relative_to(folder).as_posix()) if path.is_relative_to(folder) else self.path(path)
        return f"{shown}:{span.line}:{span.column}"


def render(report: MappingReport, format: str, style: Style) -> str:
    """The report in one of FORMATS, ending in a line end."""
    printer: Callable[[MappingReport, Style], str] = import_module(FORMATS[format]).render
    return printer(report, style)


def absent(table: Table) -> Iterator[str]:
    """Why a side of the table is empty."""
    for role in (Role.BRIEF, Role.VERIFIER):
        if reason := table.task.lacks(role):
            yield reason
    if not table.task.lacks(Role.BRIEF) and not table.criteria:
        yield "the brief states no criterion that could be read"
    if not table.task.lacks(Role.VERIFIER) and not table.checks:
        yield "no check of the verifier could be read"


def counts(table: Table) -> str:
    """`5 criteria (1 without a check), 6 checks (2 without a criterion)`."""
    return ", ".join(
        f"{len(things)} {one if len(things) == 1 else many}" + (f" ({len(lost)} without a {other})" if lost else "")
        for things, lost, one, many, other in (
            (table.criteria, table.uncovered, "criterion", "criteria", "check"),
            (table.checks, table.unclaimed, "check", "checks", "criterion"),
        )
    )


def how(pair: Pair) -> str:
    """In two words how sure a pair is."""
    if pair.marked:
        return "named outright"
    return "words only" if pair.weak else "by what they share"


def shared(tie: Tie) -> str:
    """What ties the two, quoted as the kind of evidence wants it."""
    if tie.by == "words":
        return ", ".join(tie.shared[:6]) + (" …" if len(tie.shared) > 6 else "")
    return ", ".join(f"`{term}`" for term in tie.shared[:4]) + (" …" if len(tie.shared) > 4 else "")


def label(check: Check) -> str:
    """What a check says of itself beyond its name."""
    said = " ".join(check.label.split())
    return "" if said in (" ".join(check.id.split()), check.id.rpartition("::")[2]) else said


def clipped(text: str, width: int) -> str:
    """The text on one line of at most that many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
